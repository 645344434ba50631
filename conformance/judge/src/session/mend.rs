//! Answers with the listed failures mended: a right value stands in the place of each wrong one. A rule that judges the mended answer, and
//! not the one that came, waits for the listed failure alone.

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use paymaster_exchange::{Exchange, Response};
use serde_json::{Value, json};

use paymaster_schemas::Mode;

use crate::{
    message::request::{Call, ParsedRequest},
    verdict::finding::without_indices,
};

/// The exchange with right values at these places of the answer; none for a request that is no valid call.
pub(super) fn mended(exchange: &Exchange, pointers: &[&str]) -> Option<Exchange> {
    let request = ParsedRequest::of(&exchange.request);
    let call = request.valid_call()?;
    let now = exchange.received.and_then(|now| now.duration_since(UNIX_EPOCH).ok());
    let right = right_answer(call, now.unwrap_or_default());
    let response = exchange.outcome.as_ref().ok();
    let body = response.and_then(|response| serde_json::from_slice(&response.body).ok());
    let mut answer: Value = body.unwrap_or_else(|| right.clone());
    for pointer in pointers {
        mend(&mut answer, pointer, &right);
    }
    Some(Exchange {
        outcome: Ok(Response {
            status: 200,
            headers: response.map_or_else(Vec::new, |response| response.headers.clone()),
            body: Bytes::from(answer.to_string()),
        }),
        ..exchange.clone()
    })
}

/// Mends one place. An answer that is wrong as a whole, or an error in the place of a result, becomes the right answer.
fn mend(answer: &mut Value, pointer: &str, right: &Value) {
    let value = right.pointer(&without_indices(pointer).replace('*', "0"));
    let parent = pointer.rsplit_once('/').map(|(parent, name)| (answer.pointer_mut(parent), name));
    match (value, parent) {
        (Some(value), Some((Some(Value::Object(object)), name))) if name != "result" => {
            object.insert(name.to_owned(), value.clone());
        }
        // The form of an error.
        (None, Some(_)) if pointer.starts_with("/error/") => {}
        _ => answer.clone_from(right),
    }
}

/// An answer that is right in form. It has the members of every kind of result: rules read those of the method and mode alone.
fn right_answer(call: &Call, now: Duration) -> Value {
    let mode = Mode::of(call.pair).name();
    let paymaster = format!("0x{}", "57".repeat(20));
    let quotes = call.tokens.quoted().into_iter().map(|token| {
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
