//! Malformed requests. Section 7 requires a JSON-RPC error and does not show which.

use bytes::Bytes;
use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::cases::relations::edit::{ALL_PAIRS, id_of_any_kind, remove, with_own_id};
use crate::cases::{
    case::{Base, BuildInput, Ids, Member, Order, Relation, Role, Rounds},
    generate::mutate,
};

/// Requests that break exactly one keyword of their schema at one place.
pub static MALFORMED_PARAMS: Relation = Relation {
    id: "malformed-params",
    about: "calls that break exactly one keyword of their schema at one place of params",
    bases: ALL_PAIRS,
    rounds: Rounds::Share(20),
    order: Order::Sequential,
    members: malformed_params,
};

/// Bodies that are not valid requests: not JSON, not a request object, unknown methods, no id.
pub static MALFORMED_BODIES: Relation = Relation {
    id: "malformed-bodies",
    about: "bodies that are not JSON or no request, unknown methods, notifications",
    bases: &[Base::accepted(Pair::SPONSOR_SPONSORED), Base::accepted(Pair::QUOTE_SPONSORED)],
    rounds: Rounds::scaled(25),
    order: Order::Sequential,
    members: malformed_bodies,
};

/// Batches.
pub static BATCHES: Relation = Relation {
    id: "batches",
    about: "batches of calls, with notifications among them, and the empty one",
    bases: &[Base::accepted(Pair::SPONSOR_SPONSORED), Base::accepted(Pair::QUOTE_SPONSORED)],
    rounds: Rounds::Fixed(4),
    order: Order::Sequential,
    members: batches,
};

fn malformed_params(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let mut base = input.base.clone();
    base["id"] = id_of_any_kind(input.round, ids.next_id());
    let inside: Vec<&mutate::Site> = mutate::sites(pair.request_document())
        .iter()
        .filter(|site| site.location.starts_with("/params/"))
        .collect();
    if inside.is_empty() {
        return Vec::new();
    }
    // The site depends on the round and not on the base: a simpler base is broken at the same place.
    let site = inside[input.round as usize * stride(inside.len()) % inside.len()];
    let Some(mutation) = site.apply(&base).filter(|mutation| mutation.valid_pair().is_none()) else {
        return Vec::new();
    };
    vec![with_own_id(
        Role::Malformed,
        format!("{} broken at {}", mutation.keyword, mutation.pointer),
        &mutation.broken,
    )]
}

/// A stride that is coprime to the length: it visits every place once, in a spread-out order.
fn stride(length: usize) -> usize {
    (length / 3..=length).find(|stride| common_factor(*stride, length) == 1).unwrap_or(1)
}

const fn common_factor(mut left: usize, mut right: usize) -> usize {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

fn malformed_bodies(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut base = input.base.clone();
    base["id"] = json!(ids.next_id());
    let text = base.to_string();
    let with = |name: &str, value: Value| {
        let mut request = base.clone();
        request[name] = value;
        request.to_string()
    };
    let without = |name: &str| {
        let mut request = base.clone();
        remove(&mut request, "", name);
        request.to_string()
    };
    let half = text.char_indices().nth(text.len() / 2).map_or(0, |(at, _)| at);
    let (label, body) = match input.round % 25 {
        0 => ("an unknown method", with("method", json!("pm_noSuchMethod"))),
        1 => ("half a request", text[..half].to_owned()),
        2 => ("no jsonrpc", without("jsonrpc")),
        3 => ("a notification", without("id")),
        4 => (
            "the method in other letter case",
            with("method", json!(base["method"].as_str().unwrap_or_default().to_uppercase())),
        ),
        5 => ("an empty body", String::new()),
        6 => ("a string", "\"pm_sponsorUserOperation\"".to_owned()),
        7 => (
            "a notification of an unknown method",
            json!({"jsonrpc": "2.0", "method": "pm_noSuchMethod", "params": []}).to_string(),
        ),
        8 => ("an empty method", with("method", json!(""))),
        9 => ("a request and a closing brace too many", format!("{text}}}")),
        10 => ("a number for method", with("method", json!(1))),
        11 => ("a method of another service", with("method", json!("eth_chainId"))),
        12 => ("single quotes", text.replace('"', "'")),
        13 => ("an object for id", with("id", json!({}))),
        14 => ("jsonrpc 1.0", with("jsonrpc", json!("1.0"))),
        15 => ("an array for id", with("id", json!([1]))),
        16 => ("a trailing comma", text.replacen("}]", "},]", 1)),
        17 => ("null", "null".to_owned()),
        18 => ("two requests, one after the other", format!("{text}{text}")),
        19 => ("a number for params", with("params", json!(1))),
        20 => ("true for id", with("id", json!(true))),
        21 => ("an empty object", "{}".to_owned()),
        22 => ("a member without a name", text.replacen('{', "{:1,", 1)),
        23 => (
            "a method that begins like a known one",
            with("method", json!(format!("{}2", base["method"].as_str().unwrap_or_default()))),
        ),
        _ => ("a control character in a string", text.replacen("\"0x", "\"\u{1}0x", 1)),
    };
    vec![Member { role: Role::Malformed, label: label.to_owned(), body: Bytes::from(body), sent_as: None }]
}

fn batches(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut call = || {
        let mut request = input.base.clone();
        request["id"] = json!(ids.next_id());
        request
    };
    let mut notification = input.base.clone();
    remove(&mut notification, "", "id");
    let (label, batch) = match input.round % 4 {
        0 => ("a batch of three calls", vec![call(), call(), call()]),
        1 => ("an empty batch", Vec::new()),
        2 => ("a batch of a call and a notification", vec![call(), notification]),
        _ => ("a batch of notifications", vec![notification.clone(), notification]),
    };
    vec![with_own_id(Role::Batch, label, &Value::Array(batch))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_visit_every_place() {
        for length in 1..200_usize {
            let stride = stride(length);
            let seen: std::collections::BTreeSet<usize> =
                (0..length).map(|round| round * stride % length).collect();
            assert_eq!(seen.len(), length);
        }
    }
}
