//! Fee quotes (sections 2.5, 2.7, 2.8 and 4.1), with numbers calculated by hand.

use crate::*;

/// The answer to a quote request with this token info.
fn quoted(token_info: &Value) -> Value {
    result(&quote(&json!({ "mode": "ERC20", "tokenInfo": token_info })))
}

fn symbols(result: &Value) -> Vec<&str> {
    let quotes = result["feeQuotes"].as_array().expect("an array");
    quotes.iter().map(|quote| quote["symbol"].as_str().expect("a string")).collect()
}

#[test]
fn fees_are_exact() {
    // 350,000 gas at 20 gwei are 0.007 coins.
    let result = quoted(&json!({}));
    let numbers: Vec<[String; 3]> = result["feeQuotes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|quote| ["maxGasFee", "maxGasFeeUSD", "exchangeRate"].map(|name| quote[name].to_string()))
        .collect();
    assert_eq!(
        numbers,
        [
            // 0.007 * 1831.52 * 1.10 = 14.102704, at one dollar.
            ["14.102704", "14.102704", "1831520000000000000000"],
            // 0.007 * 1832.075 * 1.12 = 14.363468; times 0.9997 = 14.3591589596.
            ["14.363468", "14.35915896", "1832075000000000000000"],
            // 0.007 * 0.0531 * 1.15 = 0.000427455, rounded up to 8 decimals; times 34491.9 = 14.743907574.
            ["0.00042746", "14.74390758", "53100000000000000"],
            // 0.007 * 1694.3 = 11.8601, rounded up to 2 decimals; times 1.081 = 12.83147.
            ["11.87", "12.83147", "1694300000000000000000"],
        ]
    );
}

#[test]
fn a_quote_has_all_its_members() {
    let result = quoted(&json!({ "preferredToken": USDC }));
    assert_eq!(result["MODE"], json!("ERC20"));
    assert_eq!(result["mode"], json!("ERC20"));
    assert_eq!(result["paymasterAddress"], json!("0x00000f7365ca6c59a2c93719ad53d567ed49c14c"));
    let quote = &result["feeQuotes"][0];
    assert_eq!(quote["symbol"], json!("USDC"));
    assert_eq!(quote["decimal"], json!(6));
    assert_eq!(quote["tokenAddress"], json!(USDC));
    assert_eq!(quote["premiumPercentage"], json!("10"));
    assert_eq!(quote["validUntil"], json!(NOW + 60));
    assert_eq!(quote["logoUrl"], json!("https://tokens.example/usdc.png"));
    assert_eq!(result["unsupportedTokens"], json!([]));
}

#[test]
fn absent_gas_limits_are_estimated_from_the_data() {
    let mut operation = operation();
    for name in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
        operation.as_object_mut().unwrap().remove(name);
    }
    let quote = |operation: &Value| {
        let mode = json!({ "mode": "ERC20", "tokenInfo": { "preferredToken": DAI } });
        result(&request("pm_getFeeQuoteOrData", operation, &mode))["feeQuotes"][0]["maxGasFee"].to_string()
    };
    // Call 60,000 + 40 * 4, verification 120,000, before it 45,000 + 16 * 4: 225,224 gas at 20 gwei are 0.00450448 coins;
    // times 1832.075 = 8.252545196, times 1.12.
    assert_eq!(quote(&operation), "9.24285061952");
    operation["callGasLimit"] = json!("60161");
    assert_ne!(quote(&operation), "9.24285061952");
}

#[test]
fn the_largest_amounts_do_not_overflow() {
    let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let mut operation = operation();
    for name in ["callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas"] {
        operation[name] = json!(max);
    }
    let result =
        result(&request("pm_getFeeQuoteOrData", &operation, &json!({ "mode": "ERC20", "tokenInfo": {} })));
    for quote in result["feeQuotes"].as_array().unwrap() {
        let fee = quote["maxGasFee"].to_string();
        let (whole, _) = fee.split_once('.').unwrap_or((&fee, ""));
        // 3 * 2^512 wei are about 4.02e154, at 0.0531 to 1832 tokens for 1e18 wei.
        assert!((134..=141).contains(&whole.len()), "{fee}");
    }
    // An operation without gas has no fee.
    operation["maxFeePerGas"] = json!(0);
    let result = self::result(&request(
        "pm_getFeeQuoteOrData",
        &operation,
        &json!({ "mode": "ERC20", "tokenInfo": {} }),
    ));
    assert_eq!(result["feeQuotes"][0]["maxGasFee"].to_string(), "0");
}

#[test]
fn an_empty_token_info_or_list_gets_all_tokens() {
    for info in [json!({}), json!({ "tokenList": [] })] {
        assert_eq!(symbols(&quoted(&info)), ["USDC", "DAI", "WBTC", "EURS"]);
    }
    assert_eq!(symbols(&quoted(&json!({ "tokenList": [], "preferredToken": DAI }))), ["DAI"]);
}

#[test]
fn the_preferred_token_comes_first_and_each_token_once() {
    let info = json!({ "preferredToken": DAI, "tokenList": [USDC, DAI, USDC.to_uppercase().replace("0X", "0x"), USDC] });
    assert_eq!(symbols(&quoted(&info)), ["DAI", "USDC"]);
}

#[test]
fn unsupported_tokens_are_listed_once_in_their_spelling() {
    let other = "0x00000000000000000000000000000000000000bB";
    let info = json!({ "preferredToken": UNKNOWN_TOKEN, "tokenList": [other, USDC, UNKNOWN_TOKEN.to_lowercase(), other] });
    let result = quoted(&info);
    assert_eq!(symbols(&result), ["USDC"]);
    assert_eq!(result["unsupportedTokens"], json!([UNKNOWN_TOKEN, other]));
    let none = quoted(&json!({ "tokenList": [other] }));
    assert_eq!(none["feeQuotes"], json!([]));
    assert_eq!(none["unsupportedTokens"], json!([other]));
}

#[test]
fn long_lists_are_deduplicated_too() {
    let mut list: Vec<String> = (0..5000).map(|number| format!("0x{number:040x}")).collect();
    list.extend(list.clone());
    list.push(USDC.to_owned());
    let result = quoted(&json!({ "tokenList": list }));
    assert_eq!(symbols(&result), ["USDC"]);
    assert_eq!(result["unsupportedTokens"].as_array().unwrap().len(), 5000);
}

#[test]
fn the_mode_of_a_quote_without_mode_follows_from_its_token_info() {
    let info = sponsorship_info();
    let tokens = json!({ "preferredToken": USDC });
    let mode = |mode: Value| result(&quote(&mode))["mode"].clone();
    assert_eq!(mode(json!({ "tokenInfo": tokens, "sponsorshipInfo": info })), json!("ERC20"));
    assert_eq!(mode(json!({ "tokenInfo": {}, "sponsorshipInfo": info })), json!("SPONSORED"));
    assert_eq!(mode(json!({ "sponsorshipInfo": info })), json!("SPONSORED"));
}

#[test]
fn info_of_the_other_mode_is_not_parsed() {
    let broken = json!({ "preferredToken": 5, "smartAccountInfo": 5 });
    let info = sponsorship_info();
    let sponsored = json!({ "mode": "SPONSORED", "sponsorshipInfo": info, "tokenInfo": broken });
    assert_eq!(result(&quote(&sponsored))["MODE"], json!("SPONSORED"));
    let erc20 = json!({ "mode": "ERC20", "sponsorshipInfo": broken, "tokenInfo": {} });
    assert_eq!(result(&quote(&erc20))["MODE"], json!("ERC20"));
}
