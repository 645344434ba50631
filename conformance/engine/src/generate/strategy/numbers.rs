//! `minimum` and `maximum`.

use num_bigint::BigInt;
use proptest::test_runner::TestRng;
use serde_json::Value;

use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::kinds::{JsonKind, JsonKinds};
use crate::generate::{RngExt, Unsupported, boundary};

/// The numbers that a place may hold: whole bounds, both included.
pub(super) struct Numbers {
    minimum: Option<BigInt>,
    maximum: Option<BigInt>,
    edges: Vec<Value>,
    fractional_edges: Vec<Value>,
}

impl Numbers {
    pub(super) fn read(alternative: &Alternative, kinds: &JsonKinds) -> Result<Self, Unsupported> {
        let (mut minimum, mut maximum) = (None::<BigInt>, None::<BigInt>);
        for place in &alternative.places {
            let keywords = place.keywords()?;
            for keyword in ["minimum", "maximum"] {
                let Some(bound) = keywords.get(keyword) else { continue };
                let bound = bound
                    .to_string()
                    .parse::<BigInt>()
                    .map_err(|_| place.unsupported(&format!("{keyword} {bound}")))?;
                if keyword == "minimum" {
                    minimum = minimum.max(Some(bound));
                } else {
                    maximum = Some(maximum.map_or(bound.clone(), |known| known.min(bound)));
                }
            }
        }
        let mut numbers = Self { minimum, maximum, edges: Vec::new(), fractional_edges: Vec::new() };
        if kinds.contains(JsonKind::Integer) {
            numbers.collect_edges(kinds.contains(JsonKind::Fraction));
        }
        Ok(numbers)
    }

    fn collect_edges(&mut self, fractions: bool) {
        let bounds = self.minimum.iter().chain(&self.maximum);
        let mut texts: Vec<String> = bounds.map(ToString::to_string).collect();
        texts.extend(boundary::NUMBERS.map(str::to_owned));
        for text in texts {
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let negative = text.starts_with('-');
            let Ok(whole) = whole.parse::<BigInt>() else { continue };
            // A fraction lies between its whole part and the next integer away from zero: both must be in bounds.
            let outer = match (fraction.is_empty(), negative) {
                (true, _) => whole.clone(),
                (false, true) => &whole - 1,
                (false, false) => &whole + 1,
            };
            let inside = |number: &BigInt| {
                self.minimum.as_ref().is_none_or(|minimum| minimum <= number)
                    && self.maximum.as_ref().is_none_or(|maximum| number <= maximum)
            };
            if !inside(&whole) || !inside(&outer) {
                continue;
            }
            if fraction.is_empty() {
                self.edges.push(boundary::number(&text));
            } else if fractions {
                self.fractional_edges.push(boundary::number(&text));
            }
        }
    }

    /// A number without a fraction.
    pub(super) fn integer(&self, rng: &mut TestRng) -> Value {
        if !self.edges.is_empty() && rng.chance(boundary::PERCENT) {
            return rng.pick(&self.edges).clone();
        }
        boundary::number(&self.whole(rng).to_string())
    }

    /// A number with a fraction, or at least written like one.
    pub(super) fn fraction(&self, rng: &mut TestRng) -> Value {
        if !self.fractional_edges.is_empty() && rng.chance(boundary::PERCENT) {
            return rng.pick(&self.fractional_edges).clone();
        }
        let whole = self.whole(rng);
        let at_the_end = self.maximum.as_ref() == Some(&whole);
        let may_leave = whole >= BigInt::ZERO || self.minimum.is_none();
        let digits = if at_the_end || !may_leave { 0 } else { rng.magnitude() % 1_000_000 };
        boundary::number(&format!("{whole}.{digits}"))
    }

    fn whole(&self, rng: &mut TestRng) -> BigInt {
        if let (Some(minimum), Some(maximum)) = (&self.minimum, &self.maximum)
            && let Ok(span) = u64::try_from(maximum - minimum)
        {
            return minimum + rng.between(0, span);
        }
        let mut drawn = BigInt::from(rng.magnitude());
        if self.minimum.is_none() && rng.chance(15) {
            drawn = -drawn;
        }
        if let Some(minimum) = &self.minimum {
            drawn = drawn.max(minimum.clone());
        }
        if let Some(maximum) = &self.maximum {
            drawn = drawn.min(maximum.clone());
        }
        drawn
    }
}
