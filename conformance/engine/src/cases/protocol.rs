//! HTTP and JSON-RPC: ids of every kind (section 2.1), calls in a batch, and malformed requests. Section 7 requires a JSON-RPC error for
//! these, and does not show which.

use serde_json::{Number, Value, json};

use crate::cases::{
    Bases, BuildInput, CLIENTS, Ids, Member, Relation, Role, Rounds, alternately, baseline, id_of_any_kind,
    item_of_round, with, with_own_id, without,
};
use crate::generate::mutate;
use crate::specification::Specification;

/// Number ids, as their JSON texts: falsy, negative, above 2^31, 2^32, 2^53 and 2^64, and a time in seconds and in milliseconds.
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
    "1686847490000",
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
    " padded  inside ",
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
    // An address, a UUID in capitals, and ids at the end of the length that clients send.
    "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
    "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
    "0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406c",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301:0042",
    "%41+b",
    "${id}{{id}}",
    // Decomposed: e and a combining accent, which is not the letter with an accent.
    "cafe\u{301}",
];

/// How long the longest string id is, in characters.
const LONG: usize = 1_000;

/// Requests with number ids, a fractional one among them (which may be refused).
pub static NUMBER_IDS: Relation =
    Relation::new("number-ids", "the same call with number ids: 0, negative, above 2^53")
        .of(Bases::EveryKind, Rounds::for_each(NUMBERS), |input, ids| {
            let text = *item_of_round(input, NUMBERS);
            let Ok(number) = text.parse::<Number>() else { return Vec::new() };
            // The baseline has a string id, so that a target that refuses every number is detected.
            let baseline = json!(format!("baseline-{}", ids.next_id()));
            with_ids(input, &baseline, Value::Number(number))
        })
        .first(11);

/// Requests with string ids.
pub static STRING_IDS: Relation = Relation::new(
    "string-ids",
    "the same call with string ids: empty, numeric-looking, long, of other scripts",
)
.of(Bases::EveryKind, Rounds::Scaled { most: 34, least: 8 }, |input, ids| {
    let round = input.round as usize % (STRINGS.len() + 1);
    let id = STRINGS.get(round).map_or_else(|| "long-id ".repeat(LONG / 8), |text| (*text).to_owned());
    let baseline = json!(ids.next_id());
    with_ids(input, &baseline, json!(id))
});

/// The baseline comes last: a service that takes an operation once refuses it then, which shows nothing of the id.
fn with_ids(input: &BuildInput<'_>, baseline: &Value, id: Value) -> Vec<Member> {
    let label = if id.to_string().len() > 60 { "a long string id".to_owned() } else { format!("id {id}") };
    // PHP writes slashes so.
    let variant = with(input.base, "", "id", id).to_string().replace('/', "\\/");
    vec![
        Member::plain(Role::Variant, label, variant),
        with_own_id(Role::Baseline, format!("id {baseline}"), &with(input.base, "", "id", baseline.clone())),
    ]
}

/// A relation of these base requests: bytes that are sent with plain headers and with those of a published client, by turns.
pub const fn headers(bases: Bases) -> Relation {
    Relation {
        varies_headers: true,
        ..Relation::new("headers", "the same call with the request headers of published HTTP clients").of(
            bases,
            Rounds::Scaled { most: 15, least: 8 }, // each client in each of two kinds
            |input, ids| {
                let client = item_of_round(input, &CLIENTS);
                let mut plain = baseline(input, ids);
                // The parts of a body that is sent in parts meet within a letter.
                if client.header("transfer-encoding").is_some() {
                    let id = json!(format!("zażółć-{}", ids.next_id()));
                    plain = with_own_id(Role::Baseline, "the baseline", &with(input.base, "", "id", id));
                }
                let label = format!("the headers of {}", client.name);
                let variant = Member { role: Role::Variant, label, ..plain.clone() };
                alternately(&plain, &variant.sent_as(Some(client.clone())))
            },
        )
    }
}

/// One call on a new connection, on the same connection after it was idle, and on another new one. The sender opens and keeps the connections.
pub static IDLE_CONNECTION: Relation = Relation::new(
    "idle-connection",
    "the same call on a new connection, after the connection was idle (--idle), and on \
     another new one",
)
.of(Bases::Plain, Rounds::Fixed(1), |input, ids| {
    let mut call = |role, label: &str| with_own_id(role, label, &with(input.base, "", "id", ids.next_id()));
    vec![
        call(Role::Baseline, "on a new connection"),
        call(Role::Variant, "on the same connection after it was idle"),
        call(Role::Again, "on another new connection"),
    ]
});

/// Whether groups of this relation keep a connection idle. They are sent in runs with `--idle` alone.
pub fn keeps_idle(relation: &Relation) -> bool {
    std::ptr::eq(relation, &raw const IDLE_CONNECTION)
}

/// Two calls in a batch, and then each alone: a service that takes only so many operations of a sender refuses the later ones alone too.
pub static BATCH_ELEMENTS: Relation = Relation::new(
    "batch-elements",
    "two calls in a batch and then each alone: of two kinds, one that is an error, one that \
     is refused, ids alike, twelve at once",
)
.of(Bases::EveryKind, Rounds::scaled(5), |input, ids| {
    let (base, round) = (input.base, input.round % 5);
    let specification = input.context.specification();
    let unknown = || Some(with(base, "", "method", "pm_noSuchMethod"));
    let other = match round {
        1 => (specification.sibling)(input),
        3 => (specification.refused)(input),
        _ => unknown(),
    };
    let Some(other) = other else { return Vec::new() };
    let mut next = |request: &Value| with(request, "", "id", ids.next_id());
    let alone = [next(base), next(&other)];
    let (label, batch) = match round {
        0 => ("a batch with an unknown method in the middle", vec![next(base), next(&other), next(base)]),
        1 => ("a batch of two kinds of calls", vec![next(base), next(&other), next(base)]),
        2 => {
            ("a batch of twelve", (0..12).map(|place| next(if place == 5 { &other } else { base })).collect())
        }
        3 => (
            "a batch with an operation in the middle that is refused",
            vec![next(base), next(&other), next(base)],
        ),
        _ => {
            let first = next(base);
            let second = with(&other, "", "id", first["id"].to_string());
            ("a batch of a number and the same digits as a string for ids", vec![first, second])
        }
    };
    vec![
        with_own_id(Role::Batch, label, &Value::Array(batch)),
        with_own_id(Role::Baseline, "the call alone", &alone[0]),
        with_own_id(Role::Alone, "the other call alone", &alone[1]),
    ]
});

/// Requests that break exactly one keyword of their schema at one place.
pub static MALFORMED_PARAMS: Relation = Relation::new(
    "malformed-params",
    "calls that break exactly one keyword of their schema at one place of params",
)
.of(Bases::EveryKind, Rounds::Share(20), |input, ids| {
    let base = with(input.base, "", "id", id_of_any_kind(input.round, ids.next_id()));
    let (missing, others): (Vec<&mutate::Site>, Vec<_>) = mutate::sites(input.pair.request_document)
        .iter()
        .filter(|site| site.location.starts_with("/params/"))
        .partition(|site| site.keyword == "required");
    if others.is_empty() {
        return Vec::new();
    }
    // Missing members come first, as the most common mistake of clients. After them each kind of call begins at another site, because kinds
    // share most members.
    // The site depends on the round and not on the base: a simpler base is broken at the same place.
    let (round, kinds) = (input.round as usize, input.context.specification().kinds);
    let kind = kinds.iter().position(|kind| *kind == input.pair).unwrap_or_default();
    let site = missing.get(round).copied().unwrap_or_else(|| {
        let place = round + kind * others.len() / kinds.len();
        others[place * stride(others.len()) % others.len()]
    });
    let Some(mutation) =
        site.apply(&base).filter(|mutation| mutation.valid_pair(input.context.specification()).is_none())
    else {
        return Vec::new();
    };
    let label = format!("{} broken at {}", site.keyword, mutation.pointer);
    let mut members = vec![with_own_id(Role::Malformed, label, &mutation.broken)];
    // What a malformed request leaves behind may spoil the next one.
    if input.round % 8 == 1 {
        let base = with(input.base, "", "id", ids.next_id());
        members.push(with_own_id(Role::Call, "the call as it should be", &base));
    }
    members
});

/// Bodies that are not valid requests: not JSON, not a request object, unknown methods, no id.
pub static MALFORMED_BODIES: Relation = Relation::new(
    "malformed-bodies",
    "bodies that are not JSON or no request, unknown methods, notifications",
)
.of(Bases::Plain, Rounds::for_each(BODIES), |input, ids| {
    let (label, write) = item_of_round(input, BODIES);
    vec![Member::plain(
        Role::Malformed,
        *label,
        write(&with(input.base, "", "id", ids.next_id()), input.context.specification()),
    )]
})
.first(24);

/// Batches.
pub static BATCHES: Relation = Relation::new(
    "batches",
    "batches of calls, with notifications or an element that is no request among them, of \
     one call, and the empty one",
)
.of(Bases::Plain, Rounds::Fixed(6), batches);

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

/// A body that is no valid request, made of a valid one.
type MalformedBody = fn(&Value, &Specification) -> String;

/// The bodies, one a round. A service may serve methods of its own or of other services, such as `eth_chainId`, so the unknown methods have
/// names that no service has.
const BODIES: &[(&str, MalformedBody)] = &[
    ("an unknown method", |base, _| changed(base, "method", "pm_noSuchMethod")),
    ("half a request", |base, _| {
        let text = base.to_string();
        text.char_indices().nth(text.len() / 2).map_or("", |(at, _)| &text[..at]).to_owned()
    }),
    ("no jsonrpc", |base, _| without(base, "", "jsonrpc").to_string()),
    ("a notification", |base, _| without(base, "", "id").to_string()),
    ("an empty body", |_, _| String::new()),
    ("a string", |_, specification| {
        let method = specification.methods().last().copied().unwrap_or_default();
        Value::from(method).to_string()
    }),
    ("a notification of an unknown method", |_, _| {
        json!({"jsonrpc": "2.0", "method": "pm_noSuchMethod", "params": []}).to_string()
    }),
    ("an empty method", |base, _| changed(base, "method", "")),
    ("a request and a closing brace too many", |base, _| format!("{base}}}")),
    ("a number for method", |base, _| changed(base, "method", 1)),
    ("an unknown method with another prefix", |base, _| changed(base, "method", "eth_noSuchMethod")),
    ("single quotes", |base, _| base.to_string().replace('"', "'")),
    ("an object for id", |base, _| changed(base, "id", json!({}))),
    ("jsonrpc 1.0", |base, _| changed(base, "jsonrpc", "1.0")),
    ("an array for id", |base, _| changed(base, "id", json!([1]))),
    ("a trailing comma", |base, _| base.to_string().replacen("}]", "},]", 1)),
    ("null", |_, _| "null".to_owned()),
    ("two requests, one after the other", |base, _| format!("{base}{base}")),
    ("a number for params", |base, _| changed(base, "params", 1)),
    ("true for id", |base, _| changed(base, "id", true)),
    ("an empty object", |_, _| "{}".to_owned()),
    ("a member without a name", |base, _| base.to_string().replacen('{', "{:1,", 1)),
    ("a method that begins like a known one", |base, _| {
        changed(base, "method", format!("{}_noSuchMethod", method(base)))
    }),
    ("a control character in a string", |base, _| base.to_string().replacen("\"0x", "\"\u{1}0x", 1)),
];

fn changed(base: &Value, name: &str, value: impl Into<Value>) -> String {
    with(base, "", name, value).to_string()
}

fn method(base: &Value) -> &str {
    base["method"].as_str().unwrap_or_default()
}

fn batches(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut call = || with(input.base, "", "id", ids.next_id());
    let notification = without(input.base, "", "id");
    let (label, batch) = match input.round % 6 {
        0 => ("a batch of three calls", vec![call(), call(), call()]),
        1 => ("an empty batch", Vec::new()),
        2 => ("a batch of two calls and a notification between them", vec![call(), notification, call()]),
        3 => ("a batch of notifications", vec![notification.clone(), notification]),
        4 => ("a batch of one call", vec![call()]),
        _ => ("a batch of a call and an element that is no request", vec![call(), json!(1)]),
    };
    vec![with_own_id(Role::Batch, label, &Value::Array(batch))]
}

/// The relation under which discovery sends its requests.
pub static DISCOVERY: Relation = Relation::new(
    "discovery",
    "the first calls of a run, which show the dialect and the tokens of the target",
)
.of(Bases::NONE, Rounds::Fixed(0), |seed, ids| {
    let mut request = seed.base.clone();
    request["id"] = ids.next_id().into();
    vec![Member::plain(Role::Discovery, "", request.to_string())]
});

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
