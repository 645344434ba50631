//! The patterns of the schema documents, each with its own generator: proptest's regex strategy takes more than twenty times as
//! long.

use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use proptest::test_runner::{Reason, TestRng, TestRunner};

use crate::generate::{Place, RngExt, Unsupported, boundary};

/// Longest byte string that is drawn, boundary values aside, in bytes.
const MOST_BYTES: usize = 100;

/// How one string is drawn.
type Draw = fn(&mut TestRng) -> String;

const KNOWN: [(&str, Draw); 10] = [
    ("^0x[0-9a-fA-F]{40}$", |rng| any_case(rng, 20)),
    // An address, or the short form that stands for a delegation by EIP-7702.
    (
        "^0x(?:[0-9a-fA-F]{40}|7702)$",
        |rng| {
            if rng.chance(20) { "0x7702".to_owned() } else { any_case(rng, 20) }
        },
    ),
    ("^0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{2})*$", |rng| bytes(rng, 20)),
    ("^0x[0-9a-fA-F]+$", |rng| amount(rng, boundary::Notation::Hex)),
    ("^0x(?:[0-9a-fA-F]{2})*$", |rng| {
        if !rng.chance(boundary::PERCENT) {
            return bytes(rng, 0);
        }
        let length = boundary::byte_length(rng);
        any_case(rng, length)
    }),
    ("^0x(?:[0-9a-fA-F]{2})+$", |rng| bytes(rng, 1)),
    ("^[0-9]+$", |rng| rng.magnitude().to_string()),
    ("^[0-9]+\\.[0-9]+\\.[0-9]+$", |rng| format!("{}.{}.{}", rng.below(10), rng.below(20), rng.below(100))),
    ("^(?:[0-9]+|0x[0-9a-fA-F]+)$", |rng| {
        if rng.chance(50) { rng.magnitude().to_string() } else { format!("{:#x}", rng.magnitude()) }
    }),
    ("^[A-Za-z][A-Za-z0-9+.-]*:\\S+$", url),
];

/// A pattern that strings are drawn from.
pub(super) enum Pattern {
    Known(Draw),
    Other(BoxedStrategy<String>),
}

impl Pattern {
    pub(super) fn read(text: &str, place: &Place) -> Result<Self, Unsupported> {
        if let Some((_, draw)) = KNOWN.iter().find(|(known, _)| *known == text) {
            return Ok(Self::Known(*draw));
        }
        // The pattern is too long to repeat here. Tests of the document check its bound.
        if place.document == "amount" {
            return Ok(Self::Known(|rng| {
                let notation = *rng.pick(&[boundary::Notation::Decimal, boundary::Notation::Hex]);
                amount(rng, notation)
            }));
        }
        let bare = text.trim_start_matches('^').trim_end_matches('$');
        let strategy = string_regex(bare)
            .map_err(|cause| place.unsupported(&format!("the pattern {text:?} ({cause})")))?;
        Ok(Self::Other(strategy.boxed()))
    }

    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<String, Reason> {
        match self {
            Self::Known(draw) => Ok(draw(runner.rng())),
            Self::Other(strategy) => Ok(strategy.new_tree(runner)?.current()),
        }
    }
}

/// At least so many bytes, boundary values aside.
fn bytes(rng: &mut TestRng, least: usize) -> String {
    let length = rng.count(least, MOST_BYTES);
    any_case(rng, length)
}

/// Bytes in lower, upper or mixed case.
fn any_case(rng: &mut TestRng, bytes: usize) -> String {
    let text = rng.hex(bytes);
    match rng.below(4) {
        0 | 1 => text,
        2 => text.to_ascii_uppercase().replacen("0X", "0x", 1),
        _ => {
            let mixed = text[2..]
                .chars()
                .map(|digit| if rng.chance(50) { digit.to_ascii_uppercase() } else { digit });
            format!("0x{}", mixed.collect::<String>())
        }
    }
}

fn url(rng: &mut TestRng) -> String {
    let scheme = *rng.pick(&["https", "http", "ipfs", "data"]);
    format!("{scheme}://host-{}.example/{}.png", rng.below(100), rng.below(1_000))
}

fn amount(rng: &mut TestRng, notation: boundary::Notation) -> String {
    let value = if rng.chance(boundary::PERCENT) {
        notation.write(rng.pick(boundary::amounts()))
    } else {
        notation.write(&rng.magnitude().into())
    };
    let text = value.as_str().unwrap_or_default().to_owned();
    // Leading zeros are valid and rare.
    if !rng.chance(3) {
        return text;
    }
    if let Some(digits) = text.strip_prefix("0x") { format!("0x00{digits}") } else { format!("00{text}") }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::documents;

    use super::*;
    use crate::generate::random;

    #[test]
    fn every_pattern_of_the_documents_has_its_own_generator() {
        fn patterns(schema: &serde_json::Value, found: &mut Vec<String>) {
            match schema {
                serde_json::Value::Object(map) => {
                    found.extend(map.get("pattern").and_then(|text| text.as_str()).map(str::to_owned));
                    map.values().for_each(|inner| patterns(inner, found));
                }
                serde_json::Value::Array(items) => items.iter().for_each(|inner| patterns(inner, found)),
                _ => {}
            }
        }
        for document in documents() {
            let place = Place::root(document.name).unwrap();
            let mut found = Vec::new();
            patterns(paymaster_schemas::resolved(document.name).unwrap(), &mut found);
            for text in found {
                let read = Pattern::read(&text, &place).unwrap();
                assert!(!matches!(read, Pattern::Other(_)), "{} {text}", document.name);
            }
        }
    }

    #[test]
    fn unknown_patterns_are_drawn_too() {
        let place = Place::root("url").unwrap();
        let pattern = Pattern::read("^[ab]{3}$", &place).unwrap();
        let text = pattern.draw(&mut random::runner(1)).unwrap();
        assert!(text.len() == 3 && text.bytes().all(|letter| letter == b'a' || letter == b'b'), "{text}");
        assert!(Pattern::read("(", &place).is_err());
    }
}
