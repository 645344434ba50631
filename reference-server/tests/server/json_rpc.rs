//! The envelope (sections 2.1, 2.10 and 7): versions, ids, notifications, batches, and the causes of errors.

use crate::*;

/// The text of a valid request with this JSON text as its id.
fn text_with_id(id: &str) -> String {
    let mut request = the_four_pairs()[2].clone();
    request["id"] = json!("PLACE");
    request.to_string().replace("\"PLACE\"", id)
}

#[test]
fn every_pair_gets_a_result_and_no_error() {
    for request in the_four_pairs() {
        let answer = answer(&request);
        assert!(answer.get("result").is_some(), "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
    }
}

#[test]
fn an_id_is_echoed_byte_for_byte() {
    let long = format!("\"{}\"", "x".repeat(10_000));
    let numbers = "0 -1 1 1.0 1.50 1e5 1E+05 -0 9007199254740993 340282366920938463463374607431768211456123";
    let texts = r#""" "1" "a\u00e9\n" "\ud83d\ude00" "null""#;
    for id in numbers.split(' ').chain(texts.split(' ')).chain(["\"\u{e9}\u{1f600}\"", &long]) {
        let reply = service().handle_bytes(text_with_id(id).as_bytes(), NOW);
        let body = String::from_utf8(reply.body.unwrap()).unwrap();
        assert!(body.contains(&format!("\"id\":{id},\"result\"")), "{id}: {body}");
        // The id of an error.
        let broken = text_with_id(id).replace("0xb61d27f6", "zz");
        let reply = service().handle_bytes(broken.as_bytes(), NOW);
        let body = String::from_utf8(reply.body.unwrap()).unwrap();
        assert!(body.contains(&format!("\"id\":{id},\"error\"")), "{id}: {body}");
    }
}

#[test]
fn an_id_of_another_type_makes_the_request_invalid() {
    for id in ["null", "true", "[]", "{}"] {
        let answer = answer_with(&service(), &text_with_id(id));
        assert_eq!(answer["error"]["code"], json!(-32600), "{id}");
        assert_eq!(answer["id"], Value::Null, "{id}");
    }
}

#[test]
fn both_versions_are_served_and_echoed() {
    for version in ["2.0", "2.0.0"] {
        for mut request in the_four_pairs() {
            request["jsonrpc"] = json!(version);
            assert_eq!(answer(&request)["jsonrpc"], json!(version));
            request["params"][0]["sender"] = json!("0x");
            assert_eq!(answer(&request)["jsonrpc"], json!(version));
        }
    }
    for version in [json!("1.0"), json!("2"), json!(2.0), json!(null)] {
        let mut request = the_four_pairs()[0].clone();
        request["jsonrpc"] = version;
        assert_eq!(error_code(&request), -32600);
        assert_eq!(answer(&request)["id"], json!(1), "the id could be read");
    }
}

#[test]
fn each_cause_has_its_code() {
    for (text, code) in [
        ("", -32700),
        ("{", -32700),
        ("nope", -32700),
        ("{} {}", -32700),
        ("[1", -32700),
        ("NaN", -32700),
        ("\u{feff}{}", -32700),
        ("{}", -32600),
        ("1", -32600),
        ("\"text\"", -32600),
        ("null", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData","params":"x"}"#, -32600),
        (r#"{"id":1,"method":"pm_getFeeQuoteOrData","params":[{},{}]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"pm_getFeeQuoteOrData","params":[]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"PM_GETFEEQUOTEORDATA","params":[]}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[{}]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[{},{},{}]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[[],[]]}"#, -32602),
    ] {
        let answer = answer_with(&service(), text);
        assert_eq!(answer["error"]["code"], json!(code), "{text}: {answer}");
        assert!(answer["error"]["message"].is_string(), "{answer}");
        assert!(answer.get("result").is_none(), "{answer}");
        assert!(answer.get("id").is_some(), "{answer}");
    }
    let not_utf8 = service().handle_bytes(b"{\"jsonrpc\":\"2.0\xff\"}", NOW);
    assert!(String::from_utf8(not_utf8.body.unwrap()).unwrap().contains("-32700"));
}

#[test]
fn invalid_params_are_explained_member_by_member() {
    let mut request = the_four_pairs()[1].clone();
    request["params"][0]["sender"] = json!("0x12");
    request["params"][0].as_object_mut().unwrap().remove("nonce");
    request["params"][0]["callData"] = json!(7);
    request["params"][0]["maxFeePerGas"] = json!(-1);
    request["params"][1]["tokenInfo"]["tokenList"][1] = json!("x");
    let answer = answer(&request);
    let data = answer["error"]["data"].as_array().unwrap().clone();
    let mut found: Vec<(&str, &str)> = data
        .iter()
        .map(|violation| (violation["pointer"].as_str().unwrap(), violation["reason"].as_str().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/params/0/callData", "must be a string, not a number"),
            ("/params/0/maxFeePerGas", "must be at least 0"),
            ("/params/0/nonce", "is required"),
            ("/params/0/sender", "must be an address: 0x and 40 hex digits"),
            ("/params/1/tokenInfo/tokenList/1", "must be an address: 0x and 40 hex digits"),
        ]
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("invalid params: /params/"), "{message}");
}

#[test]
fn a_member_that_occurs_twice_is_refused() {
    let text = quote(&json!({ "mode": "SPONSORED", "sponsorshipInfo": sponsorship_info() })).to_string();
    let twice = text.replacen("\"nonce\":\"0x2a\"", "\"nonce\":\"0x2a\",\"nonce\":\"0x2b\"", 1);
    assert_ne!(text, twice);
    let answer = answer_with(&service(), &twice);
    assert_eq!(answer["error"]["code"], json!(-32602));
    assert!(answer["error"]["message"].as_str().unwrap().contains("duplicate field `nonce`"), "{answer}");
}

#[test]
fn a_notification_is_never_answered() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#,
        r#"{"jsonrpc":"2.0","method":"pm_getFeeQuoteOrData","params":[]}"#,
        r#"[{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","method":"eth_chainId"}]"#,
    ] {
        let reply = service().handle_bytes(text.as_bytes(), NOW);
        assert_eq!((reply.status, reply.body), (204, None), "{text}");
    }
    let mut valid = the_four_pairs()[0].clone();
    valid.as_object_mut().unwrap().remove("id");
    assert_eq!(service().handle_bytes(valid.to_string().as_bytes(), NOW).status, 204);
}

#[test]
fn a_batch_is_answered_in_its_order_without_its_notifications() {
    let [mut first, second, mut third, mut fourth] = the_four_pairs();
    first["id"] = json!("a");
    third.as_object_mut().unwrap().remove("id");
    fourth["id"] = json!(9);
    fourth["params"][1]["tokenInfo"] = json!({});
    let batch = json!([first, 1, second, third, [], fourth]);
    let answers = answer(&batch);
    let answers = answers.as_array().unwrap();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &Value::Null, &json!(1), &Value::Null, &json!(9)]);
    assert!(answers[0].get("result").is_some() && answers[2].get("result").is_some());
    assert_eq!(answers[1]["error"]["code"], json!(-32600));
    assert_eq!(answers[3]["error"]["code"], json!(-32600));
    assert_eq!(answers[4]["error"]["code"], json!(-32001));
}

#[test]
fn batches_and_nesting_are_bounded() {
    let mut config = Config::default();
    config.bounds.max_batch_length = 3;
    config.bounds.max_depth = 8;
    let service = Service::new(&config).unwrap();
    let call = the_four_pairs()[0].clone();
    assert_eq!(answer_with(&service, &json!([call, call, call]).to_string()).as_array().unwrap().len(), 3);
    let refused = answer_with(&service, &json!([call, call, call, call]).to_string());
    assert_eq!(refused["error"]["code"], json!(-32600), "{refused}");

    let mut deep = call;
    deep["params"][1]["sponsorshipInfo"]["webhookData"] = json!({ "a": { "b": { "c": {} } } });
    assert!(answer_with(&service, &deep.to_string()).get("result").is_some(), "exactly 8 levels");
    deep["params"][1]["sponsorshipInfo"]["webhookData"] = json!({ "a": { "b": { "c": { "d": [] } } } });
    let refused = answer_with(&service, &deep.to_string());
    assert_eq!(refused["error"]["code"], json!(-32700), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("8 levels"), "{refused}");
}

#[test]
fn the_status_of_errors_is_configured() {
    let config = Config { error_status: 400, ..Config::default() };
    let strict = Service::new(&config).unwrap();
    let status = |service: &Service, text: &str| service.handle_bytes(text.as_bytes(), NOW).status;
    let valid = the_four_pairs()[0].to_string();
    for text in ["{", "{}", &sponsor(&json!({ "mode": "ERC20" })).to_string()] {
        assert_eq!(status(&service(), text), 200, "{text}");
        assert_eq!(status(&strict, text), 400, "{text}");
    }
    assert_eq!(status(&strict, &valid), 200);
    assert_eq!(status(&strict, &format!("[{valid}, 1]")), 200);
}

#[test]
fn member_order_white_space_and_escapes_change_nothing() {
    let request = &the_four_pairs()[3];
    let expected = answer(request);
    let reordered = format!(
        " {{\n\"params\" : [ {}, {} ],\t\"id\": 1, \"extra\": [{{}}], \"me\\u0074hod\": \"pm_\\u0073ponsorUserOperation\", \"jsonrpc\": \"2.\\u0030\" }}\r\n",
        operation().to_string().replace("0xb61d27f6", "\\u0030xb61d27f6").replace("sender", "s\\u0065nder"),
        request["params"][1].to_string().replace("ERC20", "ERC2\\u0030").replace("0xda", "0x\\u0064a"),
    );
    assert_eq!(answer_with(&service(), &reordered), expected);
}
