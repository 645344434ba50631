//! Faults of the request tables: valid requests that are refused (sections 2.2 to 2.5).

use alloy_primitives::U256;
use paymaster_schemas::Pair;
use serde_json::Value;

use crate::faults::Fault;
use crate::injection::RequestView;

const GAS: &str = "request.gas-fields-optional";
const LISTED: &str = "request.listed-fields-suffice";
const NONCE: &str = "request.nonce-uint256";
const INIT_CODE: &str = "request.init-code";
const CALL_DATA: &str = "request.call-data";
const CALCULATE: &str = "request.calculate-gas-limits";
const EXPIRY: &str = "request.expiry-duration";
const WEBHOOK: &str = "request.webhook-data";
const ACCOUNT: &str = "request.smart-account-info";
const TOKEN_LIST: &str = "request.token-list";

/// Length of call data that exceeds a small buffer, in bytes.
const LARGE_CALL_DATA: usize = 4096;
/// Number of tokens of a long list.
const LONG_TOKEN_LIST: usize = 8;
/// The expiry of the sample requests, in seconds.
const SAMPLE_EXPIRY: u64 = 300;

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::refusal(GAS, "gas-limits-required", "requires all three gas limits in token mode", |view| {
        view.is(Pair::SPONSOR_ERC20) && missing_gas_fields(view) > 0
    }),
    Fault::refusal(
        GAS,
        "gas-limits-all-or-none",
        "requires all three gas limits in token mode or none",
        |view| view.is(Pair::SPONSOR_ERC20) && (1..3).contains(&missing_gas_fields(view)),
    ),
    Fault::refusal(GAS, "call-gas-limit-required", "requires callGasLimit in token mode", |view| {
        view.is(Pair::SPONSOR_ERC20) && lacks(view, "callGasLimit")
    })
    .depends_on("/params/0/callGasLimit"),
    Fault::refusal(
        GAS,
        "verification-gas-limit-required",
        "requires verificationGasLimit in token mode",
        |view| view.is(Pair::SPONSOR_ERC20) && lacks(view, "verificationGasLimit"),
    )
    .depends_on("/params/0/verificationGasLimit"),
    Fault::refusal(
        GAS,
        "pre-verification-gas-required",
        "requires preVerificationGas in token mode",
        |view| view.is(Pair::SPONSOR_ERC20) && lacks(view, "preVerificationGas"),
    )
    .depends_on("/params/0/preVerificationGas"),
    Fault::refusal(LISTED, "signature-required", "requires a signature in the operation", |view| {
        lacks(view, "signature")
    })
    .depends_on("/params/0/signature"),
    Fault::refusal(
        LISTED,
        "signature-required-to-pay-in-tokens",
        "requires a signature when sponsoring in token mode",
        |view| view.is(Pair::SPONSOR_ERC20) && lacks(view, "signature"),
    )
    .depends_on("/params/0/signature"),
    Fault::refusal(
        LISTED,
        "paymaster-and-data-required",
        "requires paymasterAndData in the operation",
        |view| lacks(view, "paymasterAndData"),
    )
    .depends_on("/params/0/paymasterAndData"),
    Fault::refusal(NONCE, "nonce-above-2-53-refused", "refuses nonces above 2^53", |view| {
        nonce_exceeds(view, 53)
    })
    .depends_on("/params/0/nonce"),
    Fault::refusal(NONCE, "nonce-above-2-64-refused", "refuses nonces above 2^64", |view| {
        nonce_exceeds(view, 64)
    })
    .depends_on("/params/0/nonce"),
    Fault::refusal(NONCE, "nonce-above-2-128-refused", "refuses nonces above 2^128", |view| {
        nonce_exceeds(view, 128)
    })
    .depends_on("/params/0/nonce"),
    Fault::refusal(
        NONCE,
        "nonce-above-2-255-refused",
        "reads nonces as signed numbers and refuses those of at least 2^255",
        |view| nonce_exceeds(view, 255),
    )
    .depends_on("/params/0/nonce"),
    Fault::refusal(NONCE, "nonce-zero-refused", "treats the nonce 0 as missing", |view| {
        view.amount("nonce").is_some_and(|nonce| nonce.is_zero())
    })
    .depends_on("/params/0/nonce"),
    Fault::refusal(INIT_CODE, "init-code-refused", "refuses an initCode that is not empty", |view| {
        view.has_init_code()
    })
    .depends_on("/params/0/initCode"),
    Fault::refusal(
        INIT_CODE,
        "init-code-refused-in-token-mode",
        "refuses an initCode that is not empty, in token mode only",
        |view| view.is_token_mode() && view.has_init_code(),
    )
    .depends_on("/params/0/initCode"),
    Fault::refusal(
        INIT_CODE,
        "init-code-refused-in-quotes",
        "refuses an initCode that is not empty, in quotes only",
        |view| view.is_quote() && view.has_init_code(),
    )
    .depends_on("/params/0/initCode"),
    Fault::refusal(CALL_DATA, "call-data-large-refused", "refuses call data above 4096 bytes", |view| {
        view.byte_count("callData") > LARGE_CALL_DATA
    })
    .depends_on("/params/0/callData"),
    Fault::refusal(CALL_DATA, "call-data-empty-refused", "refuses empty call data", |view| {
        view.operation()["callData"] == "0x"
    })
    .depends_on("/params/0/callData"),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused",
        "refuses calculateGasLimits false",
        |view| view.calculates(false),
    )
    .depends_on("/params/1/calculateGasLimits"),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-true-refused",
        "refuses calculateGasLimits true",
        |view| view.calculates(true),
    )
    .depends_on("/params/1/calculateGasLimits"),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused-in-token-quotes",
        "refuses calculateGasLimits false, in token quotes only",
        |view| view.is(Pair::QUOTE_ERC20) && view.calculates(false),
    )
    .depends_on("/params/1/calculateGasLimits"),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused-when-sponsoring",
        "refuses calculateGasLimits false when sponsoring in sponsored mode only",
        |view| view.is(Pair::SPONSOR_SPONSORED) && view.calculates(false),
    )
    .depends_on("/params/1/calculateGasLimits"),
    Fault::refusal(EXPIRY, "expiry-duration-refused", "refuses expiryDuration", |view| {
        view.is(Pair::SPONSOR_SPONSORED) && view.mode_object().get("expiryDuration").is_some()
    })
    .depends_on("/params/1/expiryDuration"),
    Fault::refusal(
        EXPIRY,
        "expiry-duration-only-300",
        "refuses every expiryDuration except that of the sample requests",
        |view| {
            let expiry = view.mode_object().get("expiryDuration");
            view.is(Pair::SPONSOR_SPONSORED)
                && expiry.is_some_and(|expiry| expiry.as_u64() != Some(SAMPLE_EXPIRY))
        },
    )
    .depends_on("/params/1/expiryDuration"),
    Fault::refusal(WEBHOOK, "webhook-data-refused", "refuses webhookData that is not empty", |view| {
        webhook_data(view).next().is_some()
    })
    .depends_on("/params/1/sponsorshipInfo/webhookData"),
    Fault::refusal(WEBHOOK, "webhook-data-empty-refused", "refuses webhookData that is empty", |view| {
        view.is_sponsored_mode()
            && view.sponsorship_info()["webhookData"].is_object()
            && webhook_data(view).next().is_none()
    })
    .depends_on("/params/1/sponsorshipInfo/webhookData"),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-strings-only",
        "refuses webhookData with a value that is not a string",
        |view| webhook_data(view).any(|value| !value.is_string()),
    )
    .depends_on("/params/1/sponsorshipInfo/webhookData"),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-not-ascii-refused",
        "refuses webhookData with a text that is not ascii",
        |view| webhook_data(view).any(|value| value.as_str().is_some_and(|text| !text.is_ascii())),
    )
    .depends_on("/params/1/sponsorshipInfo/webhookData"),
    Fault::refusal(
        ACCOUNT,
        "second-account-refused",
        "accepts the smart account BICONOMY and refuses every other",
        |view| {
            let name = account(view)["name"].as_str();
            view.is_sponsored_mode() && name.is_some_and(|name| name != "BICONOMY")
        },
    )
    .depends_on("/params/1/sponsorshipInfo/smartAccountInfo/name"),
    Fault::refusal(ACCOUNT, "first-account-refused", "refuses the smart account BICONOMY", |view| {
        view.is_sponsored_mode() && account(view)["name"] == "BICONOMY"
    })
    .depends_on("/params/1/sponsorshipInfo/smartAccountInfo/name"),
    Fault::refusal(
        ACCOUNT,
        "account-refused-in-quotes",
        "refuses every smart account except BICONOMY, in quotes only",
        |view| {
            let name = account(view)["name"].as_str();
            view.is(Pair::QUOTE_SPONSORED) && name.is_some_and(|name| name != "BICONOMY")
        },
    )
    .depends_on("/params/1/sponsorshipInfo/smartAccountInfo/name"),
    Fault::refusal(
        TOKEN_LIST,
        "token-list-long-refused",
        "refuses token lists of more than 8 tokens",
        |view| view.token_list().len() > LONG_TOKEN_LIST,
    )
    .depends_on("/params/1/tokenInfo/tokenList"),
    Fault::refusal(TOKEN_LIST, "token-list-of-one-refused", "refuses token lists of one token", |view| {
        view.token_list().len() == 1
    })
    .depends_on("/params/1/tokenInfo/tokenList"),
    Fault::refusal(
        TOKEN_LIST,
        "token-list-of-three-refused",
        "refuses token lists of more than two tokens",
        |view| view.token_list().len() > 2,
    )
    .also(&["quote.erc20-result", "error.unsupported-quote-is-none"])
    .depends_on("/params/1/tokenInfo/tokenList"),
];

fn lacks(view: &RequestView<'_>, member: &str) -> bool {
    view.operation().get(member).is_none()
}

fn missing_gas_fields(view: &RequestView<'_>) -> usize {
    ["callGasLimit", "verificationGasLimit", "preVerificationGas"]
        .into_iter()
        .filter(|member| lacks(view, member))
        .count()
}

fn nonce_exceeds(view: &RequestView<'_>, bits: usize) -> bool {
    view.amount("nonce").is_some_and(|nonce| nonce >= U256::ONE << bits)
}

fn account<'a>(view: &'a RequestView<'_>) -> &'a Value {
    &view.sponsorship_info()["smartAccountInfo"]
}

fn webhook_data<'a>(view: &'a RequestView<'_>) -> impl Iterator<Item = &'a Value> {
    let data = view.sponsorship_info()["webhookData"].as_object();
    data.into_iter().filter(|_| view.is_sponsored_mode()).flat_map(serde_json::Map::values)
}
