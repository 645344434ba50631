//! The form of answers and of errors (sections 1, 2.10 and 7).

use super::*;

#[test]
fn the_form_of_an_answer_is_judged_on_its_bytes() {
    let good = result(SPONSORED);
    let seen = |body: &str| broken(&sponsor("1"), body);
    assert_eq!(seen(""), ["answer.json-text"]);
    assert_eq!(seen(&format!("\u{feff}{good}")), ["answer.json-text"]);
    assert_eq!(seen(&format!("{good}{good}")), ["answer.json-text"]);
    assert_eq!(seen(&good.replace("50000", "NaN")), ["answer.json-text"]);
    assert_eq!(seen(&good[..good.len() - 1]), ["answer.json-text"]);
    assert_eq!(seen(&format!("[{good}]")), ["answer.object"]);
    assert_eq!(seen(&good.replace("\"id\":1", "\"id\":2,\"id\":1")), ["answer.single-valued-members"]);
    assert_eq!(seen(&good.replace("\"id\":1", "\"id\":1,\"id\":1")), ["json-rpc.unique-members"]);
    assert_eq!(seen(&good.replace("\"result\"", "\"error\":null,\"result\"")), ["answer.result-or-error"]);
    assert_eq!(seen(r#"{"jsonrpc":"2.0","id":1}"#), ["answer.result-or-error"]);
    assert_eq!(seen(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#), ["answer.result-object"]);
    assert_eq!(seen(&good.replace("\"2.0\"", "2.0")), ["answer.jsonrpc"]);
    assert_eq!(seen(&good.replace("\"2.0\"", "\"2.0.0\"")), ["answer.jsonrpc"]);
    let broken_off = Err(Failure::Broken("the body ended early".to_owned()));
    assert_eq!(broken_by(&sponsor("1"), broken_off), ["answer.http-message"]);
    let not_found = Response { status: 404, ..response("not found") };
    assert_eq!(broken_by(&sponsor("1"), Ok(not_found)), ["endpoint.both-methods"]);
    let plain = Response { headers: Vec::new(), ..response(&good) };
    assert_eq!(broken_by(&sponsor("1"), Ok(plain)), ["http.content-type"]);
    assert_eq!(
        broken_by(&sponsor("1"), Ok(Response { status: 500, ..response(&good) })),
        ["http.status-of-result"]
    );
}

#[test]
fn an_id_is_echoed_in_kind_and_exact_value() {
    let answered = |sent: &str, answered: &str| {
        broken(&sponsor(sent), &result(SPONSORED).replace("\"id\":1", &format!("\"id\":{answered}")))
    };
    for (sent, echo) in [
        ("1", "1.0"),
        ("1e2", "100"),
        ("\"\"", "\"\""),
        ("0", "0"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740991", "9007199254740991"),
        ("\"\\u0041\"", "\"A\""),
    ] {
        assert_eq!(answered(sent, echo), [""; 0], "{sent} as {echo}");
    }
    for (sent, echo) in [
        ("1", "\"1\""),
        ("\"1\"", "1"),
        ("0", "null"),
        ("\"\"", "null"),
        ("9007199254740991", "9007199254740990"),
        ("\"Id\"", "\"id\""),
        ("-1", "1"),
        ("1.5", "null"),
    ] {
        assert_eq!(answered(sent, echo), ["answer.id"], "{sent} as {echo}");
    }
    // JSON parsers round integers above 2^53: a warning.
    assert_eq!(answered("9007199254740993", "9007199254740992"), ["json-rpc.large-ids"]);
    let without = result(SPONSORED).replace("\"id\":1,", "");
    assert_eq!(broken(&sponsor("1"), &without), ["answer.id"]);
    // A target may refuse a fractional id.
    let null = ERROR.replace("\"id\":1", "\"id\":null");
    assert!(!broken(&sponsor("1.5"), &null).contains(&"answer.id"));
    assert!(broken(&sponsor("1"), &null).contains(&"answer.id"));
}

#[test]
fn the_form_of_an_error_is_judged() {
    let seen =
        |error: &str| broken(&sponsor_in(NONE), &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    assert_eq!(seen("\"no\""), ["error.object"]);
    assert_eq!(seen(r#"{"code":"-32001","message":"no"}"#), ["error.code"]);
    assert_eq!(seen(r#"{"code":1.5,"message":"no"}"#), ["error.code"]);
    assert_eq!(seen(r#"{"code":-32001}"#), ["error.message"]);
    assert_eq!(seen(r#"{"code":-32001.0,"message":"","data":null}"#), [""; 0]);
}

#[test]
fn only_a_request_that_needs_an_answer_needs_a_whole_http_message() {
    let cut = || Err(Failure::Cut("after 7 bytes".to_owned()));
    let no_token = sponsor_in(USDC).replace(&format!("\"feeTokenAddress\":\"{USDC}\""), "");
    for request in [sponsor("1"), no_token] {
        assert_eq!(broken_by(&request, cut()), ["answer.http-message"], "{request}");
    }
    let malformed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":{}");
    assert_eq!(broken_by(&malformed, cut()), [""; 0]);
}

#[test]
fn json_nested_beyond_our_limit_breaks_nothing() {
    let deep = |depth: usize| result(&format!("{{\"extra\":{}{}}}", "[".repeat(depth), "]".repeat(depth)));
    assert_eq!(broken(&sponsor("1"), &deep(1_000)), [""; 0]);
    // Cut short, it is no JSON whatever its depth.
    assert_eq!(broken(&sponsor("1"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[[["), ["answer.json-text"]);
}

#[test]
fn a_target_may_answer_in_its_own_version() {
    let mut context = context();
    context.dialect.jsonrpc_version = "2.0.0".to_owned();
    let answered = |version: &str| {
        let answer = result(SPONSORED).replace("\"jsonrpc\":\"2.0\"", &format!("\"jsonrpc\":\"{version}\""));
        broken_in(&context, &sponsor("1"), Ok(response(&answer)))
    };
    assert_eq!(answered("2.0"), [""; 0]);
    assert_eq!(answered("2.0.0"), [""; 0]);
    assert_eq!(answered("1.0"), ["answer.jsonrpc"]);
}
