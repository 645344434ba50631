//! The requests, by what they differ in.

use alloy_primitives::U256;
use serde_json::{Value, json};

use super::*;

pub(super) fn requests() -> Vec<Value> {
    [
        plain(),
        with_ids(),
        with_operations(),
        with_modes(),
        with_tokens(),
        in_other_notation(),
        rarely_sent(),
        in_capitals(),
        of_wallets(),
    ]
    .concat()
}

/// One request of each pair.
fn plain() -> Vec<Value> {
    vec![
        request(1, QUOTE, operation(), sponsored()),
        request(2, SPONSOR, operation(), sponsored()),
        request(3, QUOTE, operation(), quote_of(Some(USDC), &[DAI, WBTC])),
        request(4, SPONSOR, operation(), paid_in(USDC)),
        // No quote was asked for.
        request(4, SPONSOR, with(operation(), &[("sender", ALSO_UNSUPPORTED.into())]), paid_in(USDC)),
    ]
}

/// Requests with ids of every kind.
fn with_ids() -> Vec<Value> {
    let large: Value = serde_json::from_str("9007199254740993").expect("a number");
    vec![
        request(0, SPONSOR, operation(), sponsored()),
        request("", SPONSOR, operation(), sponsored()),
        request(-5, SPONSOR, operation(), sponsored()),
        request(1.5, SPONSOR, operation(), sponsored()),
        request(1_686_847_490_000_u64, SPONSOR, operation(), sponsored()),
        request(large, SPONSOR, operation(), sponsored()),
        request("42", SPONSOR, operation(), sponsored()),
        request("grün", SPONSOR, operation(), sponsored()),
        request("x".repeat(100), SPONSOR, operation(), sponsored()),
        // The byte at 4,096 is within a letter.
        request("\u{1F680}".repeat(1_100), SPONSOR, operation(), sponsored()),
        request("__proto__", SPONSOR, operation(), sponsored()),
        request("x".repeat(20), SPONSOR, operation(), paid_in(UNSUPPORTED)),
    ]
}

/// Requests with operations of every kind.
fn with_operations() -> Vec<Value> {
    vec![
        request(5, SPONSOR, refused(), sponsored()),
        request(5, SPONSOR, refused(), paid_in(USDC)),
        request(
            5,
            SPONSOR,
            refused(),
            with(uncalculated(sponsored()), &[("tokenInfo", token_info()), ("expiryDuration", 900.into())]),
        ),
        request(5, SPONSOR, with(refused(), &[("callData", "0x".into())]), sponsored()),
        request(2, SPONSOR, refused(), sponsored()),
        request(6, QUOTE, refused(), sponsored()),
        request(6, SPONSOR, with(operation(), &[("nonce", 7.into())]), sponsored()),
        request(7, SPONSOR, deploying(), sponsored()),
        request(7, SPONSOR, deploying(), paid_in(USDC)),
        request(7, QUOTE, deploying(), quote_of(None, &[USDC])),
        request(
            7,
            SPONSOR,
            with(operation(), &[("callData", format!("0x{}", "00".repeat(5000)).into())]),
            sponsored(),
        ),
        request(7, SPONSOR, with(operation(), &[("callData", "0x".into())]), sponsored()),
        request(7, SPONSOR, with(operation(), &[("nonce", "0".into())]), sponsored()),
        request(
            7,
            SPONSOR,
            with(operation(), &[("nonce", format!("0x{}", "f".repeat(64)).into())]),
            sponsored(),
        ),
        request(7, SPONSOR, with(operation(), &[("signature", "0x".into())]), sponsored()),
        request(5, SPONSOR, with(refused(), &[("nonce", "0x7".into())]), sponsored()),
        request(
            5,
            SPONSOR,
            operation(),
            json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": { "feeTokenAddress": false } }),
        ),
        request(5, SPONSOR, operation(), paid_in("USDC")),
        with_amount("callGasLimit", "40000000"),
        with_amount("callGasLimit", "0"),
        with_amount("maxFeePerGas", "90000000000000"),
        with_amount("maxPriorityFeePerGas", "9000000000"),
        request(8, SPONSOR, smallest(), paid_in(USDC)),
        request(8, SPONSOR, without(operation(), &["callGasLimit"]), paid_in(USDC)),
        request(8, SPONSOR, without(operation(), &["verificationGasLimit"]), paid_in(USDC)),
        request(8, SPONSOR, without(operation(), &["preVerificationGas"]), paid_in(USDC)),
        request(8, SPONSOR, smallest(), sponsored()),
        request(8, QUOTE, smallest(), quote_of(Some(USDC), &[])),
    ]
}

fn with_amount(name: &str, amount: &str) -> Value {
    request(7, SPONSOR, with(operation(), &[(name, amount.into())]), sponsored())
}

/// Requests with mode objects of every kind.
fn with_modes() -> Vec<Value> {
    let mut large = sponsored();
    large["sponsorshipInfo"]["webhookData"] = json!({ "text": "x".repeat(2000) });
    let many: Vec<String> = (0..12).map(|place| format!("0x{place:040x}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    vec![
        request(9, SPONSOR, operation(), large),
        request(9, QUOTE, operation(), quote_of(Some(USDC), &many)),
        request(9, QUOTE, operation(), quote_of(Some(USDC), &[DAI, DAI])),
        request(9, SPONSOR, operation(), with(sponsored(), &[("expiryDuration", 7200.into())])),
        request(9, SPONSOR, operation(), uncalculated(sponsored())),
        request(9, QUOTE, operation(), uncalculated(sponsored())),
        request(9, QUOTE, operation(), uncalculated(quote_of(None, &[DAI]))),
        request(9, SPONSOR, operation(), uncalculated(paid_in(USDC))),
        request(9, SPONSOR, operation(), with(sponsored(), &[("expiryDuration", 600.into())])),
        request(9, SPONSOR, operation(), without(sponsored(), &["expiryDuration"])),
        request(9, SPONSOR, operation(), with(sponsored(), &[("mode", "SPONSORSHIP".into())])),
        request(9, SPONSOR, operation(), with(sponsored(), &[("tokenInfo", token_info())])),
        request(9, SPONSOR, operation(), with(sponsored(), &[("extra", 1.into())])),
        request(9, SPONSOR, operation(), with(sponsored(), &[("sponsorshipInfo", account("SAFE"))])),
        request(9, QUOTE, operation(), with(sponsored(), &[("sponsorshipInfo", account("SAFE"))])),
        request(
            9,
            SPONSOR,
            operation(),
            with(sponsored(), &[("sponsorshipInfo", json!({ "webhookData": { "a": 1 } }))]),
        ),
        request(9, SPONSOR, operation(), with(paid_in(USDC), &[("sponsorshipInfo", json!({}))])),
        request(
            9,
            SPONSOR,
            operation(),
            with(paid_in(USDC), &[("sponsorshipInfo", json!({ "webhookData": { "a": 1 } }))]),
        ),
        request(9, QUOTE, operation(), json!({ "sponsorshipInfo": {} })),
        request(9, SPONSOR, operation(), json!({ "calculateGasLimits": true, "mode": "SPONSORED" })),
        request(9, SPONSOR, without(operation(), &["callData"]), sponsored()),
        json!({ "params": [without(operation(), &["sender"]), sponsored()], "method": SPONSOR, "jsonrpc": "2.0.0", "id": 9 }),
    ]
}

/// Requests with tokens of every kind.
fn with_tokens() -> Vec<Value> {
    let many = [UNSUPPORTED, ALSO_UNSUPPORTED, USDC, DAI, WBTC, USDC, UNSUPPORTED, DAI, WBTC];
    let bare = || json!({ "mode": "ERC20" });
    vec![
        request(10, QUOTE, operation(), quote_of(Some(DAI), &[USDC, DAI])),
        request(11, QUOTE, operation(), quote_of(Some(UNSUPPORTED), &[USDC])),
        request(12, QUOTE, operation(), quote_of(Some(USDC), &[UNSUPPORTED, ALSO_UNSUPPORTED])),
        request(13, QUOTE, operation(), quote_of(Some(UNSUPPORTED), &[ALSO_UNSUPPORTED])),
        request(14, QUOTE, operation(), quote_of(None, &[USDC_OTHER_LETTERS])),
        request(14, QUOTE, operation(), quote_of(None, &[USDC, USDC, DAI])),
        request(15, QUOTE, operation(), quote_of(Some(USDC), &many)),
        request(16, QUOTE, operation(), json!({ "mode": "ERC20", "tokenInfo": {} })),
        request(16, QUOTE, operation(), quote_of(None, &[UNSUPPORTED])),
        request(17, SPONSOR, operation(), paid_in(DAI)),
        request(17, SPONSOR, operation(), paid_in(USDC_OTHER_LETTERS)),
        request(17, SPONSOR, operation(), json!({ "mode": "ERC20", "tokenInfo": { "tokenAddress": USDC } })),
        request(18, SPONSOR, operation(), paid_in(UNSUPPORTED)),
        request(18, SPONSOR, deploying(), uncalculated(paid_in(UNSUPPORTED))),
        request(18, SPONSOR, smallest(), paid_in(UNSUPPORTED)),
        request(18, SPONSOR, operation(), paid_in(&format!("{USDC}00"))),
        request(18, SPONSOR, operation(), paid_in(&USDC[..40])),
        request(
            18,
            SPONSOR,
            operation(),
            with(
                paid_in(UNSUPPORTED),
                &[(
                    "tokenInfo",
                    json!({ "feeTokenAddress": UNSUPPORTED, "preferredToken": USDC, "tokenList": [USDC] }),
                )],
            ),
        ),
        request(18, SPONSOR, refused(), paid_in(UNSUPPORTED)),
        request(18, QUOTE, refused(), quote_of(Some(USDC), &[UNSUPPORTED])),
        request(18, SPONSOR, operation(), paid_in(NATIVE_COIN)),
        request(18, QUOTE, operation(), quote_of(Some(USDC), &[NATIVE_COIN])),
        request(18, SPONSOR, operation(), bare()),
        request(18, SPONSOR, operation(), with(bare(), &[("tokenInfo", json!({}))])),
    ]
}

/// One request in several notations.
fn in_other_notation() -> Vec<Value> {
    let with_an_id = json!({ "webhookData": { "id": "order-7", "mode": "ERC20" } });
    let mut last_id_first =
        request(19, SPONSOR, operation(), with(sponsored(), &[("sponsorshipInfo", with_an_id)]));
    if let Some(object) = last_id_first.as_object_mut() {
        object.shift_remove("id");
        object.insert("id".to_owned(), 19.into());
    }
    let mut reversed = request(20, SPONSOR, operation(), sponsored());
    crate::injection::reverse_members(&mut reversed);
    let mut version = request(21, SPONSOR, operation(), sponsored());
    version["jsonrpc"] = "2.0.0".into();
    vec![last_id_first, reversed, version]
}

/// Requests that few clients send and that some servers misread.
fn rarely_sent() -> Vec<Value> {
    let lookalike = format!("{}8", &USDC[..USDC.len() - 1]);
    let note = json!({ "webhookData": { "note": "支付" } });
    let large_fee = with(operation(), &[("maxFeePerGas", "36893488147419103232".into())]);
    let fee_token = |token: Value| with(paid_in(USDC), &[("tokenInfo", json!({ "feeTokenAddress": token }))]);
    let expiring = |seconds: u32| with(sponsored(), &[("expiryDuration", seconds.into())]);
    let to_quote = json!({ "preferredToken": USDC, "tokenList": [USDC] });
    vec![
        request("<a>&</a>", SPONSOR, operation(), sponsored()),
        request("2026-11-21T10:00:00.000Z", SPONSOR, operation(), sponsored()),
        request("cafe\u{301}", SPONSOR, operation(), sponsored()),
        request(60, SPONSOR, operation(), with(sponsored(), &[("sponsorshipInfo", note)])),
        request(61, QUOTE, large_fee, quote_of(Some(USDC), &[USDC])),
        request(
            62,
            QUOTE,
            operation(),
            with(quote_of(Some(USDC), &[UNSUPPORTED]), &[("sponsorshipInfo", account("BICONOMY"))]),
        ),
        request(63, SPONSOR, operation(), expiring(172_800)),
        request(64, SPONSOR, operation(), expiring(5)),
        request(65, SPONSOR, operation(), without(sponsored(), &["calculateGasLimits"])),
        request(66, SPONSOR, operation(), fee_token(Value::Null)),
        request(67, SPONSOR, operation(), fee_token("".into())),
        request(68, SPONSOR, operation(), with(paid_in(USDC), &[("tokenInfo", to_quote)])),
        request("a name", SPONSOR, operation(), paid_in(UNSUPPORTED)),
        request(69, SPONSOR, operation(), paid_in("0x0000000000000000000000000000000000000000")),
        request(70, SPONSOR, operation(), paid_in(&lookalike)),
        request(71, SPONSOR, operation(), without(sponsored(), &["mode"])),
        request(72, SPONSOR, operation(), without(paid_in(USDC), &["mode"])),
        request(73, SPONSOR, operation(), with(sponsored(), &[("mode", Value::Null)])),
        request(73, SPONSOR, operation(), with(sponsored(), &[("expiryDuration", Value::Null)])),
        request(74, QUOTE, operation(), without(sponsored(), &["calculateGasLimits"])),
    ]
}

/// Requests with addresses in capital letters.
fn in_capitals() -> Vec<Value> {
    let capitals = |address: &str| format!("0x{}", address[2..].to_uppercase());
    let from = |sender: &str| with(operation(), &[("sender", capitals(sender).into())]);
    let (usdc, unsupported) = (capitals(USDC), capitals(ALSO_UNSUPPORTED));
    vec![
        request(80, SPONSOR, from(PolicyConfig::DENIED_SENDER), sponsored()),
        request(81, SPONSOR, from("0x00000000000000000000000000000000000000aa"), sponsored()),
        request(82, QUOTE, operation(), quote_of(Some(DAI), &[&usdc, DAI])),
        request(83, QUOTE, operation(), quote_of(Some(USDC), &[&unsupported])),
        request(84, SPONSOR, operation(), paid_in(&usdc)),
        request(85, SPONSOR, operation(), paid_in(&unsupported)),
    ]
}

/// Requests with calls, sizes and look-alike tokens as wallets send them.
#[expect(clippy::too_many_lines, reason = "a list of requests")]
fn of_wallets() -> Vec<Value> {
    let word = |text: &str| format!("{text:0>64}");
    let calling = |data: String| with(operation(), &[("callData", format!("0x{data}").into())]);
    let approval = format!("095ea7b3{}{}", word("22"), "f".repeat(64));
    let execute = format!("b61d27f6{}{}{}{}{approval}", word("11"), word("5"), word("60"), word("44"));
    let batch = format!("34fcd5be{}{}", word("20"), word("8"));
    let of_safe = format!("7bb37428{}{}{}{}", word("11"), word("0"), word("80"), word("1"));
    let modular = |mode: &str| format!("e9ae5c53{mode:0<64}{}", word("40"));
    let from_refused = |members: &[(&str, Value)]| with(refused(), members);
    let in_mode = |name: &str, value: Value| with(sponsored(), &[(name, value)]);
    let webhook = |data: Value| {
        let mut mode = sponsored();
        mode["sponsorshipInfo"]["webhookData"] = data;
        mode
    };
    let by_its_ends = format!("{}7777777777777777777777777777777{}", &USDC[..7], &USDC[38..]);
    let other_digit = format!("{}7{}", &USDC[..21], &USDC[22..]);
    let quote = |preferred: Value| json!({ "mode": "ERC20", "tokenInfo": { "preferredToken": preferred, "tokenList": [] } });
    let mut in_2_0_0 = request(90, SPONSOR, operation(), paid_in(UNSUPPORTED));
    in_2_0_0["jsonrpc"] = "2.0.0".into();
    let zero = || Value::from("0");
    let mut requests = vec![
        in_2_0_0,
        request("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789", SPONSOR, operation(), sponsored()),
        request("3F2504E0-4F89-11D3-9A0C-0305E82C3301", SPONSOR, operation(), sponsored()),
        request("x".repeat(600), SPONSOR, operation(), sponsored()),
        request(91, SPONSOR, operation(), in_mode("expiryDuration", 61.into())),
        request(91, SPONSOR, operation(), in_mode("expiryDuration", 0.into())),
        request(91, QUOTE, operation(), quote(USDC.into())),
        request(91, QUOTE, operation(), quote(Value::Null)),
        request(91, SPONSOR, operation(), webhook(json!({ "$set": 1, "__proto__": {} }))),
        request(91, SPONSOR, operation(), webhook(json!({ "note": "x".repeat(5_000) }))),
        request(
            91,
            SPONSOR,
            with(operation(), &[("sender", format!("0x{}", "7".repeat(40)).into())]),
            sponsored(),
        ),
        request(91, SPONSOR, with(operation(), &[("maxFeePerGas", "1000000000".into())]), sponsored()),
        request(
            91,
            SPONSOR,
            with(operation(), &[("nonce", (U256::ONE << 200_usize).to_string().into())]),
            sponsored(),
        ),
        request(91, SPONSOR, calling(format!("{execute}aA")), sponsored()),
        request(91, SPONSOR, calling(format!("{execute}80218021")), sponsored()),
        request(92, SPONSOR, from_refused(&[("callData", format!("0x{batch}").into())]), sponsored()),
        request(
            92,
            SPONSOR,
            from_refused(&[("signature", format!("0x{}", "f".repeat(130)).into())]),
            sponsored(),
        ),
        request(92, SPONSOR, from_refused(&[("paymasterPostOpGasLimit", zero())]), sponsored()),
        request(92, SPONSOR, refused(), in_mode("mode", "SPONSORSHIP".into())),
        request(92, SPONSOR, refused(), webhook(json!({ "reference": "order-7" }))),
        request(92, SPONSOR, refused(), in_mode("sponsorshipInfo", account("SAFE"))),
        request(
            92,
            SPONSOR,
            from_refused(&[
                ("callGasLimit", zero()),
                ("verificationGasLimit", zero()),
                ("preVerificationGas", zero()),
            ]),
            sponsored(),
        ),
        request(
            92,
            SPONSOR,
            from_refused(&[("callGasLimit", "29000000".into()), ("maxFeePerGas", "9000000000000".into())]),
            sponsored(),
        ),
    ];
    let in_hex = with(operation(), &[("maxFeePerGas", "0x77359400".into())]);
    requests.push(request(93, QUOTE, in_hex, quote_of(Some(USDC), &[])));
    let of_coinbase = with(operation(), &[("initCode", "0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a".into())]);
    requests.push(request(93, QUOTE, of_coinbase, quote_of(Some(USDC), &[])));
    let signed = with(operation(), &[("signature", "0x12".into())]);
    requests.push(request(93, SPONSOR, signed, sponsored()));
    for data in [batch, of_safe, modular("01"), modular("0001"), "8dd7712f".to_owned()] {
        requests.push(request(93, SPONSOR, calling(data), sponsored()));
    }
    for code in ["4e1dcf7ad4e460cfd30791ccc4f9c8a4f820ec67".to_owned(), "aA".to_owned(), "00".repeat(3_000)] {
        let code = format!("0x{code}");
        requests.push(request(93, SPONSOR, with(operation(), &[("initCode", code.into())]), sponsored()));
    }
    for token in [&by_its_ends, &other_digit, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"] {
        requests.push(request(93, SPONSOR, operation(), paid_in(token)));
    }
    // Enough for a fault in 1 of 200 requests, in a few rounds.
    requests.extend((0..10).map(|place| request(94 + place, SPONSOR, operation(), paid_in(UNSUPPORTED))));
    requests
}
