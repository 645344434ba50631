//! Invalid values for each keyword, as close to a valid value as possible.

use num_bigint::BigInt;
use serde_json::{Number, Value, json};

use crate::generate::{Edit, Place, TextEdit, number};

/// One value of every type that is not allowed. It looks like an allowed value where it can: `"7"` for an integer.
pub(super) fn other_types(place: &Place, argument: &Value) -> Vec<Edit> {
    let several = place.strings("type");
    let allows = |name: &str| several.contains(&name) || argument == name;
    let mut others = Vec::new();
    if !allows("null") {
        others.push(Value::Null);
    }
    if !allows("boolean") {
        others.push(Value::Bool(true));
    }
    match (allows("integer"), allows("number")) {
        (_, true) => {}
        (true, false) => others.push(number("1.5")),
        (false, false) => others.push(json!(if allows("boolean") { 1 } else { 7 })),
    }
    if !allows("string") {
        let text = if allows("boolean") {
            "true"
        } else if allows("integer") || allows("number") {
            "7"
        } else {
            "text"
        };
        others.push(json!(text));
    }
    if !allows("array") {
        others.push(json!([]));
    }
    if !allows("object") {
        others.push(json!({}));
    }
    others.into_iter().map(Edit::Set).collect()
}

/// The next number beyond an integer bound.
pub(super) fn beyond(argument: &Value, step: i8) -> Option<Edit> {
    let bound: BigInt = argument.to_string().parse().ok()?;
    Some(Edit::Set(number(&(bound + step).to_string())))
}

/// Values that are not allowed: close to the allowed ones, and quite different ones.
pub(super) fn near_misses(allowed: &[Value]) -> Vec<Value> {
    let mut misses = vec![json!("no-such-value"), json!(""), Value::Null, json!(0)];
    for value in allowed {
        let Some(text) = value.as_str() else { continue };
        misses.extend([text.to_ascii_lowercase(), text.to_ascii_uppercase()].map(Value::String));
        misses.push(json!(format!("{text} ")));
        misses.push(json!([text]));
        misses.extend(text.parse::<Number>().map(Value::Number));
    }
    misses.retain(|value| !allowed.contains(value));
    misses
}

/// Edits that give a string which does not match the pattern.
pub(super) fn misfits(document: &str, pattern: &str) -> Vec<Edit> {
    use TextEdit::{Append, BadDigit, DropLast, NoPrefix, Prepend, UpperPrefix};
    let texts = |texts: &[&str]| texts.iter().map(|text| Edit::Set(json!(text))).collect::<Vec<_>>();
    let changes = |changes: &[TextEdit]| changes.iter().copied().map(Edit::Text).collect::<Vec<_>>();
    match pattern {
        "^0x[0-9a-fA-F]{40}$" | "^0x(?:[0-9a-fA-F]{40}|7702)$" | "^0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{2})*$" => {
            let edits = [DropLast, Append("0"), BadDigit, NoPrefix, UpperPrefix, Prepend(" "), Append("\n")];
            [changes(&edits), texts(&["", "0x"])].concat()
        }
        "^0x(?:[0-9a-fA-F]{2})*$" | "^0x(?:[0-9a-fA-F]{2})+$" => {
            let edits =
                [DropLast, Append("0"), Append("zz"), NoPrefix, UpperPrefix, Prepend(" "), Append("\n")];
            [changes(&edits), texts(if pattern.ends_with("*$") { &[""] } else { &["", "0x"] })].concat()
        }
        "^0x[0-9a-fA-F]+$" => {
            let edits = [BadDigit, NoPrefix, UpperPrefix, Prepend(" "), Append("\n")];
            [changes(&edits), texts(&["", "0x", "-0x1", "1.5", "one"])].concat()
        }
        "^[0-9]+$" => texts(&["", "-1", "1.5", "1e3", "0x10", " 1", "1\n", "one"]),
        "^[0-9]+\\.[0-9]+\\.[0-9]+$" => {
            texts(&["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc", "1..0", "a.b.c"])
        }
        _ if document == "amount" => {
            let beyond_decimal =
                "115792089237316195423570985008687907853269984665640564039457584007913129639936";
            let beyond_hex = format!("0x1{}", "0".repeat(64));
            let others =
                ["", "0x", "-1", "-0x1", "1.5", "1e3", "0xg", "one", "1_000", beyond_decimal, &beyond_hex];
            [texts(&others), changes(&[UpperPrefix, BadDigit, Prepend(" "), Append("\n")])].concat()
        }
        // Strings that the schema accepts are dropped when the site is applied.
        _ => [changes(&[DropLast, BadDigit, Prepend(" "), Append("\n")]), texts(&["", "\n", "?"])].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_has_its_own_invalid_texts() {
        let has = |document: &str, pattern: &str, text: &str| {
            misfits(document, pattern).contains(&Edit::Set(json!(text)))
        };
        assert!(has("decimal-digits", "^[0-9]+$", "0x10"));
        let beyond = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        assert!(has("amount", "spelt out elsewhere", beyond));
        // A pattern without edits of its own.
        assert!(has("other", "^a$", "?"));
        assert!(!has("other", "^a$", beyond));
    }
}
