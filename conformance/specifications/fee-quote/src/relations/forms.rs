//! The forms in which the same request can be written and sent: by published clients, in another letter case, without optional members.

use std::fmt::Write as _;

use paymaster_engine::cases::{
    Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds, alternately, baseline, headers,
    in_client_order, item_of_round, member, with, without,
};
use paymaster_schemas::{Kind, Mode, kinds};
use serde_json::{Map, Number, Value};

use crate::base;
use crate::relations::{MODE, OPERATION, SPONSORSHIP_INFO, TOKEN_INFO};
use crate::tables::GAS;
use crate::target::{Context, Place, Spelling, forms};

/// A plain request, and the same request in a form of published clients, by turns.
pub static CLIENT_FORMS: Relation = Relation::new(
    "client-forms",
    "the same call as published clients write it: hex amounts, additional members, both info \
     objects",
)
.of(Bases::EveryKind, Rounds::for_each(forms::CLIENT_FORMS), |input, ids| {
    let form = item_of_round(input, forms::CLIENT_FORMS);
    let info = Context::of(input.context).sponsorship_info();
    let Some(request) = form.of(input.base, input.pair, &info) else { return Vec::new() };
    let label = format!("as written by {} ({})", form.clients, form.name);
    let plain = baseline(input, ids);
    alternately(&plain, &member(Role::Variant, label, request, ids))
});

/// A call with the request headers of published clients.
pub static HEADERS: Relation =
    headers(Bases::These(&[base::sponsored(kinds::SPONSOR_SPONSORED), Base::accepted(kinds::QUOTE_ERC20)]));

/// A request with the addresses at one place in each spelling.
pub static LETTER_CASE: Relation = Relation::new(
    "letter-case",
    "the same call with senders and tokens in lower case, with the checksum of EIP-55 and in \
     capital letters",
)
.of(
    Bases::These(&[
        base::sponsored(kinds::SPONSOR_SPONSORED),
        base::refused(kinds::SPONSOR_SPONSORED),
        base::sponsored(kinds::QUOTE_SPONSORED),
        base::refused(kinds::QUOTE_SPONSORED),
        Base::accepted(kinds::QUOTE_ERC20),
        base::unsupported_token(kinds::QUOTE_ERC20),
        Base::accepted(kinds::SPONSOR_ERC20),
        base::unsupported_token(kinds::SPONSOR_ERC20),
    ]),
    Rounds::scaled(3), // at least one for each place of a quote in token mode
    |input, ids| {
        let places = Place::of(input.pair);
        // Tokens first: senders are drawn in two spellings anyway.
        let place = places[places.len() - 1 - input.round as usize % places.len()];
        let fee_token = Context::of(input.context).dialect.fee_token_member.as_str();
        let mut members = vec![baseline(input, ids)];
        for spelling in Spelling::ALL {
            if let Some(request) = place.respelled(input.base, spelling, fee_token) {
                let label = format!("{} {}", place.into_str(), spelling.in_words());
                members.push(member(Role::Variant, label, request, ids));
            }
        }
        members
    },
);

/// Members that the tables list and do not call mandatory: null in place of each, and each left out. The specification shows no answer, so
/// that only its form is judged. A form without a member that discovery found served is drawn among the calls too, and judged.
///
/// The baseline with one optional member of null, and without it.
pub static OPTIONAL_MEMBERS: Relation = Relation::new(
    "optional-members",
    "the same call with null in place of each optional member, and without each",
)
.of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
    let mut members = vec![baseline(input, ids)];
    let mut probe = |label: String, request: Value| members.push(member(Role::Probe, label, request, ids));
    // By turns, so that a run of few cases has both of every member with some pair.
    let is_null = |place: usize| (place + input.round as usize).is_multiple_of(2);
    for (place, (parent, name)) in optional(input.pair).into_iter().enumerate() {
        if is_null(place) {
            probe(format!("{NULL_AS}{name}"), with(input.base, parent, name, Value::Null));
        } else {
            probe(format!("{WITHOUT}{name}"), without(input.base, parent, name));
        }
    }
    // The info object of the other mode, which some clients send empty.
    let other = match Mode::of(input.pair) {
        Mode::Sponsored => "tokenInfo",
        Mode::Erc20 => "sponsorshipInfo",
    };
    probe(format!("{NULL_AS}{other}"), with(input.base, MODE, other, Value::Null));
    members
});

/// Before the name of the member, in the label of a request with null in its place.
pub(crate) const NULL_AS: &str = "null as ";
/// Before the name of the member, in the label of a request without it.
pub(crate) const WITHOUT: &str = "without ";

/// The optional members of a request: place and name.
fn optional(pair: Kind) -> Vec<(&'static str, &'static str)> {
    let mut members = vec![(MODE, "calculateGasLimits"), (OPERATION, "initCode")];
    members.extend(GAS.map(|name| (OPERATION, name)));
    if Mode::of(pair) == Mode::Sponsored {
        members.extend([(SPONSORSHIP_INFO, "webhookData"), (SPONSORSHIP_INFO, "smartAccountInfo")]);
    }
    if pair == kinds::SPONSOR_SPONSORED {
        members.push((MODE, "expiryDuration"));
    }
    if pair == kinds::QUOTE_ERC20 {
        members.extend([(TOKEN_INFO, "preferredToken"), (TOKEN_INFO, "tokenList")]);
    }
    members
}

// Requests whose JSON is written in another way: member order, white space, escapes.

/// A request, and one of equal meaning whose JSON is written in another way.
pub static NOTATION: Relation = Relation::new(
    "notation",
    "the same call with members in another order, with white space, with escaped strings",
)
.of(
    Bases::These(&[
        Base::accepted(kinds::QUOTE_SPONSORED),
        base::unsupported_token(kinds::QUOTE_ERC20),
        Base::accepted(kinds::SPONSOR_SPONSORED),
        Base::accepted(kinds::SPONSOR_ERC20),
        base::refused(kinds::SPONSOR_SPONSORED),
    ]),
    Rounds::for_each(NOTATIONS),
    notations,
);

/// Writes a request.
type Write = fn(&Value) -> String;

/// The notations, one a round.
const NOTATIONS: &[(&str, Write)] = &[
    ("members in reverse order", |request| reordered(request, &|members| members.reverse()).to_string()),
    ("members in alphabetical order", |request| {
        reordered(request, &|members| members.sort_by(|a, b| a.0.cmp(&b.0))).to_string()
    }),
    ("members in the order of a published client: method, params, id, jsonrpc", |request| {
        in_client_order(request).to_string()
    }),
    ("line breaks and indentation", |request| serde_json::to_string_pretty(request).unwrap_or_default()),
    ("white space around every token", spaced),
    ("escaped letters in string values", |request| escaped(request, false)),
    ("escaped letters in member names", |request| escaped(request, true)),
    ("expiryDuration with a decimal point", |request| with_seconds(request, ".0")),
    ("expiryDuration with an exponent", |request| with_seconds(request, "e0")),
    ("the id as the last member", |request| {
        with(&without(request, "", "id"), "", "id", request["id"].clone()).to_string()
    }),
];

/// The request with this behind the digits of `expiryDuration`, where it is a whole number.
fn with_seconds(request: &Value, behind: &str) -> String {
    let seconds = &request["params"][1]["expiryDuration"];
    let written = seconds.as_u64().and_then(|seconds| format!("{seconds}{behind}").parse::<Number>().ok());
    let written = written.map(|seconds| with(request, "/params/1", "expiryDuration", seconds));
    written.unwrap_or_else(|| request.clone()).to_string()
}

fn notations(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let first = baseline(input, ids);
    let (label, write) = item_of_round(input, NOTATIONS);
    let variant = Member::plain(Role::Variant, *label, write(&with(input.base, "", "id", ids.next_id())));
    vec![first, variant, member(Role::Again, "the baseline again", input.base, ids)]
}

type Members = Vec<(String, Value)>;

fn reordered(value: &Value, order: &dyn Fn(&mut Members)) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Members =
                object.iter().map(|(name, value)| (name.clone(), reordered(value, order))).collect();
            order(&mut members);
            Value::Object(Map::from_iter(members))
        }
        Value::Array(items) => items.iter().map(|item| reordered(item, order)).collect(),
        other => other.clone(),
    }
}

/// The JSON text with every kind of insignificant white space around every token.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let members: Vec<String> = object
                .iter()
                .map(|(name, value)| format!("\r\n\t {} \n:\t{}", Value::from(name.as_str()), spaced(value)))
                .collect();
            format!(" {{ {} \r\n}} ", members.join(" ,"))
        }
        Value::Array(items) => {
            format!("\t[ {}\n] ", items.iter().map(spaced).collect::<Vec<_>>().join("\t, "))
        }
        other => format!(" {other}\n"),
    }
}

/// The JSON text with some letters of its strings, or of its member names, written as `\u` escapes.
fn escaped(value: &Value, names: bool) -> String {
    match value {
        Value::Object(object) => {
            let members: Vec<String> = object
                .iter()
                .map(|(name, value)| {
                    let name = if names { escape(name) } else { Value::from(name.as_str()).to_string() };
                    format!("{name}:{}", escaped(value, names))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| escaped(item, names)).collect::<Vec<_>>().join(","))
        }
        Value::String(text) if !names => escape(text),
        other => other.to_string(),
    }
}

/// Writes every third character as an escape, beginning with the first, with upper and lower case hex digits by turns.
fn escape(text: &str) -> String {
    let mut out = String::from("\"");
    for (place, letter) in text.chars().enumerate() {
        let plain = (' '..='~').contains(&letter) && !"\"\\".contains(letter);
        if plain && place % 3 != 0 {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let written = if place.is_multiple_of(2) {
                write!(out, "\\u{unit:04x}")
            } else {
                write!(out, "\\u{unit:04X}")
            };
            written.expect("a String takes all");
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_has_its_round() {
        let most = kinds::ALL.into_iter().map(|pair| Place::of(pair).len()).max();
        assert_eq!(Some(LETTER_CASE.rounds.count(u32::MAX) as usize), most);
    }

    #[test]
    fn every_notation_has_the_same_value() {
        let value = json!({"id": 1, "b": ["x\"y\\z", {"c": "0xAbC", "é\n": null}], "n": 1.50});
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&spaced(&value)), value);
        assert_eq!(read(&escaped(&value, false)), value);
        assert_eq!(read(&escaped(&value, true)), value);
        assert_ne!(escaped(&value, true), value.to_string());
        assert_eq!(reordered(&value, &|members| members.reverse()), value);
    }
}
