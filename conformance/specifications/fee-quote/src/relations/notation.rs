//! Requests whose JSON is written in another way: member order, white space, escapes.

use crate::base;
use paymaster_engine::cases::{
    case::{Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds},
    edit::{baseline, in_client_order, item_of_round, member, with, without},
};
use std::fmt::Write as _;

use paymaster_schemas::kinds;
use serde_json::{Map, Number, Value};

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
    ("expiryDuration with a decimal point", |request| {
        let place = "/params/1/expiryDuration";
        let seconds =
            request.pointer(place).and_then(|seconds| format!("{seconds}.0").parse::<Number>().ok());
        let is_whole = request.pointer(place).is_some_and(Value::is_u64);
        let seconds = seconds.filter(|_| is_whole);
        seconds
            .map_or_else(|| request.clone(), |seconds| with(request, "/params/1", "expiryDuration", seconds))
            .to_string()
    }),
    ("the id as the last member", |request| {
        with(&without(request, "", "id"), "", "id", request["id"].clone()).to_string()
    }),
];

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
    use super::*;
    use serde_json::json;

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
