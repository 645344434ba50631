//! Variants with limits. Section 8 shows none, so a server may refuse what is larger than real clients send.

use alloy_primitives::U256;

use super::{Variant, variant};
use crate::injection::{GAS_LIMITS, RequestView, set};

/// Wei in 10,000 gwei.
const HIGH_FEE: u64 = 10_000_000_000_000;

pub(super) const VARIANTS: &[Variant] = &[
    variant("large-call-data-refused", "refuses call data and init code above 4096 bytes with an error")
        .refuses(has_large_data),
    variant("large-call-data-refused-by-http", "refuses call data and init code above 4096 bytes with 413")
        .on_http(|_, response| response.refuse(413, "request entity too large"))
        .when(has_large_data),
    variant("parts-beyond-ordinary-refused", "refuses every part that is one beyond its ordinary size")
        .refuses(|view| {
            let data = view.sponsorship_info()["webhookData"].to_string();
            has_large_data(view)
                || view.id_string().is_some_and(|id| id.len() > 64)
                || view.amount("callGasLimit").is_some_and(|gas| gas > U256::from(30_000_000))
                || view.amount("maxFeePerGas").is_some_and(|fee| fee > U256::from(HIGH_FEE))
                || view.mode_object()["expiryDuration"].as_u64().is_some_and(|seconds| seconds > 3_600)
                || data.len() > 256
        }),
    variant("long-token-lists-refused", "refuses lists of more than 10 tokens")
        .refuses(|view| view.token_list().len() > 10),
    variant("repeated-tokens-refused", "refuses lists that name a token twice")
        .refuses(|view| view.token_list().iter().any(|token| view.times_listed(token) > 1)),
    variant("long-ids-refused", "refuses ids of more than 64 letters")
        .refuses(|view| view.id_string().is_some_and(|id| id.chars().count() > 64)),
    variant("ids-of-other-scripts-refused", "refuses ids that are not printable ASCII").refuses(|view| {
        view.id_string().is_some_and(|id| !id.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
    }),
    variant("large-ids-refused", "refuses integer ids above 2^53").refuses(|view| view.has_large_id()),
    variant("large-ids-rounded", "rounds integer ids above 2^53, as JSON parsers with doubles do")
        .on_answer(|view, answer| set(answer, "id", view.rounded_id()))
        .when(|view| view.has_large_id())
        .warns(&["json-rpc.large-ids"]),
    variant("gas-above-a-block-refused", "refuses gas limits above 30 million")
        .refuses(|view| GAS_LIMITS.iter().any(|name| view.amount(name) > Some(U256::from(30_000_000)))),
    variant("gas-of-zero-refused", "refuses gas limits of 0")
        .refuses(|view| GAS_LIMITS.iter().any(|name| view.amount(name) == Some(U256::ZERO))),
    variant("high-fees-refused", "refuses fees of 0 and above 10,000 gwei").refuses(|view| {
        view.amount("maxFeePerGas").is_some_and(|fee| fee.is_zero() || fee > U256::from(HIGH_FEE))
    }),
    variant("priority-above-fee-refused", "refuses a maxPriorityFeePerGas above maxFeePerGas")
        .refuses(|view| view.amount("maxPriorityFeePerGas") > view.amount("maxFeePerGas")),
    variant("unusual-durations-refused", "refuses durations below a minute and above an hour").refuses(
        |view| {
            let duration = &view.mode_object()["expiryDuration"];
            duration.is_number()
                && !duration.as_f64().is_some_and(|seconds| (60.0..=3_600.0).contains(&seconds))
        },
    ),
    variant("large-webhook-data-refused", "refuses webhookData above 256 bytes and of more than four levels")
        .refuses(|view| {
            let data = &view.sponsorship_info()["webhookData"];
            data.to_string().len() > 256 || depth(data) > 4
        }),
];

fn has_large_data(view: &RequestView<'_>) -> bool {
    ["callData", "initCode"].iter().any(|name| view.byte_count(name) > 4_096)
}

fn depth(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}
