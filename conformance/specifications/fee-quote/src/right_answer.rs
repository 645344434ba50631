use std::time::Duration;

use paymaster_schemas::Mode;
use serde_json::{Value, json};

use crate::call::CallParts;
use paymaster_engine::message::request::Call;

/// An answer that is right in form. It has the members of every kind of result: rules read those of the method and mode alone.
pub(super) fn right_answer(call: &Call, now: Duration) -> Value {
    let mode = Mode::of(call.pair).name();
    let paymaster = format!("0x{}", "57".repeat(20));
    let quotes = call.tokens().quoted().into_iter().map(|token| {
        json!({
            "symbol": "USDC", "decimal": 6, "tokenAddress": token, "maxGasFee": 0.5, "maxGasFeeUSD": 0.5, "exchangeRate": 1_000_000,
            "premiumPercentage": "7", "validUntil": now.as_secs() + 60, "logoUrl": "https://example.org/logo.png",
        })
    });
    let result = json!({
        "MODE": mode, "mode": mode, "paymasterAddress": paymaster, "feeQuotes": quotes.collect::<Vec<_>>(), "unsupportedTokens": [],
        "paymasterAndData": format!("{paymaster}{}", "5a".repeat(65)), "preVerificationGas": "50000",
        "verificationGasLimit": 100_000, "callGasLimit": 50_000,
    });
    json!({ "jsonrpc": call.envelope["jsonrpc"], "id": call.id, "result": result })
}
