//! Requests that must be served and are refused (sections 2.2 to 2.5).

use alloy_primitives::U256;
use paymaster_schemas::Pair;
use serde_json::Value;

use super::Fault;
use crate::deviations::Asked;

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

/// Call data that a service with a small buffer would not take, in bytes.
const LARGE_CALL_DATA: usize = 4096;
/// More tokens than a wallet shows at a time.
const LONG_TOKEN_LIST: usize = 8;
/// The expiry of the samples, in seconds.
const SAMPLE_EXPIRY: u64 = 300;

pub(super) const FAULTS: &[Fault] = &[
    Fault::refusal(
        GAS,
        "gas-limits-required",
        "wants all three gas limits in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20) && missing_gas_fields(asked) > 0,
    ),
    Fault::refusal(
        GAS,
        "gas-limits-all-or-none",
        "wants all three gas limits in token mode or none",
        |asked| asked.is(Pair::SPONSOR_ERC20) && (1..3).contains(&missing_gas_fields(asked)),
    ),
    Fault::refusal(
        GAS,
        "call-gas-limit-required",
        "wants callGasLimit in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20) && lacks(asked, "callGasLimit"),
    ),
    Fault::refusal(
        GAS,
        "verification-gas-limit-required",
        "wants verificationGasLimit in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20) && lacks(asked, "verificationGasLimit"),
    ),
    Fault::refusal(
        GAS,
        "pre-verification-gas-required",
        "wants preVerificationGas in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20) && lacks(asked, "preVerificationGas"),
    ),
    Fault::refusal(
        LISTED,
        "signature-required",
        "wants a signature in the operation",
        |asked| lacks(asked, "signature"),
    ),
    Fault::refusal(
        LISTED,
        "signature-required-to-pay-in-tokens",
        "wants a signature when sponsoring in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20) && lacks(asked, "signature"),
    ),
    Fault::refusal(
        LISTED,
        "paymaster-and-data-required",
        "wants paymasterAndData in the operation",
        |asked| lacks(asked, "paymasterAndData"),
    ),
    Fault::refusal(
        NONCE,
        "nonce-above-2-53-refused",
        "refuses nonces above 2^53",
        |asked| nonce_exceeds(asked, 53),
    ),
    Fault::refusal(
        NONCE,
        "nonce-above-2-64-refused",
        "refuses nonces above 2^64",
        |asked| nonce_exceeds(asked, 64),
    ),
    Fault::refusal(
        NONCE,
        "nonce-above-2-128-refused",
        "refuses nonces above 2^128",
        |asked| nonce_exceeds(asked, 128),
    ),
    Fault::refusal(
        NONCE,
        "nonce-above-2-255-refused",
        "reads nonces as signed numbers and refuses those from 2^255",
        |asked| nonce_exceeds(asked, 255),
    ),
    Fault::refusal(
        NONCE,
        "nonce-zero-refused",
        "takes the nonce 0 for none",
        |asked| asked.amount("nonce").is_some_and(|nonce| nonce.is_zero()),
    ),
    Fault::refusal(
        INIT_CODE,
        "init-code-refused",
        "refuses an initCode that is not empty",
        |asked| asked.has_init_code(),
    ),
    Fault::refusal(
        INIT_CODE,
        "init-code-refused-in-token-mode",
        "refuses an initCode that is not empty, in token mode only",
        |asked| asked.is_token_mode() && asked.has_init_code(),
    ),
    Fault::refusal(
        INIT_CODE,
        "init-code-refused-in-quotes",
        "refuses an initCode that is not empty, in quotes only",
        |asked| asked.is_quote() && asked.has_init_code(),
    ),
    Fault::refusal(
        CALL_DATA,
        "call-data-large-refused",
        "refuses call data above 4096 bytes",
        |asked| asked.byte_count("callData") > LARGE_CALL_DATA,
    ),
    Fault::refusal(
        CALL_DATA,
        "call-data-empty-refused",
        "refuses empty call data",
        |asked| asked.operation()["callData"] == "0x",
    ),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused",
        "refuses calculateGasLimits false",
        |asked| asked.calculates(false),
    ),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-true-refused",
        "refuses calculateGasLimits true",
        |asked| asked.calculates(true),
    ),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused-in-token-quotes",
        "refuses calculateGasLimits false, in token quotes only",
        |asked| asked.is(Pair::QUOTE_ERC20) && asked.calculates(false),
    ),
    Fault::refusal(
        CALCULATE,
        "calculate-gas-limits-false-refused-when-sponsoring",
        "refuses calculateGasLimits false when sponsoring in sponsored mode only",
        |asked| asked.is(Pair::SPONSOR_SPONSORED) && asked.calculates(false),
    ),
    Fault::refusal(
        EXPIRY,
        "expiry-duration-refused",
        "refuses expiryDuration",
        |asked| asked.is(Pair::SPONSOR_SPONSORED) && asked.mode_object().get("expiryDuration").is_some(),
    ),
    Fault::refusal(
        EXPIRY,
        "expiry-duration-only-300",
        "refuses every expiryDuration but that of the samples",
        |asked| {
            let expiry = asked.mode_object().get("expiryDuration");
            asked.is(Pair::SPONSOR_SPONSORED)
                && expiry.is_some_and(|expiry| expiry.as_u64() != Some(SAMPLE_EXPIRY))
        },
    ),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-refused",
        "refuses webhookData that is not empty",
        |asked| webhook_data(asked).next().is_some(),
    ),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-empty-refused",
        "refuses webhookData that is empty",
        |asked| {
            asked.is_sponsored_mode()
                && asked.sponsorship_info()["webhookData"].is_object()
                && webhook_data(asked).next().is_none()
        },
    ),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-strings-only",
        "refuses webhookData with a value that is not a string",
        |asked| webhook_data(asked).any(|value| !value.is_string()),
    ),
    Fault::refusal(
        WEBHOOK,
        "webhook-data-not-ascii-refused",
        "refuses webhookData with a text that is not ascii",
        |asked| webhook_data(asked).any(|value| value.as_str().is_some_and(|text| !text.is_ascii())),
    ),
    Fault::refusal(
        ACCOUNT,
        "second-account-refused",
        "knows one smart account, BICONOMY, and refuses every other",
        |asked| {
            let name = account(asked)["name"].as_str();
            asked.is_sponsored_mode() && name.is_some_and(|name| name != "BICONOMY")
        },
    ),
    Fault::refusal(
        ACCOUNT,
        "first-account-refused",
        "refuses the smart account BICONOMY",
        |asked| asked.is_sponsored_mode() && account(asked)["name"] == "BICONOMY",
    ),
    Fault::refusal(
        ACCOUNT,
        "account-refused-in-quotes",
        "refuses every smart account but BICONOMY, in quotes only",
        |asked| {
            let name = account(asked)["name"].as_str();
            asked.is(Pair::QUOTE_SPONSORED) && name.is_some_and(|name| name != "BICONOMY")
        },
    ),
    Fault::refusal(
        TOKEN_LIST,
        "token-list-long-refused",
        "refuses token lists of more than 8 tokens",
        |asked| asked.token_list().len() > LONG_TOKEN_LIST,
    ),
    Fault::refusal(
        TOKEN_LIST,
        "token-list-of-one-refused",
        "refuses token lists of one token",
        |asked| asked.token_list().len() == 1,
    ),
    Fault::refusal(
        TOKEN_LIST,
        "token-list-of-three-refused",
        "refuses token lists of more than two tokens",
        |asked| asked.token_list().len() > 2,
    )
    .also(&["quote.erc20-result", "error.unsupported-quote-is-none"]),
];

fn lacks(asked: &Asked<'_>, member: &str) -> bool {
    asked.operation().get(member).is_none()
}

fn missing_gas_fields(asked: &Asked<'_>) -> usize {
    ["callGasLimit", "verificationGasLimit", "preVerificationGas"]
        .into_iter()
        .filter(|member| lacks(asked, member))
        .count()
}

fn nonce_exceeds(asked: &Asked<'_>, bits: usize) -> bool {
    asked
        .amount("nonce")
        .is_some_and(|nonce| nonce >= U256::ONE << bits)
}

fn account<'a>(asked: &'a Asked<'_>) -> &'a Value {
    &asked.sponsorship_info()["smartAccountInfo"]
}

fn webhook_data<'a>(asked: &'a Asked<'_>) -> impl Iterator<Item = &'a Value> {
    let data = asked.sponsorship_info()["webhookData"].as_object();
    data.into_iter()
        .filter(|_| asked.is_sponsored_mode())
        .flat_map(serde_json::Map::values)
}
