//! `enum` and `const`.

use serde_json::Value;

use crate::generate::Unsupported;
use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::kinds::{JsonKind, JsonKinds};
use crate::json::is_integer;

/// The values that every `enum` and `const` allows; none when there is neither.
pub(super) fn read(alternative: &Alternative, kinds: &JsonKinds) -> Result<Option<Vec<Value>>, Unsupported> {
    let mut left: Option<Vec<Value>> = None;
    for place in &alternative.places {
        let keywords = place.keywords()?;
        let listed = keywords.get("enum").and_then(Value::as_array).cloned();
        let single = keywords.get("const").map(|value| vec![value.clone()]);
        for allowed in [listed, single].into_iter().flatten() {
            left = Some(match left {
                None => allowed,
                Some(mut values) => {
                    values.retain(|value| allowed.contains(value));
                    values
                }
            });
        }
    }
    Ok(left.map(|mut values| {
        values.retain(|value| kinds.contains(kind(value)));
        values
    }))
}

fn kind(value: &Value) -> JsonKind {
    match value {
        Value::Null => JsonKind::Null,
        Value::Bool(_) => JsonKind::Bool,
        Value::Number(number) if is_integer(number) => JsonKind::Integer,
        Value::Number(_) => JsonKind::Fraction,
        Value::String(_) => JsonKind::Text,
        Value::Array(_) => JsonKind::Array,
        Value::Object(_) => JsonKind::Object,
    }
}
