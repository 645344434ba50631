//! What the entries of a profile state, and which answers contradict them.

use paymaster_engine::knowledge::Statement;
use serde_json::{Map, Value};

use crate::target::profile::Profile;

/// Shorter values may stand in a profile for another reason.
const SHORTEST_VALUE: usize = 6;

/// What the entry at this place of a list states.
pub(super) fn stated(profile: &Profile, list: &str, place: usize) -> Option<Statement> {
    if list == "tokens.supported" {
        return Some(token(profile.tokens.supported.get(place)?.address.clone()));
    }
    operation(&profile.operations.sponsorable, place)
}

fn token(address: String) -> Statement {
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

fn operation(operations: &[Map<String, Value>], place: usize) -> Option<Statement> {
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
