//! `type`.

use proptest::test_runner::TestRng;

use crate::cases::generate::strategy::choices::Alternative;
use crate::cases::generate::{dice::Dice, schema::Unsupported};

/// A kind of JSON value; numbers with and without a fraction apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Integer,
    Fraction,
    Text,
    Array,
    Object,
}

/// The kinds that a place may have.
pub(super) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(super) fn read(alternative: &Alternative) -> Result<Self, Unsupported> {
        use Kind::{Array, Bool, Fraction, Integer, Null, Object, Text};
        let mut kinds = vec![Null, Bool, Integer, Fraction, Text, Array, Object];
        let mut said = false;
        for place in &alternative.places {
            let Some(keywords) = place.keywords()? else {
                continue;
            };
            let Some(types) = keywords.get("type") else {
                continue;
            };
            said = true;
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
        if !said {
            kinds.retain(|kind| *kind == implied(alternative).unwrap_or(*kind));
        }
        Ok(Self(kinds))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    /// One of the kinds. Integers and fractions share the chance of a number.
    pub(super) fn draw(&self, rng: &mut TestRng) -> Kind {
        match self.0.as_slice() {
            [only] => *only,
            several => *rng.pick(several),
        }
    }
}

/// The kind that a schema without `type` is evidently about.
fn implied(alternative: &Alternative) -> Option<Kind> {
    const SIGNS: [(&str, Kind); 10] = [
        ("properties", Kind::Object),
        ("required", Kind::Object),
        ("prefixItems", Kind::Array),
        ("items", Kind::Array),
        ("minItems", Kind::Array),
        ("pattern", Kind::Text),
        ("minLength", Kind::Text),
        ("maxLength", Kind::Text),
        ("minimum", Kind::Integer),
        ("maximum", Kind::Integer),
    ];
    SIGNS.iter().find_map(|(keyword, kind)| {
        let uses = |place: &crate::cases::generate::schema::Place| {
            place
                .keywords()
                .ok()
                .flatten()
                .is_some_and(|keywords| keywords.contains_key(*keyword))
        };
        alternative.places.iter().any(uses).then_some(*kind)
    })
}
