//! What answers say of the lines of the profile: whether the target keeps them.

use crate::call::{CallParts, quoted_tokens, unsupported_tokens};
use crate::target::{Context, Profile};
use paymaster_engine::knowledge::{Expectation, Statement};
use paymaster_engine::rules::View;
use paymaster_schemas::{Mode, kinds};
use serde_json::{Map, Value};

const TOKENS: &str = "tokens.supported";
const OPERATIONS: &str = "operations.sponsorable";

/// Takes a list of the profile, a place in it, and whether the target kept that line.
type Note<'a> = &'a mut dyn FnMut(&'static str, usize, bool);

/// Says of each line that an answer is about whether it was kept.
pub(super) fn kept(view: &View<'_>, context: &Context, note: Note<'_>) {
    match view.valid_call().map(|call| call.pair) {
        Some(kinds::QUOTE_ERC20) => quote(view, context, note),
        Some(kinds::SPONSOR_ERC20) => fee_token(view, context, note),
        Some(pair) if Mode::of(pair) == Mode::Sponsored => operation(view, context, note),
        _ => {}
    }
}

/// A token of a quote is kept when it is quoted, and not kept when it is in `unsupportedTokens`.
fn quote(view: &View<'_>, context: &Context, note: Note<'_>) {
    let supported = &context.profile.tokens.supported;
    let (Some(call), Some(result)) = (view.valid_call(), view.answer.result()) else { return };
    if supported.is_empty() {
        return;
    }
    let requested = call.tokens().quoted();
    let (quoted, unsupported) = (quoted_tokens(result), unsupported_tokens(result));
    for (index, token) in supported.iter().enumerate() {
        let address = token.address.to_ascii_lowercase();
        if quoted.contains(&address) {
            note(TOKENS, index, true);
        } else if requested.contains(&address) && unsupported.contains(&address) {
            note(TOKENS, index, false);
        }
    }
}

fn fee_token(view: &View<'_>, context: &Context, note: Note<'_>) {
    let fee = view.valid_call().and_then(|call| call.tokens().fee);
    let Some(fee) = fee else { return };
    let mut supported = context.profile.tokens.supported.iter();
    match supported.position(|token| token.address.eq_ignore_ascii_case(fee)) {
        Some(index) if view.answer.result().is_some() => note(TOKENS, index, true),
        Some(index) if view.expectation.requires_result() && view.answer.error().is_some() => {
            note(TOKENS, index, false);
        }
        _ => {}
    }
}

fn operation(view: &View<'_>, context: &Context, note: Note<'_>) {
    if view.expectation != Expectation::Sponsored || context.profile.operations.sponsorable.is_empty() {
        return;
    }
    let operation = view.valid_call().and_then(|call| context.sponsorable_index(call.operation()));
    let Some(index) = operation else { return };
    if let Some(result) = view.answer.result() {
        if let Some(data) = result["paymasterAndData"].as_str() {
            note(OPERATIONS, index, data != "0x");
        }
    } else if view.answer.error().is_some() {
        note(OPERATIONS, index, false);
    }
}

// What the entries of a profile state, and which answers contradict them.

/// Shorter values may stand in a profile for another reason.
const SHORTEST_VALUE: usize = 6;

/// What the entry at this place of a list states.
pub(super) fn stated(profile: &Profile, list: &str, place: usize) -> Option<Statement> {
    if list == "tokens.supported" {
        return Some(stated_token(profile.tokens.supported.get(place)?.address.clone()));
    }
    stated_operation(&profile.operations.sponsorable, place)
}

fn stated_token(address: String) -> Statement {
    Statement {
        found_by: address.clone(),
        states: format!("the target supports the token {address}"),
        contradicted: "refused it or listed it as unsupported, and none served it",
        is_contradicted: Box::new(move |request, answer| {
            let unsupported = answer["result"]["unsupportedTokens"].as_array();
            let info = request["params"][1]["tokenInfo"].as_object();
            unsupported.is_some_and(|tokens| tokens.iter().any(|token| is_same(token, &address)))
                || answer["error"].is_object()
                    && info.is_some_and(|info| info.values().any(|token| is_same(token, &address)))
        }),
    }
}

fn stated_operation(operations: &[Map<String, Value>], place: usize) -> Option<Statement> {
    let own = operations.get(place)?;
    let sender = own.get("sender")?.as_str()?.to_owned();
    let is_unique = |value: &str| {
        let has = |operation: &&Map<String, Value>| operation.values().any(|other| is_same(other, value));
        value.len() >= SHORTEST_VALUE && operations.iter().filter(has).count() == 1
    };
    let mut members = ["sender", "callData", "initCode", "nonce"].into_iter();
    let found_by = members.find_map(|member| own.get(member)?.as_str().filter(|value| is_unique(value)));
    Some(Statement {
        found_by: found_by.unwrap_or(&sender).to_owned(),
        states: format!("the target sponsors this operation of {sender}"),
        contradicted: "refused it, and none sponsored it",
        is_contradicted: Box::new(move |request, answer| {
            is_same(&request["params"][0]["sender"], &sender)
                && (answer["error"].is_object() || is_same(&answer["result"]["paymasterAndData"], "0x"))
        }),
    })
}

fn is_same(value: &Value, text: &str) -> bool {
    value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(text))
}
