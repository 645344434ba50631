//! `pattern`, `minLength` and `maxLength`.

use proptest::test_runner::{Reason, TestRng, TestRunner};
use serde_json::Value;

use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::patterns::Pattern;
use crate::generate::{RngExt, Unsupported, boundary};

/// Longest string that is drawn where the schema gives no bound, in characters.
const LONGEST: usize = 12;

/// The strings that a place may hold.
pub(super) struct Text {
    pattern: Option<Pattern>,
    shortest: usize,
    longest: usize,
    edges: Vec<Value>,
}

impl Text {
    pub(super) fn read(alternative: &Alternative) -> Result<Self, Unsupported> {
        let mut pattern: Option<(&str, Pattern)> = None;
        let (mut shortest, mut bound) = (0, None::<usize>);
        for place in &alternative.places {
            let keywords = place.keywords()?;
            if let Some(text) = keywords.get("pattern").and_then(Value::as_str) {
                match &pattern {
                    Some((known, _)) if *known != text => {
                        return Err(place.unsupported("two patterns at one place"));
                    }
                    _ => pattern = Some((text, Pattern::read(text, place)?)),
                }
            }
            shortest = shortest.max(place.count("minLength").unwrap_or(0));
            bound = place.count("maxLength").into_iter().chain(bound).min();
        }
        if pattern.is_some() && (shortest > 0 || bound.is_some()) {
            let place = &alternative.places[0];
            return Err(place.unsupported("a pattern together with a length"));
        }
        let allowed = |text: &&String| {
            let length = text.chars().count();
            length >= shortest && bound.is_none_or(|bound| length <= bound)
        };
        let edges = boundary::strings().iter().filter(allowed);
        Ok(Self {
            pattern: pattern.map(|(_, pattern)| pattern),
            shortest,
            longest: bound.map_or(shortest + LONGEST, |bound| bound.min(shortest + LONGEST)),
            edges: edges.cloned().map(Value::String).collect(),
        })
    }

    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        if let Some(pattern) = &self.pattern {
            return Ok(Value::String(pattern.draw(runner)?));
        }
        let rng = runner.rng();
        if !self.edges.is_empty() && rng.chance(boundary::PERCENT) {
            return Ok(rng.pick(&self.edges).clone());
        }
        let length = rng.count(self.shortest, self.longest);
        Ok(Value::String((0..length).map(|_| character(rng)).collect()))
    }
}

fn character(rng: &mut TestRng) -> char {
    const USUAL: &[u8; 40] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.";
    char::from(*rng.pick(USUAL))
}
