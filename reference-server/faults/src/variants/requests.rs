//! Variants that refuse requests: the specification contradicts itself about them, or does not require to serve them. The last ones are
//! about addresses in capital letters, which are not the letters of the checksum of EIP-55.

use alloy_primitives::Address;
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use super::{Variant, variant};
use crate::injection::{RequestView, list_as_unsupported, refuse, remove, result, set, some_result, text_of};

pub(super) const VARIANTS: &[Variant] = &[
    variant("sponsorship-refused", "accepts the mode SPONSORED, not SPONSORSHIP")
        .refuses(|view| view.mode_object()["mode"] == "SPONSORSHIP"),
    variant("token-address-refused", "accepts feeTokenAddress, not tokenAddress")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && view.token_info().get("feeTokenAddress").is_none()),
    variant("fee-token-address-refused", "accepts tokenAddress, not feeTokenAddress")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20) && view.token_info().get("tokenAddress").is_none()),
    variant("version-2-0-0-refused", "accepts jsonrpc 2.0, not 2.0.0")
        .refuses(|view| view.request["jsonrpc"] == "2.0.0"),
    variant("version-2-0-refused", "accepts jsonrpc 2.0.0, not 2.0")
        .refuses(|view| view.request["jsonrpc"] == "2.0"),
    variant("hex-amounts-refused", "reads amounts as decimal strings only")
        .warns(&["interoperability.client-forms"])
        .refuses(|view| {
            amounts(view).any(|amount| amount.as_str().is_none_or(|text| text.starts_with("0x")))
        }),
    variant("decimal-amounts-refused", "reads amounts as hex quantities only").refuses(|view| {
        amounts(view).any(|amount| amount.as_str().is_none_or(|text| !text.starts_with("0x")))
    }),
    variant("number-amounts-refused", "reads amounts as strings only")
        .refuses(|view| amounts(view).any(Value::is_number)),
    variant("unlisted-members-refused", "refuses members that the tables do not list")
        .warns(&["interoperability.client-forms"])
        .refuses(has_unlisted),
    variant("fractional-ids-refused", "refuses ids that have a fraction, which JSON-RPC advises against")
        .refuses(|view| view.id_number().is_some_and(|digits| digits.contains('.'))),
    variant("quote-without-mode-refused", "requires a mode in quotes too").refuses(|view| view.omits("mode")),
    variant("all-nine-members-required", "requires every member of the operation in sponsored mode")
        .warns(&["interoperability.client-forms"])
        .refuses(|view| view.is_sponsored_mode() && is_incomplete(view)),
    variant("gas-limits-required-in-quotes", "requires every member of the operation in quotes")
        .warns(&["interoperability.client-forms"])
        .refuses(|view| view.is_quote() && is_incomplete(view)),
    variant("all-members-of-the-mode-required", "requires calculateGasLimits, and expiryDuration in its row")
        .refuses(|view| {
            let lacks = |name: &str| view.omits(name);
            view.is_sponsored_mode() && lacks("calculateGasLimits")
                || view.is(kinds::SPONSOR_SPONSORED) && lacks("expiryDuration")
        }),
    variant("nulls-read-as-absent", "reads members that are null as absent")
        .on_request(|_, request| without_nulls(&mut request["params"]))
        .when(|view| view.is_call()),
    variant("empty-token-list-refused", "refuses quotes that name no token").refuses(|view| {
        view.is(kinds::QUOTE_ERC20) && view.preferred().is_none() && view.token_list().is_empty()
    }),
    variant("zero-durations-refused", "refuses an expiryDuration of 0")
        .refuses(|view| view.mode_object()["expiryDuration"] == 0),
    variant("signatures-refused", "refuses requests with a signature that is not empty")
        .refuses(|view| view.byte_count("signature") > 0),
    variant("null-preferred-token-is-bad-request", "answers a preferredToken of null with status 400")
        .on_http(|_, response| response.replace(400, "text/plain", "bad request"))
        .when(|view| view.token_info().get("preferredToken").is_some_and(Value::is_null)),
    variant("malformed-params-served", "serves requests with wrong parameters")
        .on_answer(|_, answer| {
            if answer.get("error").is_some_and(|error| error["code"] == -32602) {
                remove(answer, "error");
                set(answer, "result", some_result("SPONSORED", "0x"));
            }
        })
        .when(|view| view.is_sponsored_mode())
        .warns(&["json-rpc.invalid-params"]),
    variant("batches-refused", "does not serve batches")
        .on_reply(|_, answer| {
            *answer = Some(
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "no batches" } }),
            );
        })
        .when(|view| view.request.as_array().is_some_and(|batch| !batch.is_empty()))
        .warns(&["json-rpc.batch", "json-rpc.notification"]),
    variant("batches-limited", "takes three calls of a batch, and refuses those after them by a rate limit")
        .on_reply(|_, answer| {
            let answers = answer.iter_mut().filter_map(Value::as_array_mut).flatten();
            for answer in answers.skip(3).filter_map(Value::as_object_mut) {
                refuse(answer, -32005, "too many requests");
            }
        }),
    variant("strict-checksums", "refuses addresses that are neither in lower case nor as EIP-55 writes them")
        .refuses(|view| addresses(view).iter().any(|address| !is_strict(address))),
    variant("strict-token-checksums", "refuses tokens neither in lower case nor as EIP-55 writes them")
        .refuses(|view| addresses(view).iter().skip(1).any(|address| !is_strict(address))),
    variant("tokens-in-capitals-unsupported", "supports no token but in lower case and as EIP-55 writes it")
        .on_answer(|view, answer| {
            let tokens = addresses(view).split_off(1);
            let is_unknown = |token: &&str| !is_strict(token) && view.supports(token);
            let unknown: Vec<&str> = tokens.iter().map(String::as_str).filter(is_unknown).collect();
            if view.is(kinds::SPONSOR_ERC20) && !unknown.is_empty() {
                refuse(answer, -32001, "the token is not supported");
            } else if let Some(result) = result(answer) {
                list_as_unsupported(result, &unknown);
            }
        })
        .when(|view| view.is_token_mode()),
];

const AMOUNTS: [&str; 6] = [
    "nonce",
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
];

fn amounts<'a>(view: &'a RequestView<'_>) -> impl Iterator<Item = &'a Value> {
    AMOUNTS.iter().filter_map(|member| view.operation().get(member))
}

fn is_incomplete(view: &RequestView<'_>) -> bool {
    AMOUNTS.iter().chain(&["initCode"]).any(|member| view.lacks(member))
}

fn has_unlisted(view: &RequestView<'_>) -> bool {
    const OTHERS: [&str; 3] = ["sender", "initCode", "callData"];
    let listed = |key: &String| AMOUNTS.contains(&key.as_str()) || OTHERS.contains(&key.as_str());
    view.operation().as_object().is_some_and(|members| !members.keys().all(listed))
        || view.has_unlisted_mode_member()
}

/// Removes members that are null, at any depth.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// The sender, and the tokens of a call.
fn addresses(view: &RequestView<'_>) -> Vec<String> {
    let tokens = view.named_tokens().chain(view.fee_token());
    let sender = text_of(&view.operation()["sender"]);
    std::iter::once(sender).chain(tokens.map(str::to_owned)).collect()
}

/// Whether a strict parser takes the letter case of an address. What is no address is left to the service.
fn is_strict(text: &str) -> bool {
    let Some(address) = text.strip_prefix("0x").and_then(|digits| digits.parse::<Address>().ok()) else {
        return true;
    };
    text == format!("{address:#x}") || text == address.to_checksum(None)
}
