//! `type`.

use proptest::test_runner::TestRng;

use crate::generate::strategy::choices::Alternative;
use crate::generate::{RngExt, Unsupported};

/// A kind of JSON value. Integers and fractions are separate kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKind {
    Null,
    Bool,
    Integer,
    Fraction,
    Text,
    Array,
    Object,
}

/// The kinds that a place may have.
pub(super) struct JsonKinds(Vec<JsonKind>);

impl JsonKinds {
    pub(super) fn read(alternative: &Alternative) -> Result<Self, Unsupported> {
        use JsonKind::{Array, Bool, Fraction, Integer, Null, Object, Text};
        let mut kinds = vec![Null, Bool, Integer, Fraction, Text, Array, Object];
        let mut has_type = false;
        for place in &alternative.places {
            let keywords = place.keywords()?;
            let Some(types) = keywords.get("type") else { continue };
            has_type = true;
            let mut allowed = Vec::new();
            let single = types.as_str();
            for name in place.strings("type").into_iter().chain(single) {
                allowed.extend_from_slice(match name {
                    "null" => &[Null],
                    "boolean" => &[Bool],
                    "integer" => &[Integer],
                    "number" => &[Integer, Fraction],
                    "string" => &[Text],
                    "array" => &[Array],
                    "object" => &[Object],
                    _ => return Err(place.unsupported(&format!("type {name:?}"))),
                });
            }
            kinds.retain(|kind| allowed.contains(kind));
        }
        if !has_type {
            kinds.retain(|kind| *kind == implied(alternative).unwrap_or(*kind));
        }
        Ok(Self(kinds))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, kind: JsonKind) -> bool {
        self.0.contains(&kind)
    }

    /// One of the kinds, each with the same chance.
    pub(super) fn draw(&self, rng: &mut TestRng) -> JsonKind {
        match self.0.as_slice() {
            [only] => *only,
            several => *rng.pick(several),
        }
    }
}

/// The kind that the keywords of a schema without `type` apply to.
fn implied(alternative: &Alternative) -> Option<JsonKind> {
    const SIGNS: [(&str, JsonKind); 10] = [
        ("properties", JsonKind::Object),
        ("required", JsonKind::Object),
        ("prefixItems", JsonKind::Array),
        ("items", JsonKind::Array),
        ("minItems", JsonKind::Array),
        ("pattern", JsonKind::Text),
        ("minLength", JsonKind::Text),
        ("maxLength", JsonKind::Text),
        ("minimum", JsonKind::Integer),
        ("maximum", JsonKind::Integer),
    ];
    SIGNS.iter().find_map(|(keyword, kind)| {
        let uses = |place: &crate::generate::schema::Place| {
            place.keywords().is_ok_and(|keywords| keywords.contains_key(*keyword))
        };
        alternative.places.iter().any(uses).then_some(*kind)
    })
}
