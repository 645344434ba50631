//! Sponsorship and its policy (sections 2.6, 2.9 and 4.2).

use crate::*;

/// A sponsored request of each method for this operation and info.
fn both(operation: &Value, info: &Value) -> [Value; 2] {
    let mode = json!({ "mode": "SPONSORED", "sponsorshipInfo": info });
    ["pm_getFeeQuoteOrData", "pm_sponsorUserOperation"].map(|method| request(method, operation, &mode))
}

fn is_refused(result: &Value) -> bool {
    result["paymasterAndData"] == json!("0x")
}

#[test]
fn the_three_gas_values_are_returned_unchanged_in_their_types() {
    let [sponsored_quote, _, sponsored, token] = the_four_pairs();
    for request in [sponsored_quote, sponsored, token] {
        let result = result(&request);
        assert_eq!(result["preVerificationGas"], json!("50000"));
        assert_eq!(result["verificationGasLimit"], json!(200_000));
        assert_eq!(result["callGasLimit"], json!(100_000));
        assert_eq!(result["MODE"], request["params"][1]["mode"]);
        assert_eq!(result["mode"], request["params"][1]["mode"]);
    }
}

#[test]
fn any_of_the_three_gas_values_may_be_missing() {
    let names = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
    for pair in [0, 2, 3] {
        for absent in 0..8 {
            let mut request = the_four_pairs()[pair].clone();
            for (bit, name) in names.iter().enumerate() {
                if absent & (1 << bit) != 0 {
                    request["params"][0].as_object_mut().unwrap().remove(*name);
                }
            }
            let result = result(&request);
            assert_eq!(result["callGasLimit"] == json!(100_000), absent & 1 == 0);
            assert_eq!(result["verificationGasLimit"] == json!(200_000), absent & 2 == 0);
            assert_eq!(result["preVerificationGas"] == json!("50000"), absent & 4 == 0);
            assert!(result["callGasLimit"].is_number() && result["verificationGasLimit"].is_number());
            assert!(result["preVerificationGas"].is_string());
        }
    }
}

#[test]
fn amounts_are_accepted_in_every_form() {
    let expected = result(&the_four_pairs()[2]);
    for (gas, fee) in [
        (json!("0x186a0"), json!("0x04a817c800")),
        (json!(100_000), json!(20_000_000_000_u64)),
        (json!("0100000"), json!("20000000000")),
    ] {
        let mut request = the_four_pairs()[2].clone();
        request["params"][0]["callGasLimit"] = gas;
        request["params"][0]["maxFeePerGas"] = fee;
        request["params"][0]["nonce"] = json!("42");
        assert_eq!(result(&request), expected);
    }
}

#[test]
fn the_policy_refuses_senders_names_and_large_data() {
    let accepted = both(&operation(), &sponsorship_info());
    let mut denied = operation();
    denied["sender"] = json!(PolicyConfig::DENIED_SENDER.to_uppercase().replace("0X", "0x"));
    let named = json!({ "smartAccountInfo": { "name": "NOBODY", "version": "1.0.0" } });
    let mut large = operation();
    large["callData"] = json!(format!("0x{}", "00".repeat(PolicyConfig::default().max_call_data_bytes + 1)));
    for request in accepted {
        assert!(!is_refused(&result(&request)));
    }
    for requests in
        [both(&denied, &sponsorship_info()), both(&operation(), &named), both(&large, &sponsorship_info())]
    {
        for request in requests {
            let result = result(&request);
            assert!(is_refused(&result), "{result}");
            assert_eq!(result["MODE"], json!("SPONSORED"));
            assert!(result["callGasLimit"].is_number());
        }
    }
    large["callData"] = json!(format!("0x{}", "00".repeat(PolicyConfig::default().max_call_data_bytes)));
    assert!(!is_refused(&result(&both(&large, &sponsorship_info())[0])), "exactly at the bound");
}

#[test]
fn the_policy_is_the_configured_one() {
    let config = Config {
        policy: PolicyConfig { denied_senders: vec![], account_names: vec![], max_call_data_bytes: 3 },
        ..Config::default()
    };
    let service = Service::new(&config).unwrap();
    let paymaster_and_data = |operation: &Value, info: &Value| {
        answer_with(&service, &both(operation, info)[1].to_string())["result"]["paymasterAndData"].clone()
    };
    let mut small = operation();
    small["sender"] = json!(PolicyConfig::DENIED_SENDER);
    small["callData"] = json!("0x010203");
    let named = json!({ "smartAccountInfo": { "name": "NOBODY" } });
    assert_ne!(paymaster_and_data(&small, &named), json!("0x"));
    assert_eq!(paymaster_and_data(&operation(), &named), json!("0x"));
}

#[test]
fn only_the_operation_and_the_info_decide() {
    let mut denied = operation();
    denied["sender"] = json!(PolicyConfig::DENIED_SENDER);
    for (operation, refused) in [(operation(), false), (denied, true)] {
        for extra in [
            json!({ "expiryDuration": 0 }),
            json!({ "expiryDuration": 1e9 }),
            json!({ "calculateGasLimits": false }),
            json!({ "calculateGasLimits": true }),
            json!({ "tokenInfo": { "feeTokenAddress": UNKNOWN_TOKEN } }),
            json!({ "unknown": PolicyConfig::DENIED_SENDER }),
        ] {
            for mut request in both(&operation, &sponsorship_info()) {
                request["id"] = json!("other");
                request["params"][1].as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
                assert_eq!(is_refused(&result(&request)), refused, "{request}");
            }
        }
    }
}

#[test]
fn sponsorship_info_is_optional_in_the_second_method_only() {
    assert!(!is_refused(&result(&sponsor(&json!({ "mode": "SPONSORED" })))));
    assert_eq!(error_code(&quote(&json!({ "mode": "SPONSORED" }))), -32602);
}

#[test]
fn sponsorship_is_another_name_of_sponsored() {
    for pair in [0, 2] {
        let mut request = the_four_pairs()[pair].clone();
        let expected = result(&request);
        request["params"][1]["mode"] = json!("SPONSORSHIP");
        assert_eq!(result(&request), expected);
    }
}

#[test]
fn the_mode_is_mandatory_and_one_of_three() {
    assert_eq!(error_code(&sponsor(&json!({ "sponsorshipInfo": {} }))), -32602);
    for mode in [json!("sponsored"), json!(""), json!(null), json!(1)] {
        assert_eq!(error_code(&sponsor(&json!({ "mode": mode, "sponsorshipInfo": {} }))), -32602);
        assert_eq!(error_code(&quote(&json!({ "mode": mode, "sponsorshipInfo": {} }))), -32602);
    }
}

#[test]
fn a_missing_and_an_unsupported_token_have_their_own_codes() {
    for mode in [
        json!({ "mode": "ERC20" }),
        json!({ "mode": "ERC20", "tokenInfo": {} }),
        json!({ "mode": "ERC20", "tokenInfo": { "preferredToken": USDC, "tokenList": [USDC] } }),
    ] {
        assert_eq!(error_code(&sponsor(&mode)), -32001, "{mode}");
    }
    for name in ["feeTokenAddress", "tokenAddress"] {
        let answer = answer(&sponsor(&json!({ "mode": "ERC20", "tokenInfo": { name: UNKNOWN_TOKEN } })));
        assert_eq!(answer["error"]["code"], json!(-32002));
        assert_eq!(answer["error"]["data"][0]["pointer"], json!(format!("/params/1/tokenInfo/{name}")));
    }
    for malformed in
        [json!({ "feeTokenAddress": "0x12" }), json!({ "feeTokenAddress": null }), json!([]), json!(null)]
    {
        assert_eq!(error_code(&sponsor(&json!({ "mode": "ERC20", "tokenInfo": malformed }))), -32602);
    }
}

#[test]
fn the_token_has_two_names_and_any_letter_case() {
    let expected = result(&the_four_pairs()[3]);
    for info in [
        json!({ "tokenAddress": USDC }),
        json!({ "feeTokenAddress": USDC.to_uppercase().replace("0X", "0x") }),
        json!({ "feeTokenAddress": USDC, "tokenAddress": UNKNOWN_TOKEN }),
    ] {
        assert_eq!(result(&sponsor(&json!({ "mode": "ERC20", "tokenInfo": info }))), expected);
    }
}
