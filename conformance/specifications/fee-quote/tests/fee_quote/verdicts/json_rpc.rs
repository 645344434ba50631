//! What JSON-RPC and published clients recommend: these rules warn.

use super::*;

#[test]
fn reserved_codes_and_notifications_warn() {
    let error = |code: i32, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":""}}}}"#)
    };
    assert_eq!(broken("{", &error(-32600, "null")), ["json-rpc.parse-error"]);
    assert_eq!(broken("{", &error(-32700, "1")), ["json-rpc.null-id"]);
    assert_eq!(broken("7", &error(-32700, "null")), ["json-rpc.invalid-request"]);
    assert_eq!(broken("[]", "[]"), ["json-rpc.empty-batch"]);
    let unknown = sponsor("1").replace("pm_sponsorUserOperation", "pm_none");
    assert_eq!(broken(&unknown, &error(-32600, "1")), ["json-rpc.method-not-found"]);
    let malformed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":{}");
    assert_eq!(broken(&malformed, &error(-32603, "1")), ["json-rpc.invalid-params"]);
    assert!(broken(&malformed, &error(-32700, "1")).contains(&"json-rpc.reserved-codes"));
    let notification = sponsor("1").replace("\"id\":1,", "");
    assert_eq!(broken(&notification, &result(SPONSORED)), ["json-rpc.notification"]);
    assert_eq!(broken(&notification, ""), [""; 0]);
    let batch = format!("[{},{}]", sponsor("1"), sponsor("2"));
    let second = result(SPONSORED).replace("\"id\":1", "\"id\":2");
    assert_eq!(broken(&batch, &format!("[{second},{}]", result(SPONSORED))), [""; 0]);
    let as_decimal = second.replace("\"id\":2", "\"id\":2.0");
    assert_eq!(broken(&batch, &format!("[{as_decimal},{}]", result(SPONSORED))), [""; 0]);
    assert_eq!(broken(&batch, &format!("[{second}]")), ["json-rpc.batch"]);
    assert_eq!(broken(&batch, &result(SPONSORED)), ["json-rpc.batch"]);
    assert_eq!(broken(&batch, &error(-32600, "null")), ["json-rpc.batch"]);
    // JSON-RPC does not limit the size of a batch.
    let large: Vec<String> = (0..12).map(|id| sponsor(&id.to_string())).collect();
    let large = format!("[{}]", large.join(","));
    assert_eq!(broken(&large, &error(-32600, "null")), [""; 0]);
    assert_eq!(broken(&large, "[]"), ["json-rpc.batch"]);
}

/// Codes are compared by value, sign included, and only in error answers.
#[test]
fn a_reserved_code_is_that_code_alone() {
    let error = |code: &str, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":""}}}}"#)
    };
    let unknown = sponsor("1").replace("pm_sponsorUserOperation", "pm_none");
    assert_eq!(broken(&unknown, &error("-32601", "1")), [""; 0]);
    assert_eq!(broken(&unknown, &error("-3.2601e4", "1")), [""; 0]);
    assert_eq!(broken(&unknown, &error("32601", "1")), ["json-rpc.method-not-found"]);
    assert_eq!(broken("7", &error("-32600", "null")), [""; 0]);
    assert_eq!(broken("7", &error("-32602", "null")), ["json-rpc.invalid-request"]);
    // When only the params are of the wrong kind, both codes are right.
    for params in ["1", "null", "\"text\"", "true"] {
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":{params}}}"#);
        for (code, expected) in [
            ("-32600", &[][..]),
            ("-32602", &[]),
            ("-32603", &["json-rpc.invalid-request"]),
            ("-32601", &["json-rpc.invalid-request"]),
        ] {
            assert_eq!(broken(&request, &error(code, "1")), expected, "{params} {code}");
        }
    }
    assert_eq!(broken("7", &error("32600", "null")), ["json-rpc.invalid-request"]);
    let plain = |status, body: &str| Response { status, ..response(body) };
    assert_eq!(broken_by("{", Ok(plain(400, "no"))), ["json-rpc.parse-error"]);
    assert_eq!(broken_by("{", Ok(plain(200, "no"))), ["json-rpc.parse-error"], "a text is no error");
    assert_eq!(broken_by("{", Ok(plain(429, "no"))), [""; 0]);
}

#[test]
fn published_clients_need_both_mode_members_and_no_result_with_an_error() {
    let quoted = request(
        "1",
        "pm_getFeeQuoteOrData",
        r#"{"mode":"SPONSORED","calculateGasLimits":true,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}"#,
    );
    let with = |mode: &str| result(&SPONSORED.replace("\"mode\":\"SPONSORED\",", mode));
    assert_eq!(broken(&quoted, &with("\"mode\":\"SPONSORED\",")), [""; 0]);
    assert_eq!(broken(&quoted, &with("")), ["interoperability.mode-member"]);
    assert_eq!(broken(&quoted, &with("\"mode\":\"ERC20\",")), ["interoperability.mode-member"]);
    assert_eq!(broken(&sponsor("1"), &with("")), [""; 0], "clients read it in quotes");
    let null = ERROR.replace("\"error\"", "\"result\":null,\"error\"");
    assert!(broken(&sponsor_in(NONE), &null).contains(&"interoperability.no-result-beside-error"));
    assert_eq!(broken(&sponsor_in(NONE), ERROR), [""; 0]);
}

#[test]
fn json_has_several_content_types() {
    let typed = |content_type: &str| {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        broken_by(&sponsor("1"), Ok(Response { headers, ..response(&result(SPONSORED)) }))
    };
    for json in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/problem+json",
        "application/json-rpc",
    ] {
        assert_eq!(typed(json), [""; 0], "{json}");
    }
    for other in ["text/plain", "text/x+json", "application/xml", "application/jsonx"] {
        assert_eq!(typed(other), ["http.content-type"], "{other}");
    }
}

#[test]
fn a_batch_gets_an_answer_for_each_id_and_none_for_the_rest() {
    let silent = sponsor("1").replace("\"id\":1,", "");
    let unreadable = "7";
    let invalid = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
    let answer = |id: &str| result(SPONSORED).replace("\"id\":1", &format!("\"id\":{id}"));
    let list = |items: &[String]| format!("[{}]", items.join(","));
    let two = list(&[sponsor("1"), sponsor("\"b\"")]);
    let (first, second) = (answer("1"), answer("\"b\""));
    for (requested, answered, expected) in [
        (&two, list(&[first.clone(), second.clone()]), &[][..]),
        (&two, list(std::slice::from_ref(&first)), &["json-rpc.batch"]),
        (&two, list(&[first.clone(), first.clone()]), &["json-rpc.batch"]),
        (&two, list(&[first.clone(), second.clone(), answer("3")]), &["json-rpc.batch"]),
        (&two, list(&[first.clone(), answer("3")]), &["json-rpc.batch"]),
        (&two, "{}".to_owned(), &["json-rpc.batch"]),
        // One of two wants no answer.
        (&list(&[sponsor("1"), silent.clone()]), list(std::slice::from_ref(&first)), &[]),
        (
            &list(&[sponsor("1"), silent.clone()]),
            list(&[first.clone(), answer("null")]),
            &["json-rpc.notification"],
        ),
        (&list(&[sponsor("1"), silent.clone()]), "[]".to_owned(), &["json-rpc.batch"]),
        // None of them does.
        (&list(&[silent.clone(), silent.clone()]), String::new(), &[]),
        (
            &list(&[silent.clone(), silent.clone()]),
            list(std::slice::from_ref(&first)),
            &["json-rpc.batch", "json-rpc.notification"],
        ),
        // An element that is no request gets an error with the id null.
        (&list(&[sponsor("1"), unreadable.to_owned()]), list(&[first.clone(), invalid.to_owned()]), &[]),
        (&list(&[sponsor("1"), unreadable.to_owned()]), list(&[invalid.to_owned(), first.clone()]), &[]),
        (
            &list(&[sponsor("1"), unreadable.to_owned()]),
            list(std::slice::from_ref(&first)),
            &["json-rpc.batch"],
        ),
        (&list(&[sponsor("1"), unreadable.to_owned()]), invalid.to_owned(), &["json-rpc.batch"]),
        // A server may take the id null for none: the number of answers is not known.
        (&list(&[sponsor("1"), sponsor("null")]), list(std::slice::from_ref(&first)), &[]),
    ] {
        assert_eq!(broken(requested, &answered), expected, "{requested} {answered}");
    }
    let away = Response { status: 429, ..response("") };
    assert_eq!(broken_by(&two, Ok(away)), [""; 0]);
}

#[test]
fn refused_parameters_need_the_code_of_invalid_params() {
    let error = |code: i32| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":""}}}}"#);
    let modeless = sponsor("1").replace("\"mode\":\"SPONSORED\",", "");
    let no_nonce = sponsor_in(NONE).replace("\"nonce\":\"7\",", "");
    let no_token = no_nonce.replace(NONE, "USDC");
    for (request, code, expected) in [
        (&modeless, -32602, &[][..]),
        (&modeless, 32602, &["json-rpc.invalid-params"]),
        (&modeless, -32000, &["json-rpc.invalid-params"]),
        (&no_nonce, -32602, &[]),
        (&no_nonce, -32000, &["json-rpc.invalid-params"]),
        // A token that is none may have an error of its own.
        (&no_token, -32000, &[]),
    ] {
        assert_eq!(broken(request, &error(code)), expected, "{request} {code}");
    }
}

#[test]
fn the_answer_to_an_unknown_method_has_the_version() {
    let unknown = sponsor("1").replace("pm_sponsorUserOperation", "pm_none");
    let answer = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
    assert_eq!(broken(&unknown, answer), [""; 0]);
    for wrong in ["\"1.0\"", "2.0", "null"] {
        let answer = answer.replace("\"2.0\"", wrong);
        assert_eq!(broken(&unknown, &answer), ["answer.jsonrpc"], "{wrong}");
    }
}
