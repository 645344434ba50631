//! `enum` and `const`.

use serde_json::Value;

use crate::cases::generate::schema::Unsupported;
use crate::cases::generate::strategy::{
    choices::Alternative,
    kinds::{Kind, Kinds},
};

/// The values that all of `enum` and `const` leave; none when there is neither.
pub(super) fn read(alternative: &Alternative, kinds: &Kinds) -> Result<Option<Vec<Value>>, Unsupported> {
    let mut left: Option<Vec<Value>> = None;
    for place in &alternative.places {
        let Some(keywords) = place.keywords()? else {
            continue;
        };
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

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Bool,
        Value::Number(number) => {
            let whole = crate::json::number::Exact::parse(&number.to_string())
                .is_some_and(|exact| exact.is_integer());
            if whole { Kind::Integer } else { Kind::Fraction }
        }
        Value::String(_) => Kind::Text,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}
