//! Calls alone and in a batch.

use paymaster_schemas::{Mode, Pair};
use serde_json::{Value, json};

use crate::cases::relations::edit::{ALL_PAIRS, MODE, set, with_own_id};
use crate::{
    cases::case::{BuildInput, Ids, Member, Order, Relation, Role, Rounds},
    target::context::Support,
};

/// Two calls, each alone, and then both in a batch.
pub static BATCH_ELEMENTS: Relation = Relation {
    id: "batch-elements",
    about: "two calls each alone and then in a batch: of the two modes, one that is an error, ids alike, twelve at once",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(4),
    order: Order::Sequential,
    members: batch_elements,
};

fn batch_elements(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let round = input.round % 4;
    let other =
        if round == 1 { in_other_mode(input) } else { Some(with_method(input.base, "pm_noSuchMethod")) };
    let (base, Some(other)) = (input.base, other) else {
        return Vec::new();
    };
    let mut next = |request: &Value| with_id(request, json!(ids.next_id()));
    let alone = [next(base), next(&other)];
    let (label, batch) = match round {
        0 => ("a batch with an unknown method in the middle", vec![next(base), next(&other), next(base)]),
        1 => ("a batch of both modes", vec![next(base), next(&other), next(base)]),
        2 => {
            ("a batch of twelve", (0..12).map(|place| next(if place == 5 { &other } else { base })).collect())
        }
        _ => {
            let first = next(base);
            let same = json!(first["id"].to_string());
            (
                "a batch of a number and the same digits as a string for ids",
                vec![first, with_id(&other, same)],
            )
        }
    };
    vec![
        with_own_id(Role::Baseline, "the call alone", &alone[0]),
        with_own_id(Role::Alone, "the other call alone", &alone[1]),
        with_own_id(Role::Batch, label, &Value::Array(batch)),
    ]
}

fn with_id(request: &Value, id: Value) -> Value {
    let mut request = request.clone();
    request["id"] = id;
    request
}

fn with_method(request: &Value, method: &str) -> Value {
    let mut request = request.clone();
    request["method"] = json!(method);
    request
}

/// A quote for the same operation in the other mode; none when no supported token or account is known.
fn in_other_mode(input: &BuildInput<'_>) -> Option<Value> {
    let mode = match input.pair?.mode {
        Mode::Sponsored => {
            let token = input.context.tokens_with(Support::Supported).next()?;
            let info = json!({ "preferredToken": token, "tokenList": [token] });
            json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info })
        }
        Mode::Erc20 => {
            let account = input.context.accounts().into_iter().next()?;
            let info = json!({
                "webhookData": {},
                "smartAccountInfo": { "name": account.name, "version": account.version },
            });
            let name = &input.context.dialect.sponsored_name;
            json!({ "mode": name, "calculateGasLimits": true, "sponsorshipInfo": info })
        }
    };
    let mut request = with_method(input.base, Pair::QUOTE_ERC20.method.name());
    set(&mut request, "", "params", json!([input.base["params"][0], {}]));
    *request.pointer_mut(MODE)? = mode;
    Some(request)
}
