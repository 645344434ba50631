//! Shorter and simpler scalars in the same notation.

use serde_json::{Number, Value};

use crate::generate::number;

/// The gas of a plain transfer: the smallest limit that a chain takes.
const LEAST_GAS: &str = "21000";
const LEAST_GAS_HEX: &str = "0x5208";
/// Characters of `0x` and a function selector.
const SELECTOR: usize = 10;

/// The weight of a text: zeros and the x of a prefix weigh least, capitals and other scripts most.
pub(super) fn text_weight(text: &str) -> usize {
    let weigh = |letter: char| match letter {
        '0' | 'x' => 4,
        'A'..='Z' => 6,
        _ if letter.is_ascii() => 5,
        _ => 8,
    };
    text.chars().map(weigh).sum()
}

/// Candidates for a string.
pub(super) fn texts(text: &str) -> impl Iterator<Item = String> {
    let mut plainer: Vec<String> = Vec::new();
    let mut add = |candidate: &str| plainer.push(candidate.to_owned());
    if let Some(digits) = text.strip_prefix("0x")
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        for short in ["0x", "0x0", "0x1", LEAST_GAS_HEX] {
            add(short);
        }
        if text.len() > SELECTOR {
            add(&text[..SELECTOR]);
        }
        // Whole bytes stay whole bytes.
        let bytes = digits.len() / 2;
        for kept in [bytes / 2, bytes * 3 / 4, bytes.saturating_sub(1)] {
            add(&text[..2 + 2 * kept]);
        }
        add(&format!("0x{}", "0".repeat(digits.len())));
        add(&format!("0x{}", digits.trim_start_matches('0')));
        add(&text.to_ascii_lowercase());
    } else if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        for short in ["0", "1", LEAST_GAS] {
            add(short);
        }
        add(&text[..text.len().div_ceil(2)]);
        add(text.trim_start_matches('0'));
    } else {
        let half = text.chars().count() / 2;
        add("");
        add(&text.chars().take(half).collect::<String>());
        add(&text.chars().skip(half).collect::<String>());
    }
    plainer.into_iter()
}

/// Candidates for a number.
pub(super) fn numbers(value: &Number) -> impl Iterator<Item = Value> {
    let text = value.to_string();
    let digits = text.trim_start_matches('-');
    let whole = digits.split(['.', 'e', 'E']).next().unwrap_or_default();
    let half = &whole[..whole.len().div_ceil(2)];
    let plainer: Vec<Value> = ["0", "1", LEAST_GAS, half, whole, digits].map(number).into();
    plainer.into_iter().filter(|candidate| !candidate.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_weigh_least_and_other_scripts_most() {
        let weights = ["0", "x", "7", "b", " ", "B", "ż", "支"].map(text_weight);
        assert_eq!(weights, [4, 4, 5, 5, 5, 6, 8, 8]);
        assert_eq!(text_weight("0xB7"), 4 + 4 + 6 + 5);
    }

    #[test]
    fn every_kind_of_text_has_its_plainer_forms() {
        let of = |text: &str| texts(text).collect::<Vec<_>>();
        assert_eq!(
            of("0x00aBcdef0102"),
            [
                "0x",
                "0x0",
                "0x1",
                "0x5208",
                "0x00aBcdef",
                "0x00aBcd",
                "0x00aBcdef",
                "0x00aBcdef01",
                "0x000000000000",
                "0xaBcdef0102",
                "0x00abcdef0102",
            ]
        );
        assert_eq!(of("0x"), ["0x", "0x0", "0x1", "0x5208", "0x", "0x", "0x", "0x", "0x", "0x"]);
        assert_eq!(of("00120"), ["0", "1", "21000", "001", "120"]);
        assert_eq!(of("żabka"), ["", "ża", "bka"]);
        assert_eq!(of(""), ["", "", ""]);
    }

    #[test]
    fn notation_is_kept() {
        assert!(texts("0x2386f26fc10000").all(|text| text.starts_with("0x")));
        assert!(texts("1000000").all(|text| text.bytes().all(|digit| digit.is_ascii_digit())));
        let number: Number = "-12.5e3".parse().unwrap();
        assert!(numbers(&number).any(|candidate| candidate == 12));
    }
}
