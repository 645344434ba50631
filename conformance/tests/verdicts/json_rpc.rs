//! What JSON-RPC and published clients recommend: these rules warn.

use paymaster_conformance::exchange::Response;

use super::{ERROR, NONE, SPONSORED, broken, broken_by, request, response, result, sponsor, sponsor_in};

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
    assert_eq!(
        broken(&unknown, &error(-32600, "1")),
        ["json-rpc.method-not-found"]
    );
    let malformed = sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":{}");
    assert_eq!(
        broken(&malformed, &error(-32603, "1")),
        ["json-rpc.invalid-params"]
    );
    assert!(broken(&malformed, &error(-32700, "1")).contains(&"json-rpc.reserved-codes"));
    let notification = sponsor("1").replace("\"id\":1,", "");
    assert_eq!(
        broken(&notification, &result(SPONSORED)),
        ["json-rpc.notification"]
    );
    assert_eq!(broken(&notification, ""), [""; 0]);
    let batch = format!("[{},{}]", sponsor("1"), sponsor("2"));
    let second = result(SPONSORED).replace("\"id\":1", "\"id\":2");
    assert_eq!(
        broken(&batch, &format!("[{second},{}]", result(SPONSORED))),
        [""; 0]
    );
    assert_eq!(broken(&batch, &format!("[{second}]")), ["json-rpc.batch"]);
    assert_eq!(broken(&batch, &result(SPONSORED)), ["json-rpc.batch"]);
}

/// The codes are told apart by value, sign included, and only where an error is attempted.
#[test]
fn a_reserved_code_is_that_code_alone() {
    let error = |code: &str, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":""}}}}"#)
    };
    let unknown = sponsor("1").replace("pm_sponsorUserOperation", "pm_none");
    assert_eq!(broken(&unknown, &error("-32601", "1")), [""; 0]);
    assert_eq!(broken(&unknown, &error("-3.2601e4", "1")), [""; 0]);
    assert_eq!(
        broken(&unknown, &error("32601", "1")),
        ["json-rpc.method-not-found"]
    );
    assert_eq!(broken("7", &error("-32600", "null")), [""; 0]);
    assert_eq!(broken("7", &error("32600", "null")), ["json-rpc.invalid-request"]);
    let plain = |status, body: &str| Response {
        status,
        ..response(body)
    };
    assert_eq!(broken_by("{", Ok(plain(400, "no"))), ["json-rpc.parse-error"]);
    assert_eq!(
        broken_by("{", Ok(plain(200, "no"))),
        [""; 0],
        "its form is for other rules"
    );
    assert_eq!(broken_by("{", Ok(plain(429, "no"))), [""; 0]);
}

#[test]
fn published_clients_want_mode_beside_mode_and_no_result_beside_an_error() {
    let quoted = request(
        "1",
        "pm_getFeeQuoteOrData",
        r#"{"mode":"SPONSORED","calculateGasLimits":true,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}"#,
    );
    let with = |mode: &str| result(&SPONSORED.replace("\"mode\":\"SPONSORED\",", mode));
    assert_eq!(broken(&quoted, &with("\"mode\":\"SPONSORED\",")), [""; 0]);
    assert_eq!(broken(&quoted, &with("")), ["interoperability.mode-member"]);
    assert_eq!(
        broken(&quoted, &with("\"mode\":\"ERC20\",")),
        ["interoperability.mode-member"]
    );
    assert_eq!(
        broken(&sponsor("1"), &with("")),
        [""; 0],
        "clients read it in quotes"
    );
    let null = ERROR.replace("\"error\"", "\"result\":null,\"error\"");
    assert!(broken(&sponsor_in(NONE), &null).contains(&"interoperability.no-result-beside-error"));
    assert_eq!(broken(&sponsor_in(NONE), ERROR), [""; 0]);
}

#[test]
fn json_has_several_content_types() {
    let typed = |content_type: &str| {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        broken_by(
            &sponsor("1"),
            Ok(Response {
                headers,
                ..response(&result(SPONSORED))
            }),
        )
    };
    for json in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/problem+json",
        "application/json-rpc",
    ] {
        assert_eq!(typed(json), [""; 0], "{json}");
    }
    for other in [
        "text/plain",
        "text/x+json",
        "application/xml",
        "application/jsonx",
    ] {
        assert_eq!(typed(other), ["http.content-type"], "{other}");
    }
}
