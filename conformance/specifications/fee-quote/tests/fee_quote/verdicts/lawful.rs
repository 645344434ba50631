//! What no rule may call a fault.

use super::*;

#[test]
fn lawful_answers_break_nothing() {
    fine(&sponsor("1"), &result(SPONSORED));
    fine(&sponsor_in(USDC), &result(TOKEN_SPONSORED).replace("\"MODE\"", "\"extra\":[],\"MODE\""));
    fine(&sponsor_in(NONE), ERROR);
    fine(&refused("1"), &result(&SPONSORED.replace("0xabcdef", "0x")));
    let both = [fee_quote(DAI, "DAI", 18), fee_quote(&USDC.to_uppercase().replace("0X", "0x"), "USDC", 6)];
    fine(&quote(USDC, &[USDC, DAI, USDC]), &result(&quotes(&both, Some(&[]))));
    fine(&quote(USDC, &[USDC, DAI]), &result(&quotes(&both, None)));
    fine(&quote(USDC, &[NONE]), &result(&quotes(&both[1..], Some(&[NONE]))));
    fine(&quote(NONE, &[NONE]), &result(&quotes(&[], Some(&[NONE]))));
    fine("{", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#);
    let error_400 = Response { status: 400, ..response(ERROR) };
    assert_eq!(broken_by(&sponsor_in(NONE), Ok(error_400)), [""; 0]);
}

#[test]
fn limiters_and_gateways_are_not_the_service() {
    for status in [429, 503, 502, 504, 401, 403, 413, 414, 431, 522] {
        for body in [
            "<html>busy</html>",
            "busy",
            "",
            r#"{"message":"Forbidden"}"#,
            r#"{"error":"Forbidden","statusCode":403}"#,
            r#"[{"error":{"code":1}}]"#,
        ] {
            let busy = Response { status, headers: Vec::new(), body: body.into() };
            assert_eq!(broken_by(&sponsor("1"), Ok(busy)), [""; 0], "{status} {body}");
        }
        // The service itself answers.
        let refused = Response { status, ..response(ERROR) };
        assert!(!broken_by(&sponsor("1"), Ok(refused)).is_empty(), "{status}");
    }
    assert_eq!(broken_by(&sponsor("1"), Err(Failure::Connect("refused".to_owned()))), [""; 0]);
}

#[test]
fn the_status_of_a_gateway_is_reported() {
    let by_another = |request: &str, status: u16| {
        let exchange = exchanged(request.to_owned(), status, "<html>");
        View::new(Role::Call, "", &exchange, &context()).gateway_status()
    };
    let call_data = |bytes: usize| sponsor("1").replace("0xb61d27f6", &format!("0x{}", "ab".repeat(bytes)));
    for status in [401, 403, 413, 414, 431, 502, 503, 504, 522, 307] {
        assert_eq!(by_another(&sponsor("1"), status), Some(status));
        assert_eq!(by_another(&call_data(4096), status), Some(status));
        // More than wallets send.
        assert_eq!(by_another(&call_data(4097), status), None, "{status}");
    }
    let tokens: Vec<String> = (0..11).map(|place| format!("0x{place:040x}")).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    assert_eq!(by_another(&quote(USDC, &tokens[..10]), 413), Some(413));
    assert_eq!(by_another(&quote(USDC, &tokens), 413), None);
    assert_eq!(by_another(&quote(USDC, &[DAI; 2]), 413), None, "a repeated token");
    // Failures of the service itself, and requests that need no answer.
    for status in [500, 400, 200] {
        assert_eq!(by_another(&sponsor("1"), status), None, "{status}");
    }
    assert_eq!(by_another(&sponsor("1").replace("\"7\"", "7"), 502), None);
}

#[test]
fn a_request_larger_than_wallets_send_may_be_refused_by_its_status() {
    let plain = |status| Response { status, ..response("too much") };
    let call_data = |bytes: usize| sponsor("1").replace("0xb61d27f6", &format!("0x{}", "ab".repeat(bytes)));
    for status in [400, 413, 422] {
        assert_eq!(broken_by(&call_data(4097), Ok(plain(status))), [""; 0], "{status}");
    }
    assert_eq!(broken_by(&call_data(4096), Ok(plain(400))), ["answer.json-text"]);
    assert_eq!(broken_by(&call_data(4097), Ok(plain(500))), ["answer.json-text"]);
}

#[test]
fn requests_beyond_the_tables_may_be_refused_in_any_way() {
    let beyond = [
        sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":7"),
        sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":\"0x7\""),
        sponsor("1").replace("\"initCode\":\"0x\",", ""),
        sponsor("1").replace("\"callGasLimit\":\"50000\",", ""),
        sponsor("1").replace("\"initCode\"", "\"signature\":\"0x\",\"initCode\""),
        sponsor("1").replace("\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"2.0.0\""),
        sponsor("1").replace("\"SPONSORED\"", "\"SPONSORSHIP\""),
        sponsor("1").replace("\"expiryDuration\":300,", ""),
        sponsor_in(USDC).replace("feeTokenAddress", "tokenAddress"),
        quote(USDC, &[DAI]).replace(&format!("\"preferredToken\":\"{USDC}\","), ""),
    ];
    let null = ERROR.replace("\"id\":1", "\"id\":null");
    let plain = Response { status: 422, ..response("{\"detail\":\"no\"}") };
    for request in beyond {
        fine(&request, ERROR);
        fine(&request, &null);
        assert_eq!(broken_by(&request, Ok(plain.clone())), [""; 0], "{request}");
    }
    for request in [sponsor("1"), sponsor_in(USDC), quote(USDC, &[DAI])] {
        assert!(!broken(&request, ERROR).is_empty(), "{request}");
        assert!(!broken_by(&request, Ok(plain.clone())).is_empty(), "{request}");
    }
}

#[test]
fn malformed_requests_may_be_refused_in_any_way() {
    let crashed = Response { status: 500, ..response("<html>") };
    for malformed in [
        sponsor("1").replace("\"nonce\":\"7\"", "\"nonce\":{}"),
        sponsor("1").replace("pm_sponsorUserOperation", "pm_none"),
    ] {
        let broken = broken_by(&malformed, Ok(crashed.clone()));
        assert!(broken.iter().all(|rule| rule.starts_with("json-rpc.")), "{broken:?}");
    }
    // What the schemas accept is no malformed request: a server that fails at it is broken.
    for valid in [sponsor("1"), sponsor("1").replace("\"initCode\":\"0x\",", "")] {
        assert_eq!(broken_by(&valid, Ok(crashed.clone())), ["answer.json-text"]);
    }
}
