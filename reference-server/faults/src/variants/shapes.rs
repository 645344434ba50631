//! Variants of the JSON of a response: additional members, another order, other notations of the same text.

use paymaster_schemas::kinds;
use serde_json::{Number, Value, json};

use super::{Variant, variant};
use crate::injection::{RequestView, change_strings, quotes, remove, rename_address, reverse_members, set};

pub(super) const VARIANTS: &[Variant] = &[
    variant("extra-members-in-answer", "answers have additional members").on_answer(|_, answer| {
        set(answer, "requestId", "7f3b");
        set(answer, "meta", json!({ "node": 3, "cached": false, "data": null }));
    }),
    variant("extra-members-in-result", "results have additional members").on_result(|_, result| {
        set(result, "paymasterVerificationGasLimit", 35_000);
        set(result, "strategy", json!(["default", { "id": null }]));
    }),
    variant("extra-members-in-quotes", "quotes have additional members").on_result(|_, result| {
        for quote in quotes(result) {
            set(quote, "name", "A token");
            set(quote, "verified", true);
        }
    }),
    variant("members-of-both-modes", "results have the members of the other mode too, and these are empty")
        .on_result(|_, result| {
            for (member, empty) in [
                ("paymasterAndData", json!("")),
                ("preVerificationGas", json!("")),
                ("verificationGasLimit", json!(0)),
                ("callGasLimit", json!(0)),
                ("paymasterAddress", json!("")),
                ("feeQuotes", json!([])),
                ("unsupportedTokens", json!([])),
            ] {
                result.entry(member).or_insert(empty);
            }
        }),
    variant("ids-with-decimal-point", "echoes the id 7 as 7.0").on_answer(|_, answer| {
        if let Some(id) = answer.get("id").and_then(Value::as_u64).filter(|id| *id <= 1 << 53) {
            set(answer, "id", format!("{id}.0").parse::<Number>().map_or(json!(id), Value::Number));
        }
    }),
    variant("members-reversed", "members come in reverse order").on_reply(|_, answer| {
        if let Some(answer) = answer {
            reverse_members(answer);
        }
    }),
    variant("mode-member-absent", "has MODE without mode")
        .on_result(|_, result| remove(result, "mode"))
        .warns(&["interoperability.mode-member"]),
    variant("pretty-printed", "answers are spread over lines").on_text(|_, text| {
        if let Ok(value) = serde_json::from_slice::<Value>(text)
            && let Ok(pretty) = serde_json::to_vec_pretty(&value)
        {
            *text = pretty;
        }
    }),
    variant("outer-white-space", "has white space before and after the JSON").on_text(|_, text| {
        text.splice(0..0, *b" \r\n\t");
        text.extend_from_slice(b"\r\n \t\n");
    }),
    variant("letters-escaped", "the letters of strings and names are written as \\u escapes")
        .on_text(|_, text| *text = escaped(text)),
    variant("solidus-escaped", "slashes are escaped").on_text(|_, text| {
        *text =
            text.iter().flat_map(|byte| if *byte == b'/' { b"\\/".to_vec() } else { vec![*byte] }).collect();
    }),
    variant("addresses-lower-case", "addresses are in lower case")
        .on_result(|_, result| rename_address(result, str::to_ascii_lowercase)),
    variant("addresses-upper-case", "addresses are in upper case")
        .on_result(|_, result| rename_address(result, upper_case)),
    variant("addresses-checksummed", "addresses are in the mixed case of ERC-55")
        .on_result(|_, result| rename_address(result, checksummed)),
    variant("unsupported-tokens-lower-case", "unsupported tokens are in lower case")
        .on_result(|_, result| change_strings(result, "unsupportedTokens", str::to_ascii_lowercase)),
    variant("data-upper-case", "paymasterAndData has digits in upper case")
        .on_result(|_, result| change_strings(result, "paymasterAndData", upper_case)),
    variant("data-random", "paymasterAndData differs in content and length each time")
        .warns(&["plausibility.token-data", "on-chain.accepted"])
        .on_result(|view, result| replace_data(result, &pseudo_random_data(view))),
    variant("data-short", "paymasterAndData is an address and one byte")
        .warns(&["plausibility.token-data", "on-chain.accepted"])
        .on_result(|_, result| replace_data(result, "0x00000f79b7faf42eebadba19acc07cd08af4478900")),
    variant("data-long", "paymasterAndData has 4096 bytes")
        .warns(&[
            "plausibility.token-data",
            "plausibility.token-data-differs",
            "plausibility.token-data-of-token",
            "on-chain.accepted",
        ])
        .on_result(|_, result| replace_data(result, &format!("0x{}", "5a".repeat(4096)))),
    variant("calculation-noted", "token quotes have gas limits")
        .on_result(|_, result| {
            set(result, "preVerificationGas", "45000");
            set(result, "callGasLimit", 60_000);
        })
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    variant("unicode-in-errors", "messages have letters that are not ascii")
        .on_error(|_, error| set(error, "message", "nicht möglich – 不可能 \u{1f6ab}")),
];

/// The same hex string with upper-case digits and the prefix `0x`.
fn upper_case(text: &str) -> String {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    format!("0x{}", digits.to_ascii_uppercase())
}

/// An address in the mixed case of ERC-55; any other text unchanged.
fn checksummed(text: &str) -> String {
    text.parse::<alloy_primitives::Address>().map_or_else(|_| text.to_owned(), |address| address.to_string())
}

/// Replaces the data of a sponsored operation; the data `0x` is left unchanged.
fn replace_data(result: &mut serde_json::Map<String, Value>, data: &str) {
    if result.get("paymasterAndData").is_some_and(|data| data != "0x") {
        set(result, "paymasterAndData", data);
    }
}

/// Data that differs for each request and starts with the 20 bytes of an address.
fn pseudo_random_data(view: &RequestView<'_>) -> String {
    let count = view.memory.count();
    let seed = alloy_primitives::keccak256(count.to_be_bytes());
    let bytes = usize::try_from(count % 7).unwrap_or_default();
    format!("0x{}{}", alloy_primitives::hex::encode(seed), "a7".repeat(bytes * 11))
}

/// Writes every letter within a string as an escape; existing escapes are left unchanged.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 6);
    let mut within = false;
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => {
                // An existing escape is copied, with the four digits of a \u escape.
                out.push(byte);
                if let Some(&next) = bytes.next() {
                    out.push(next);
                    if next == b'u' {
                        out.extend(bytes.by_ref().take(4));
                    }
                }
            }
            b'"' => {
                within = !within;
                out.push(byte);
            }
            _ if within && byte.is_ascii_alphabetic() => {
                out.extend_from_slice(format!("\\u{byte:04X}").as_bytes());
            }
            _ => out.push(byte),
        }
    }
    out
}
