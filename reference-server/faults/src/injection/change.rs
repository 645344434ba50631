//! Changes to JSON values that several injections share.

use serde_json::{Map, Value};

/// Parses JSON text of a table; numbers keep their notation. Text that is not JSON gives null, which a test of the tables
/// finds.
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// The content of a string, or the JSON text of any other value.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Hex digits that end with a signature of 65 bytes, with its form of 64 bytes by EIP-2098.
pub(crate) fn with_compact_signature(digits: &str) -> String {
    let (rest, v) = digits.split_at(digits.len() - 2);
    let (rest, s) = rest.split_at(rest.len() - 64);
    let parity = if v == "1c" { 0x80 } else { 0 };
    let first = u8::from_str_radix(&s[..2], 16).unwrap_or_default() | parity;
    format!("{rest}{first:02x}{}", &s[2..])
}

/// [`text_of`] as a JSON string.
pub(crate) fn decimal_text(value: &Value) -> Value {
    Value::String(text_of(value))
}

/// The decimal digits of a string or a number as a hex quantity.
pub(crate) fn in_hex(value: &Value) -> Value {
    let amount = text_of(value).parse::<alloy_primitives::U256>().unwrap_or_default();
    format!("{amount:#x}").into()
}

/// Adds a member, or replaces its value.
pub(crate) fn set(object: &mut Map<String, Value>, member: &str, value: impl Into<Value>) {
    object.insert(member.to_owned(), value.into());
}

/// Replaces the value of a member that the object has.
pub(crate) fn replace(object: &mut Map<String, Value>, member: &str, value: impl Into<Value>) {
    if let Some(old) = object.get_mut(member) {
        *old = value.into();
    }
}

/// Changes the text of a member that the object has.
pub(crate) fn change_text(object: &mut Map<String, Value>, member: &str, to: impl FnOnce(&str) -> String) {
    change(object, member, |value| to(&text_of(value)).into());
}

/// Changes the value of a member that the object has.
pub(crate) fn change(object: &mut Map<String, Value>, member: &str, change: impl FnOnce(&Value) -> Value) {
    if let Some(value) = object.get_mut(member) {
        *value = change(value);
    }
}

pub(crate) fn remove(object: &mut Map<String, Value>, member: &str) {
    object.shift_remove(member);
}

/// The result of a response, if it is an object.
pub(crate) fn result(answer: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    answer.get_mut("result").and_then(Value::as_object_mut)
}

/// A valid result of that mode, with this `paymasterAndData`.
pub(crate) fn some_result(mode: &str, data: &str) -> Value {
    serde_json::json!({
        "MODE": mode,
        "mode": mode,
        "paymasterAndData": data,
        "preVerificationGas": "45000",
        "verificationGasLimit": 120_000,
        "callGasLimit": 60_000,
    })
}

/// Some `paymasterAndData` that is no refusal.
pub(crate) const SOME_DATA: &str = "0x6d1a5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

/// An address where nothing is deployed.
pub(crate) const NO_CONTRACT: &str = "0x00000000000000000000000000000000000000aa";

/// Whether a result refuses to sponsor.
pub(crate) fn is_refusal(result: &Map<String, Value>) -> bool {
    result.get("paymasterAndData").is_some_and(|data| data == "0x")
}

/// Makes new data of the paymaster's address and of what is behind it.
pub(crate) fn change_data(result: &mut Map<String, Value>, make: impl FnOnce(&str, &str) -> String) {
    if let Some(data) = result.get("paymasterAndData").and_then(Value::as_str) {
        let (paymaster, rest) = data.split_at_checked(42).unwrap_or_default();
        let data = make(paymaster, rest);
        set(result, "paymasterAndData", data);
    }
}

/// Replaces the data of a result that refuses to sponsor.
pub(crate) fn replace_refusal(result: &mut Map<String, Value>, data: &str) {
    if is_refusal(result) {
        set(result, "paymasterAndData", data);
    }
}

/// The fee quotes of a result; empty when it has none.
pub(crate) fn quotes(result: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list(result, "feeQuotes").into_iter().flatten().filter_map(Value::as_object_mut)
}

pub(crate) fn has_quotes(result: &mut Map<String, Value>) -> bool {
    quotes(result).next().is_some()
}

/// Changes this member of each fee quote.
pub(crate) fn each_quote(result: &mut Map<String, Value>, member: &str, change: impl Fn(&Value) -> Value) {
    for quote in quotes(result) {
        self::change(quote, member, &change);
    }
}

/// Changes a string, or each string of an array.
fn map_strings(value: &mut Value, change: fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_strings(item, change)),
        _ => {}
    }
}

/// Changes the string of a member, or each string of its array.
pub(crate) fn change_strings(object: &mut Map<String, Value>, member: &str, change: fn(&str) -> String) {
    if let Some(value) = object.get_mut(member) {
        map_strings(value, change);
    }
}

/// Changes the spelling of the paymaster address and of every token address of a quote result.
pub(crate) fn rename_address(result: &mut Map<String, Value>, change: fn(&str) -> String) {
    change_strings(result, "paymasterAddress", change);
    change_strings(result, "unsupportedTokens", change);
    quotes(result).for_each(|quote| change_strings(quote, "tokenAddress", change));
}

/// Quotes none of these tokens, and lists them as unsupported.
pub(crate) fn list_as_unsupported(result: &mut Map<String, Value>, unknown: &[&str]) {
    retain(result, "feeQuotes", |_, token| !unknown.iter().any(|other| other.eq_ignore_ascii_case(token)));
    if let Some(tokens) = list(result, "unsupportedTokens") {
        tokens.extend(unknown.iter().map(|token| Value::from(*token)));
    }
}

/// An array of a result.
pub(crate) fn list<'a>(result: &'a mut Map<String, Value>, member: &str) -> Option<&'a mut Vec<Value>> {
    result.get_mut(member)?.as_array_mut()
}

/// Keeps the items of an array of quotes or tokens whose place and token address `keep` accepts.
pub(crate) fn retain(
    result: &mut Map<String, Value>,
    member: &str,
    mut keep: impl FnMut(usize, &str) -> bool,
) {
    let mut places = 0..;
    if let Some(items) = list(result, member) {
        items.retain(|item| {
            let address = text_of(item.get("tokenAddress").unwrap_or(item));
            places.next().is_some_and(|place| keep(place, &address))
        });
    }
}

/// Replaces the result of an answer, or its error, by an error.
pub(crate) fn refuse(answer: &mut Map<String, Value>, code: i32, message: &str) {
    remove(answer, "result");
    set(answer, "error", serde_json::json!({ "code": code, "message": message }));
}

/// Refuses what has a result.
pub(crate) fn refuse_result(answer: &mut Map<String, Value>, code: i32, message: &str) {
    if answer.contains_key("result") {
        refuse(answer, code, message);
    }
}

/// Changes an answer that is an error.
pub(crate) fn in_error(answer: &mut Map<String, Value>, change: impl FnOnce(&mut Map<String, Value>)) {
    if answer.contains_key("error") {
        change(answer);
    }
}

/// Reverses the order of members, at every level.
pub(crate) fn reverse_members(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = std::mem::take(object).into_iter().collect();
            members.reverse();
            for (_, value) in &mut members {
                reverse_members(value);
            }
            object.extend(members);
        }
        Value::Array(items) => items.iter_mut().for_each(reverse_members),
        _ => {}
    }
}
