//! Calls alone and in a batch.

use paymaster_schemas::{Mode, Pair};
use serde_json::{Value, json};

use super::edit::{ALL_PAIRS, MODE, as_it_stands, set};
use crate::{
    case::{Ids, Member, Order, Relation, Rounds, Seed},
    context::Support,
};

/// Two calls, each alone, and then both in a batch.
pub static BATCH_ELEMENTS: Relation = Relation {
    id: "batch-elements",
    about: "two calls each alone and then in a batch: of the two modes, one that is an error, ids alike, twelve at once",
    bases: ALL_PAIRS,
    rounds: Rounds::Fixed(4),
    order: Order::Sequential,
    members: batch_elements,
};

fn batch_elements(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let with = |request: &Value, id: Value| {
        let mut request = request.clone();
        request["id"] = id;
        request
    };
    let unknown = with_method(seed.base, "pm_noSuchMethod");
    let (label, other) = match seed.twist % 4 {
        0 => ("a batch with an unknown method in the middle", Some(unknown)),
        1 => ("a batch of both modes", in_other_mode(seed)),
        2 => ("a batch of twelve", Some(unknown)),
        _ => (
            "a batch of a number and the same digits as a string for ids",
            Some(unknown),
        ),
    };
    let Some(other) = other else { return Vec::new() };
    let first = ids.next_id();
    let alone = [with(seed.base, json!(first)), with(&other, json!(ids.next_id()))];
    let mut batch = vec![with(seed.base, json!(ids.next_id()))];
    match seed.twist % 4 {
        3 => {
            let id = ids.next_id();
            batch = vec![with(seed.base, json!(id)), with(&other, json!(id.to_string()))];
        }
        2 => batch.extend((1..12).map(|place| {
            let request = if place == 5 { &other } else { seed.base };
            with(request, json!(ids.next_id()))
        })),
        _ => {
            batch.push(with(&other, json!(ids.next_id())));
            batch.push(with(seed.base, json!(ids.next_id())));
        }
    }
    vec![
        as_it_stands("baseline", "the call alone", &alone[0]),
        as_it_stands("alone", "the other call alone", &alone[1]),
        as_it_stands("batch", label, &Value::Array(batch)),
    ]
}

fn with_method(request: &Value, method: &str) -> Value {
    let mut request = request.clone();
    request["method"] = json!(method);
    request
}

/// A quote for the same operation in the other mode; none when nothing is known to ask for.
fn in_other_mode(seed: &Seed<'_>) -> Option<Value> {
    let mode = match seed.pair?.mode {
        Mode::Sponsored => {
            let token = seed.context.tokens_that_are(Support::Supported).next()?;
            let info = json!({ "preferredToken": token, "tokenList": [token] });
            json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info })
        }
        Mode::Erc20 => {
            let account = seed.context.accounts().into_iter().next()?;
            let info = json!({
                "webhookData": {},
                "smartAccountInfo": { "name": account.name, "version": account.version },
            });
            let name = &seed.context.dialect.sponsored_name;
            json!({ "mode": name, "calculateGasLimits": true, "sponsorshipInfo": info })
        }
    };
    let mut request = with_method(seed.base, Pair::QUOTE_ERC20.method.name());
    set(&mut request, "", "params", json!([seed.base["params"][0], {}]));
    *request.pointer_mut(MODE)? = mode;
    Some(request)
}
