//! Ids of every kind (section 2.1): the request is served, and the answer has the same id.

use serde_json::{Number, Value, json};

use crate::cases::case::{BuildInput, Ids, Member, Order, Relation, Role, Rounds};
use crate::cases::relations::edit::{ALL_PAIRS, item_of_round, with_own_id};

/// Number ids, as their JSON texts: falsy, negative, above 2^31, 2^32, 2^53 and 2^64.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2147483648",
    "4294967296",
    "9007199254740991",
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551616",
    "1686847490",
    "1.5",
];

/// String ids: falsy, numeric-looking, with spaces, escapes, other scripts, in other letter case, long; and texts that look like
/// markup, a date, a template or another Unicode form to a server that does more than copy them.
const STRINGS: &[&str] = &[
    "",
    "0",
    "1",
    "007",
    "1e3",
    "1.0",
    "-7",
    "0x1f",
    "9007199254740993",
    "null",
    "true",
    "[1]",
    "{\"id\":1}",
    " padded ",
    "two\r\nlines",
    "Id",
    "iD",
    "a\"b\\c/d\u{8}\n",
    "\u{0}",
    "zażółć",
    "支付",
    "\u{1F680}",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "<a href='x'>&amp;</a>",
    "2026-11-21T10:00:00.000Z",
    "20261121",
    "%41+b",
    "${id}{{id}}",
    // Decomposed: e and a combining accent, which is not the letter with an accent.
    "cafe\u{301}",
];

/// How long the longest string id is, in characters.
const LONG: usize = 1_000;

/// Requests with number ids, a fractional one among them (which may be refused).
pub static NUMBER_IDS: Relation = Relation {
    id: "number-ids",
    about: "the same call with number ids: 0, negative, above 2^53",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(11),
    order: Order::Sequential,
    members: number_ids,
};

/// Requests with string ids.
pub static STRING_IDS: Relation = Relation {
    id: "string-ids",
    about: "the same call with string ids: empty, numeric-looking, long, of other scripts",
    bases: ALL_PAIRS,
    // In a short run, each id in one of the four pairs.
    rounds: Rounds::Scaled { most: 30, least: 8 },
    order: Order::Sequential,
    members: string_ids,
};

fn number_ids(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let text = *item_of_round(input, NUMBERS);
    let Ok(number) = text.parse::<Number>() else {
        return Vec::new();
    };
    // The baseline has a string id, so that a target that refuses every number is detected.
    let baseline = json!(format!("baseline-{}", ids.next_id()));
    with_id(input, &baseline, Value::Number(number))
}

fn string_ids(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let round = input.round as usize % (STRINGS.len() + 1);
    let id = STRINGS.get(round).map_or_else(|| "long-id ".repeat(LONG / 8), |text| (*text).to_owned());
    let baseline = json!(ids.next_id());
    with_id(input, &baseline, json!(id))
}

fn with_id(input: &BuildInput<'_>, baseline: &Value, id: Value) -> Vec<Member> {
    let label = if id.to_string().len() > 60 { "a long string id".to_owned() } else { format!("id {id}") };
    let with = |role: Role, label: String, id: Value| {
        let mut request = input.base.clone();
        request["id"] = id;
        with_own_id(role, label, &request)
    };
    vec![with(Role::Baseline, format!("id {baseline}"), baseline.clone()), with(Role::Variant, label, id)]
}
