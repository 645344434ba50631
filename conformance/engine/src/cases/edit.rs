//! Small edits of base requests, and members made of them.

use std::{borrow::Borrow, fmt::Write as _};

use serde_json::{Value, json};

use crate::cases::{BuildInput, GOLDEN, Ids, Member, Role, mixed};

/// Sets or adds the member `name` of the object at `place`.
pub fn set(request: &mut Value, place: &str, name: &str, value: Value) {
    if let Some(object) = request.pointer_mut(place).and_then(Value::as_object_mut) {
        object.insert(name.to_owned(), value);
    }
}

/// The request with another value of the member `name` of the object at `place`.
pub fn with(request: &Value, place: &str, name: &str, value: impl Into<Value>) -> Value {
    let mut request = request.clone();
    set(&mut request, place, name, value.into());
    request
}

/// The request with its members in the order of a published client: method, params, id, jsonrpc.
pub fn in_client_order(request: &Value) -> Value {
    let names = ["method", "params", "id", "jsonrpc"];
    names.iter().filter_map(|name| Some(((*name).to_owned(), request.get(*name)?.clone()))).collect()
}

/// Removes the member `name` from the object at `place`.
pub fn remove(request: &mut Value, place: &str, name: &str) {
    if let Some(object) = request.pointer_mut(place).and_then(Value::as_object_mut) {
        object.shift_remove(name);
    }
}

/// The request without the member `name` of the object at `place`.
pub fn without(request: &Value, place: &str, name: &str) -> Value {
    let mut request = request.clone();
    remove(&mut request, place, name);
    request
}

/// A member of a group: the request with a fresh id.
pub fn member(role: Role, label: impl Into<String>, request: impl Borrow<Value>, ids: &mut Ids) -> Member {
    with_own_id(role, label, &with(request.borrow(), "", "id", ids.next_id()))
}

/// A member of a group: the request with its own id.
pub fn with_own_id(role: Role, label: impl Into<String>, request: &Value) -> Member {
    Member::plain(role, label, request.to_string())
}

/// The base itself, as the baseline of a group.
pub fn baseline(input: &BuildInput<'_>, ids: &mut Ids) -> Member {
    member(Role::Baseline, "the baseline", input.base, ids)
}

/// The base and one variant of it.
pub fn with_baseline(
    input: &BuildInput<'_>,
    ids: &mut Ids,
    label: impl Into<String>,
    variant: Value,
) -> Vec<Member> {
    vec![baseline(input, ids), member(Role::Variant, label, variant, ids)]
}

/// A baseline and a variant, each with its label.
pub fn compared(
    ids: &mut Ids,
    (label, baseline): (impl Into<String>, Value),
    (variant_label, variant): (impl Into<String>, Value),
) -> Vec<Member> {
    vec![member(Role::Baseline, label, baseline, ids), member(Role::Variant, variant_label, variant, ids)]
}

/// How often [`alternately`] sends its two requests.
pub const TIMES: usize = 3;

/// A baseline and a variant, each sent three times by turns with the same bytes. A server that refuses 1 of 25 requests by chance seems to
/// treat a variant otherwise in 1 of 25 pairs, but in three pairs only in 1 of 15,625.
pub fn alternately(baseline: &Member, variant: &Member) -> Vec<Member> {
    let again =
        |member: &Member, role| Member { role, label: format!("{} again", member.label), ..member.clone() };
    let mut members = vec![baseline.clone(), variant.clone()];
    for _ in 1..TIMES {
        members.push(again(baseline, Role::Again));
        members.push(again(variant, variant.role));
    }
    members
}

/// The kinds of ids, one a round: numbers, falsy ones included, and strings that look like something else. Most are made of a number that
/// no other request has.
const KINDS_OF_IDS: [fn(u64) -> Value; 14] = [
    |number| json!(number),
    |_| json!(0),
    |number| json!(format!("call-{number}")),
    |_| json!(""),
    |_| json!("0"),
    |number| json!(format!("3f2504e0-4f89-11d3-9a0c-{number:012x}")),
    |_| json!("2026-11-22T10:00:00.000Z"),
    |number| json!(format!("0x{number:x}")),
    |number| json!(number.to_string()),
    |_| json!(-1),
    |number| json!(4_294_967_296_u64 + number),
    |number| json!(format!("0x{number:040x}")),
    |number| json!(format!("3F2504E0-4F89-11D3-9A0C-{number:012X}")),
    |number| json!(number),
];

/// An id of the kind of this round, made of a number that no other request has.
pub fn id_of_any_kind(round: u32, number: u64) -> Value {
    KINDS_OF_IDS[round as usize % KINDS_OF_IDS.len()](number)
}

/// The item of this round: the items take turns.
pub fn item_of_round<'a, T>(input: &BuildInput<'_>, items: &'a [T]) -> &'a T {
    &items[input.round as usize % items.len()]
}

/// A pseudo-random address in lower case. It depends on the round and `salt` only.
pub fn address(input: &BuildInput<'_>, salt: u64) -> String {
    let mut state = (u64::from(input.round) << 32) ^ salt.wrapping_mul(GOLDEN) ^ 0x5eed_5eed;
    let mut text = String::from("0x");
    for _ in 0..5 {
        state = state.wrapping_add(GOLDEN);
        write!(text, "{:08x}", mixed(state) >> 32).expect("a String takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_differs_from_its_request_in_the_id_alone() {
        for mut request in [
            json!({ "jsonrpc": "2.0", "id": 1, "params": [{ "id": 1 }] }),
            json!({ "id": "x", "text": "\u{1}\"" }),
            json!({ "method": "m" }),
        ] {
            let member = member(Role::Call, "", &request, &mut Ids::starting_at(77));
            request["id"] = json!(77);
            assert_eq!(member.body, request.to_string().into());
        }
    }
}
