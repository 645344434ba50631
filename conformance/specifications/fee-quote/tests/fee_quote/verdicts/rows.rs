//! The rows of the result tables (sections 2.6 to 2.9).

use super::*;

#[test]
fn every_row_is_broken_by_a_member_that_is_missing_or_of_the_wrong_type_or_form() {
    let rows = [
        (
            "sponsored-result",
            sponsor("1"),
            SPONSORED.to_owned(),
            vec![
                ("MODE", vec!["1", "\"ERC20\"", "\"sponsored\""]),
                ("paymasterAndData", vec!["1", "\"abcdef\"", "\"0xabc\"", "\"0xzz\"", "null", "\"\""]),
                ("preVerificationGas", vec!["21000", "\"0x5208\"", "\"\"", "\"-1\"", "\"2.1\""]),
                ("verificationGasLimit", vec!["\"100000\"", "-1", "1.5", "null"]),
                ("callGasLimit", vec!["\"100000\"", "-1", "1.5", "{}"]),
            ],
        ),
        (
            "token-sponsor-result",
            sponsor_in(USDC),
            TOKEN_SPONSORED.to_owned(),
            vec![
                ("MODE", vec!["1", "\"SPONSORED\""]),
                ("paymasterAndData", vec!["1", "\"abcdef\"", "\"0x\"", "null"]),
                ("preVerificationGas", vec!["21000", "null"]),
                ("verificationGasLimit", vec!["\"100000\"", "-1"]),
                ("callGasLimit", vec!["\"100000\"", "[]"]),
            ],
        ),
    ];
    for (document, request, good, members) in rows {
        let good: Value = serde_json::from_str(&good).unwrap();
        for (member, wrong) in members {
            let id = format!("{document}.{member}");
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(member);
            assert_eq!(broken(&request, &result(&without.to_string())), [id.as_str()]);
            for wrong in wrong {
                let mut with = good.clone();
                with[member] = serde_json::from_str(wrong).unwrap();
                let found = broken(&request, &result(&with.to_string()));
                assert_eq!(found, [id.as_str()], "{member}: {wrong}");
            }
        }
    }
}

#[test]
fn every_row_of_a_quote_can_be_broken() {
    let rows: [(&str, &[&str]); 9] = [
        ("symbol", &["1", "[]", "null"]),
        ("decimal", &["\"6\"", "6.5", "-6", "300"]),
        ("tokenAddress", &["1", "\"0x12\"", "null"]),
        ("maxGasFee", &["\"0.01\"", "-1", "null"]),
        ("maxGasFeeUSD", &["\"0.01\"", "-1"]),
        ("exchangeRate", &["\"1\"", "1.5", "-1"]),
        ("premiumPercentage", &["7", "\"7%\"", "\"\""]),
        ("validUntil", &["\"1686847490\"", "1.5", "null"]),
        ("logoUrl", &["1", "{}", "null"]),
    ];
    let request = quote(DAI, &[USDC, DAI]);
    for (member, wrong) in rows {
        let second: Value = serde_json::from_str(&fee_quote(USDC, "USDC", 6)).unwrap();
        let id = format!("fee-quote.{member}");
        for wrong in wrong {
            let mut second = second.clone();
            second[member] = serde_json::from_str(wrong).unwrap();
            let body = result(&quotes(&[fee_quote(DAI, "DAI", 18), second.to_string()], Some(&[])));
            let found = broken(&request, &body);
            assert!(found.contains(&id.as_str()), "{member}: {wrong}: {found:?}");
            // An address that cannot be read, or another token's decimals, may be seen from elsewhere too.
            assert!(
                found.iter().all(|rule| rule.starts_with("fee-quote.") || member == "tokenAddress"),
                "{found:?}"
            );
        }
    }
    let good = result(&quotes(&[fee_quote(DAI, "DAI", 18), fee_quote(USDC, "USDC", 6)], Some(&[])));
    assert_eq!(
        broken(&request, &good.replace("\"feeQuotes\":[", "\"feeQuotes\":[7,")),
        ["quote-result.feeQuotes"]
    );
    assert_eq!(
        broken(&request, &good.replace("\"unsupportedTokens\":[]", "\"unsupportedTokens\":{}")),
        ["quote-result.unsupportedTokens"]
    );
    assert_eq!(broken(&request, &good.replace("0x00000f7365", "0x")), ["quote-result.paymasterAddress"]);
    assert_eq!(
        broken(&request, &good.replace("\"symbol\":\"DAI\"", "\"symbol\":\"USDC\"")),
        ["fee-quote.symbol-of-token"]
    );
    assert_eq!(
        broken(&request, &good.replace("\"decimal\":18", "\"decimal\":6")),
        ["fee-quote.decimal-of-token"]
    );
}

/// Section 2.1 and 2.6 differ in how sponsored mode is called.
#[test]
fn only_the_mode_may_have_the_value_of_the_request() {
    let request = sponsor("1").replace("\"SPONSORED\"", "\"SPONSORSHIP\"");
    fine(&request, &result(&SPONSORED.replace("\"SPONSORED\"", "\"SPONSORSHIP\"")));
    fine(&request, &result(SPONSORED));
    for wrong in ["SPONSORED", "SPONSORSHIP"] {
        assert_eq!(
            broken(&request, &result(&SPONSORED.replace("0xabcdef", wrong))),
            ["sponsored-result.paymasterAndData"]
        );
    }
}
