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

/// [`text_of`] as a JSON string.
pub(crate) fn decimal_text(value: &Value) -> Value {
    Value::String(text_of(value))
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

/// Whether a result refuses to sponsor.
pub(crate) fn is_refusal(result: &Map<String, Value>) -> bool {
    result.get("paymasterAndData").is_some_and(|data| data == "0x")
}

/// Replaces the data of a result that refuses to sponsor.
pub(crate) fn replace_refusal(result: &mut Map<String, Value>, data: &str) {
    if is_refusal(result) {
        set(result, "paymasterAndData", data);
    }
}

/// The fee quotes of a result; empty when it has none.
pub(crate) fn quotes(result: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let quotes = result.get_mut("feeQuotes").and_then(Value::as_array_mut);
    quotes.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Changes this member of each fee quote.
pub(crate) fn each_quote(result: &mut Map<String, Value>, member: &str, change: fn(&Value) -> Value) {
    for quote in quotes(result) {
        self::change(quote, member, change);
    }
}

/// Changes a string, or each string of an array.
pub(crate) fn map_strings(value: &mut Value, change: fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_strings(item, change)),
        _ => {}
    }
}

/// Changes the spelling of the paymaster address and of every token address of a quote result.
pub(crate) fn rename_address(result: &mut Map<String, Value>, change: fn(&str) -> String) {
    for member in ["paymasterAddress", "unsupportedTokens"] {
        if let Some(value) = result.get_mut(member) {
            map_strings(value, change);
        }
    }
    for quote in quotes(result) {
        if let Some(value) = quote.get_mut("tokenAddress") {
            map_strings(value, change);
        }
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
