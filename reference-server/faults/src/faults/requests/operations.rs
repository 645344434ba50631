//! Faults of the request tables (sections 2.2 to 2.5) and of reading JSON (section 1): valid requests that are refused.

use alloy_primitives::U256;
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::faults::{Fault, fault};
use crate::injection::{GAS_LIMITS, RequestView, refuse, set};

const GAS: Fault = Fault::breaking("request.gas-fields-optional");
const LISTED: Fault = Fault::breaking("request.listed-fields-suffice");
const NONCE: Fault = Fault::breaking("request.nonce-uint256").depends_on("/params/0/nonce");
const INIT_CODE: Fault = Fault::breaking("request.init-code").depends_on("/params/0/initCode");
const CALL_DATA: Fault = Fault::breaking("request.call-data").depends_on("/params/0/callData");
const CALCULATE: Fault =
    Fault::breaking("request.calculate-gas-limits").depends_on("/params/1/calculateGasLimits");
const EXPIRY: Fault = Fault::breaking("request.expiry-duration").depends_on("/params/1/expiryDuration");
const WEBHOOK: Fault =
    Fault::breaking("request.webhook-data").depends_on("/params/1/sponsorshipInfo/webhookData");
const ACCOUNT: Fault = Fault::breaking("request.smart-account-info")
    .depends_on("/params/1/sponsorshipInfo/smartAccountInfo/name");
const TOKEN_LIST: Fault = Fault::breaking("request.token-list").depends_on("/params/1/tokenInfo/tokenList");

/// Length of call data that exceeds a small buffer, in bytes.
const LARGE_CALL_DATA: usize = 4096;
/// Number of tokens of a long list.
const LONG_TOKEN_LIST: usize = 8;
/// The expiry of the sample requests, in seconds.
const SAMPLE_EXPIRY: u64 = 300;
const NOTATION: Fault = Fault::breaking("request.json-notation");

pub(crate) const FAULTS: &[Fault] = &[
    fault(GAS, "gas-limits-required", "requires all three gas limits in token mode")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && missing_gas_fields(view) > 0),
    fault(GAS, "gas-limits-all-or-none", "requires all three gas limits in token mode or none")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && (1..3).contains(&missing_gas_fields(view))),
    fault(GAS, "call-gas-limit-required", "requires callGasLimit in token mode")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && view.lacks("callGasLimit"))
        .depends_on("/params/0/callGasLimit"),
    fault(GAS, "verification-gas-limit-required", "requires verificationGasLimit in token mode")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && view.lacks("verificationGasLimit"))
        .depends_on("/params/0/verificationGasLimit"),
    fault(GAS, "pre-verification-gas-required", "requires preVerificationGas in token mode")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && view.lacks("preVerificationGas"))
        .depends_on("/params/0/preVerificationGas"),
    fault(LISTED, "signature-required", "requires a signature in the operation")
        .refuses_at("/params/0/signature", |view| view.lacks("signature")),
    fault(LISTED, "signature-required-to-pay-in-tokens", "requires a signature to sponsor in token mode")
        .refuses_at("/params/0/signature", |view| view.is(kinds::SPONSOR_ERC20) && view.lacks("signature")),
    fault(LISTED, "paymaster-and-data-required", "requires paymasterAndData in the operation")
        .refuses_at("/params/0/paymasterAndData", |view| view.lacks("paymasterAndData")),
    fault(NONCE, "nonce-above-2-53-refused", "refuses nonces above 2^53")
        .refuses(|view| nonce_exceeds(view, 53)),
    fault(NONCE, "nonce-above-2-64-refused", "refuses nonces above 2^64")
        .refuses(|view| nonce_exceeds(view, 64)),
    fault(NONCE, "nonce-above-2-128-refused", "refuses nonces above 2^128")
        .refuses(|view| nonce_exceeds(view, 128)),
    fault(NONCE, "nonce-above-2-255-refused", "reads nonces as signed numbers and refuses 2^255 and above")
        .refuses(|view| nonce_exceeds(view, 255)),
    fault(NONCE, "nonce-zero-refused", "treats the nonce 0 as missing")
        .refuses(|view| view.amount("nonce").is_some_and(|nonce| nonce.is_zero())),
    fault(
        INIT_CODE,
        "coinbase-accounts-not-quoted",
        "refuses quotes in token mode for new accounts of Coinbase",
    )
    .refuses(|view| {
        let factory = "0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a";
        view.is(kinds::QUOTE_ERC20) && view.text("initCode").to_ascii_lowercase().starts_with(factory)
    })
    .also(&["quote.erc20-result"]),
    fault(INIT_CODE, "init-code-refused", "refuses an initCode that is not empty")
        .refuses(|view| view.has_init_code()),
    fault(INIT_CODE, "init-code-refused-in-token-mode", "refuses an initCode in token mode only")
        .refuses(|view| view.is_token_mode() && view.has_init_code()),
    fault(INIT_CODE, "init-code-refused-in-quotes", "refuses an initCode that is not empty, in quotes only")
        .refuses(|view| view.is_quote() && view.has_init_code()),
    fault(CALL_DATA, "call-data-large-refused", "refuses call data above 4096 bytes")
        .refuses(|view| view.byte_count("callData") > LARGE_CALL_DATA),
    fault(CALL_DATA, "call-data-empty-refused", "refuses empty call data")
        .refuses(|view| view.operation()["callData"] == "0x"),
    fault(CALCULATE, "calculate-gas-limits-false-refused", "refuses calculateGasLimits false")
        .refuses(|view| view.calculates(false)),
    fault(CALCULATE, "calculate-gas-limits-true-refused", "refuses calculateGasLimits true")
        .refuses(|view| view.calculates(true)),
    fault(
        CALCULATE,
        "calculate-gas-limits-false-refused-in-token-quotes",
        "refuses calculateGasLimits false in token quotes",
    )
    .refuses(|view| view.is(kinds::QUOTE_ERC20) && view.calculates(false)),
    fault(
        CALCULATE,
        "calculate-gas-limits-false-refused-when-sponsoring",
        "refuses calculateGasLimits false when sponsoring",
    )
    .refuses(|view| view.is(kinds::SPONSOR_SPONSORED) && view.calculates(false)),
    fault(EXPIRY, "expiry-duration-refused", "refuses expiryDuration").refuses(has_expiry),
    fault(EXPIRY, "expiry-duration-only-300", "refuses every expiryDuration but that of the sample requests")
        .refuses(|view| has_expiry(view) && view.mode_object()["expiryDuration"] != SAMPLE_EXPIRY),
    fault(WEBHOOK, "webhook-data-refused", "refuses webhookData that is not empty")
        .refuses(|view| view.webhook_data().next().is_some()),
    fault(WEBHOOK, "webhook-data-empty-refused", "refuses webhookData that is empty")
        .refuses(|view| view.is_sponsored_mode() && view.sponsorship_info()["webhookData"] == json!({})),
    fault(WEBHOOK, "webhook-data-strings-only", "refuses webhookData with a value that is not a string")
        .refuses(|view| view.webhook_data().any(|(_, value)| !value.is_string())),
    fault(WEBHOOK, "mode-of-webhook-data", "takes the first mode in the text, as that of webhookData")
        .on_request(|view, request| {
            let mode = &view.sponsorship_info()["webhookData"]["mode"];
            if mode.is_string() {
                request["params"][1]["mode"].clone_from(mode);
            }
        }),
    fault(WEBHOOK, "webhook-data-not-ascii-refused", "refuses webhookData with a text that is not ascii")
        .refuses(|view| {
            view.webhook_data().any(|(_, value)| value.as_str().is_some_and(|text| !text.is_ascii()))
        }),
    fault(ACCOUNT, "second-account-refused", "accepts the smart account BICONOMY and refuses every other")
        .refuses(|view| view.is_sponsored_mode() && has_other_account(view)),
    fault(ACCOUNT, "first-account-refused", "refuses the smart account BICONOMY")
        .refuses(|view| view.is_sponsored_mode() && account(view)["name"] == "BICONOMY"),
    fault(ACCOUNT, "account-refused-in-quotes", "refuses every smart account but BICONOMY, in quotes only")
        .refuses(|view| view.is(kinds::QUOTE_SPONSORED) && has_other_account(view)),
    fault(TOKEN_LIST, "token-list-long-refused", "refuses token lists of more than 8 tokens")
        .refuses(|view| view.token_list().len() > LONG_TOKEN_LIST),
    fault(TOKEN_LIST, "token-list-of-one-refused", "refuses token lists of one token")
        .refuses(|view| view.token_list().len() == 1),
    fault(TOKEN_LIST, "token-list-of-three-refused", "refuses token lists of more than two tokens")
        .refuses(|view| view.token_list().len() > 2)
        .also(&["quote.erc20-result", "error.unsupported-quote-is-none"]),
    fault(NOTATION, "member-order-judged", "requires params after method")
        .refuses(|view| position(view.request, "params") < position(view.request, "method")),
    fault(NOTATION, "id-last-refused", "refuses requests whose last member is the id").refuses(|view| {
        let members = view.request.as_object();
        members.and_then(|members| members.keys().next_back()).is_some_and(|last| last == "id")
    }),
    fault(NOTATION, "decimal-point-refused", "refuses an expiryDuration of 300.0")
        .refuses(|view| view.mode_object()["expiryDuration"].to_string().ends_with(".0")),
    fault(NOTATION, "exponent-refused", "refuses an expiryDuration of 300e0")
        .refuses(|view| view.mode_object()["expiryDuration"].to_string().contains('e')),
    fault(NOTATION, "operation-order-judged", "requires sender before callData in the operation")
        .refuses(|view| position(view.operation(), "callData") < position(view.operation(), "sender")),
    fault(NOTATION, "mode-first", "requires mode to be the first member of the mode object")
        .refuses(|view| position(view.mode_object(), "mode").is_some_and(|place| place > 0)),
    Fault::new("sponsor.sponsored-result", "some-lengths-refused", "refuses 1 of 64 requests by length")
        .refuses(|view| view.raw.len().is_multiple_of(64))
        .also(&["request.*", "answer.*", "json-rpc.*", "interoperability.*", "quote.*", "sponsor.*"]),
    fault(NOTATION, "line-breaks-refused", "refuses requests that are spread over several lines")
        .refuses(|view| view.raw.contains(&b'\n')),
    fault(NOTATION, "white-space-refused", "refuses white space after a colon or a comma")
        .refuses(|view| {
            let mut pairs = view.raw.windows(2);
            pairs.any(|pair| matches!(pair[0], b':' | b',') && pair[1].is_ascii_whitespace())
        })
        .also(&["request.headers"]),
    fault(NOTATION, "outer-white-space-refused", "refuses white space before and after the request")
        .refuses(|view| view.raw.trim_ascii().len() < view.raw.len()),
    fault(NOTATION, "escapes-not-decoded", "does not decode \\u escapes")
        .refuses(|view| view.raw.windows(2).any(|pair| pair == b"\\u"))
        .also(&["request.id-string"]),
    fault(NOTATION, "escaped-method-unknown", "answers an escaped method name with an error and the id 1")
        .on_answer(|_, answer| {
            refuse(answer, -32601, "unknown method");
            set(answer, "id", 1);
        })
        .when(|view| {
            let has = |text: &[u8]| view.raw.windows(text.len()).any(|part| part == text);
            view.pair().is_some() && has(b"\\u00") && !has(b"\"pm_")
        })
        .also(&[
            "answer.id",
            "endpoint.both-methods",
            "error.*",
            "json-rpc.*",
            "quote.*",
            "request.*",
            "sponsor.*",
        ]),
];

fn missing_gas_fields(view: &RequestView<'_>) -> usize {
    GAS_LIMITS.iter().filter(|member| view.lacks(member)).count()
}

fn nonce_exceeds(view: &RequestView<'_>, bits: usize) -> bool {
    view.amount("nonce").is_some_and(|nonce| nonce >= U256::ONE << bits)
}

fn has_expiry(view: &RequestView<'_>) -> bool {
    view.is(kinds::SPONSOR_SPONSORED) && !view.omits("expiryDuration")
}

fn has_other_account(view: &RequestView<'_>) -> bool {
    account(view)["name"].as_str().is_some_and(|name| name != "BICONOMY")
}

fn account<'a>(view: &'a RequestView<'_>) -> &'a Value {
    &view.sponsorship_info()["smartAccountInfo"]
}

fn position(object: &Value, member: &str) -> Option<usize> {
    object.as_object()?.keys().position(|key| key == member)
}
