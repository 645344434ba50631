//! What a service may refuse, because the specification disagrees with itself or does not say that it must be served.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::Variant;
use crate::deviations::{Act, Asked};

pub(super) const VARIANTS: &[Variant] = &[
    Variant::refusal(
        "sponsorship-refused",
        "knows the mode SPONSORED, not SPONSORSHIP",
        |asked| asked.mode_object()["mode"] == "SPONSORSHIP",
    ),
    Variant::refusal(
        "sponsored-refused",
        "knows the mode SPONSORSHIP, not SPONSORED",
        |asked| asked.mode_object()["mode"] == "SPONSORED",
    ),
    Variant::refusal(
        "token-address-refused",
        "knows feeTokenAddress, not tokenAddress",
        |asked| asked.is(Pair::SPONSOR_ERC20) && asked.token_info().get("feeTokenAddress").is_none(),
    ),
    Variant::refusal(
        "fee-token-address-refused",
        "knows tokenAddress, not feeTokenAddress",
        |asked| asked.is(Pair::SPONSOR_ERC20) && asked.token_info().get("tokenAddress").is_none(),
    ),
    Variant::refusal("version-2-0-0-refused", "knows jsonrpc 2.0, not 2.0.0", |asked| {
        asked.request["jsonrpc"] == "2.0.0"
    }),
    Variant::refusal("version-2-0-refused", "knows jsonrpc 2.0.0, not 2.0", |asked| {
        asked.request["jsonrpc"] == "2.0"
    }),
    Variant::refusal(
        "hex-amounts-refused",
        "reads amounts as decimal strings only",
        |asked| amounts(asked).any(|amount| amount.as_str().is_none_or(|text| text.starts_with("0x"))),
    ),
    Variant::refusal(
        "decimal-amounts-refused",
        "reads amounts as hex quantities only",
        |asked| amounts(asked).any(|amount| amount.as_str().is_none_or(|text| !text.starts_with("0x"))),
    ),
    Variant::refusal(
        "number-amounts-refused",
        "reads amounts as strings only",
        |asked| amounts(asked).any(Value::is_number),
    ),
    Variant::refusal(
        "unlisted-members-refused",
        "refuses members that the tables do not list",
        has_unlisted,
    ),
    Variant::refusal(
        "fractional-ids-refused",
        "refuses ids that have a fraction, as JSON-RPC advises clients not to use",
        |asked| asked.id_number().is_some_and(|digits| digits.contains('.')),
    ),
    Variant::refusal(
        "quote-without-mode-refused",
        "wants a mode in quotes too",
        |asked| asked.mode_object().get("mode").is_none(),
    ),
    Variant::refusal(
        "all-nine-members-required",
        "wants every member of the operation in sponsored mode",
        |asked| {
            asked.is_sponsored_mode()
                && AMOUNTS
                    .iter()
                    .chain(&["initCode"])
                    .any(|member| asked.operation().get(member).is_none())
        },
    ),
    Variant::refusal(
        "gas-limits-required-in-quotes",
        "wants every member of the operation in quotes",
        |asked| {
            asked.is_quote()
                && AMOUNTS
                    .iter()
                    .chain(&["initCode"])
                    .any(|member| asked.operation().get(member).is_none())
        },
    ),
    Variant::refusal(
        "empty-token-list-refused",
        "refuses quotes that name no token",
        |asked| asked.is(Pair::QUOTE_ERC20) && asked.preferred().is_none() && asked.token_list().is_empty(),
    ),
    Variant::of(
        "malformed-params-served",
        "serves wrong parameters as if they were right",
        Act::Answer(|_, answer| {
            if answer.get("error").is_some_and(|error| error["code"] == -32602) {
                answer.shift_remove("error");
                let result = json!({
                    "MODE": "SPONSORED",
                    "mode": "SPONSORED",
                    "paymasterAndData": "0x",
                    "preVerificationGas": "45000",
                    "verificationGasLimit": 120_000,
                    "callGasLimit": 60_000,
                });
                answer.insert("result".to_owned(), result);
            }
        }),
    )
    .when(|asked| asked.is_sponsored_mode())
    .warns(&["json-rpc.invalid-params"]),
    Variant::of(
        "batches-refused",
        "does not serve batches",
        Act::Whole(|asked, answer| {
            if asked.request.as_array().is_some_and(|batch| !batch.is_empty()) {
                *answer = Some(json!({
                    "jsonrpc": "2.0",
                    "id": null,
                    "error": { "code": -32600, "message": "no batches" },
                }));
            }
        }),
    )
    .warns(&["json-rpc.batch", "json-rpc.notification"]),
];

const AMOUNTS: [&str; 6] = [
    "nonce",
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
];

fn amounts<'a>(asked: &'a Asked<'_>) -> impl Iterator<Item = &'a Value> {
    AMOUNTS.iter().filter_map(|member| asked.operation().get(member))
}

fn has_unlisted(asked: &Asked<'_>) -> bool {
    const MODE_MEMBERS: [&str; 5] = [
        "mode",
        "calculateGasLimits",
        "expiryDuration",
        "sponsorshipInfo",
        "tokenInfo",
    ];
    const OTHERS: [&str; 3] = ["sender", "initCode", "callData"];
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object();
        object
            .into_iter()
            .flat_map(|object| object.keys().cloned())
            .collect()
    };
    let listed = |key: &String| AMOUNTS.contains(&key.as_str()) || OTHERS.contains(&key.as_str());
    keys(asked.operation()).iter().any(|key| !listed(key))
        || keys(asked.mode_object())
            .iter()
            .any(|key| !MODE_MEMBERS.contains(&key.as_str()))
}
