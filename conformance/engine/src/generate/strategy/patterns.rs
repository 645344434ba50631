//! The patterns of the schema documents, each with its own generator: proptest's regex strategy takes more than twenty times as
//! long.

use proptest::{
    prelude::{BoxedStrategy, Strategy},
    strategy::ValueTree,
    string::string_regex,
    test_runner::{Reason, TestRng, TestRunner},
};

use crate::generate::{
    boundary,
    random::RngExt,
    schema::{Place, Unsupported},
};

/// Longest byte string that is drawn, boundary values aside, in bytes.
const MOST_BYTES: usize = 100;

/// A pattern that strings are drawn from.
pub(super) enum Pattern {
    Address,
    /// An address, or the short form that stands for a delegation by EIP-7702.
    AddressOr7702,
    AddressAndBytes,
    Quantity,
    Bytes,
    SomeBytes,
    Digits,
    Version,
    DigitsOrQuantity,
    Url,
    Amount,
    Other(BoxedStrategy<String>),
}

impl Pattern {
    pub(super) fn read(text: &str, place: &Place) -> Result<Self, Unsupported> {
        Ok(match text {
            "^0x[0-9a-fA-F]{40}$" => Self::Address,
            "^0x(?:[0-9a-fA-F]{40}|7702)$" => Self::AddressOr7702,
            "^0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{2})*$" => Self::AddressAndBytes,
            "^0x[0-9a-fA-F]+$" => Self::Quantity,
            "^0x(?:[0-9a-fA-F]{2})*$" => Self::Bytes,
            "^0x(?:[0-9a-fA-F]{2})+$" => Self::SomeBytes,
            "^[0-9]+$" => Self::Digits,
            "^[0-9]+\\.[0-9]+\\.[0-9]+$" => Self::Version,
            "^(?:[0-9]+|0x[0-9a-fA-F]+)$" => Self::DigitsOrQuantity,
            "^[A-Za-z][A-Za-z0-9+.-]*:\\S+$" => Self::Url,
            // The pattern is too long to repeat here. Tests of the document check its bound.
            _ if place.document == "amount" => Self::Amount,
            other => {
                let bare = other.trim_start_matches('^').trim_end_matches('$');
                let strategy = string_regex(bare)
                    .map_err(|cause| place.unsupported(&format!("the pattern {other:?} ({cause})")))?;
                Self::Other(strategy.boxed())
            }
        })
    }

    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<String, Reason> {
        let rng = runner.rng();
        Ok(match self {
            Self::AddressOr7702 if rng.chance(20) => "0x7702".to_owned(),
            Self::Address | Self::AddressOr7702 => any_case(rng, 20),
            Self::AddressAndBytes => {
                let length = rng.count(20, MOST_BYTES);
                any_case(rng, length)
            }
            Self::Quantity => amount(rng, boundary::Notation::Hex),
            Self::Bytes => {
                let length = if rng.chance(boundary::PERCENT) {
                    boundary::byte_length(rng)
                } else {
                    rng.count(0, MOST_BYTES)
                };
                any_case(rng, length)
            }
            Self::SomeBytes => {
                let length = rng.count(1, MOST_BYTES);
                any_case(rng, length)
            }
            Self::Digits => rng.magnitude().to_string(),
            Self::Version => format!("{}.{}.{}", rng.below(10), rng.below(20), rng.below(100)),
            Self::DigitsOrQuantity if rng.chance(50) => rng.magnitude().to_string(),
            Self::DigitsOrQuantity => format!("{:#x}", rng.magnitude()),
            Self::Url => url(rng),
            Self::Amount => {
                let notation = *rng.pick(&[boundary::Notation::Decimal, boundary::Notation::Hex]);
                amount(rng, notation)
            }
            Self::Other(strategy) => strategy.new_tree(runner)?.current(),
        })
    }
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
    match text.strip_prefix("0x") {
        Some(digits) => format!("0x00{digits}"),
        None => format!("00{text}"),
    }
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
