//! Values at the limits of what the schemas accept.

use std::sync::LazyLock;

use num_bigint::BigUint;
use proptest::test_runner::TestRng;
use serde_json::{Number, Value};

use crate::generate::RngExt;

/// How an amount is written (section 2.2 shows no notation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A string of decimal digits.
    Decimal,
    /// A hex quantity, `0x5208`.
    Hex,
    /// A JSON integer.
    Integer,
}

impl Notation {
    /// Every notation.
    pub const ALL: [Self; 3] = [Self::Decimal, Self::Hex, Self::Integer];

    /// `amount` in this notation.
    pub fn write(self, amount: &BigUint) -> Value {
        match self {
            Self::Decimal => Value::String(amount.to_string()),
            Self::Hex => Value::String(format!("{amount:#x}")),
            Self::Integer => number(&amount.to_string()),
        }
    }
}

/// 0, 1, the ends of 64 bits, 2^128 and the end of 256 bits.
pub fn amounts() -> &'static [BigUint] {
    static AMOUNTS: LazyLock<Vec<BigUint>> = LazyLock::new(|| {
        let one = BigUint::from(1_u8);
        vec![
            BigUint::ZERO,
            one.clone(),
            BigUint::from(u64::MAX),
            &one << 64,
            &one << 128,
            (&one << 256) - one,
        ]
    });
    &AMOUNTS
}

/// Lengths of byte strings, in bytes: none, one, around one word, and the largest contract that a chain takes.
pub const BYTE_LENGTHS: [usize; 6] = [0, 1, 31, 32, 33, 24_576];

/// Strings that servers often handle wrongly: empty, spaces, quotes and escapes, other scripts, outside of the basic plane, long.
pub fn strings() -> &'static [String] {
    static STRINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut strings: Vec<String> =
            ["", "a", " ", "0", "null", "\"\\/\u{8}\n", "\0", "żółć 漢字", "\u{1F9FE}"]
                .map(str::to_owned)
                .into();
        strings.push("x".repeat(1_000));
        strings
    });
    &STRINGS
}

/// Texts of JSON numbers around the limits of the types that implementations hold them in.
pub const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "255",
    "2147483648",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "0.1",
    "1.5",
    "0.000000000000000001",
    "-0.5",
];

/// A JSON number with exactly this text; null when the text is not a number.
pub fn number(text: &str) -> Value {
    text.parse::<Number>().map_or(Value::Null, Value::Number)
}

/// How often a strategy draws a boundary value, in percent.
pub const PERCENT: u64 = 6;

/// A length of the [`BYTE_LENGTHS`]; the long one is rare, since it costs a thousand times the others.
pub fn byte_length(rng: &mut TestRng) -> usize {
    if rng.chance(5) { BYTE_LENGTHS[5] } else { *rng.pick(&BYTE_LENGTHS[..5]) }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::validator_for;

    use super::*;

    #[test]
    fn amounts_and_byte_strings_are_what_the_schemas_accept() {
        let amount = validator_for("amount").unwrap();
        for notation in Notation::ALL {
            for value in amounts().iter().map(|amount| notation.write(amount)) {
                assert!(amount.is_valid(&value), "{value}");
            }
            let beyond = notation.write(&(amounts().last().unwrap() + 1_u8));
            assert!(!amount.is_valid(&beyond), "{beyond}");
        }
        let bytes = validator_for("hex-bytes").unwrap();
        for length in BYTE_LENGTHS {
            let text = format!("0x{}", "ff".repeat(length));
            assert!(bytes.is_valid(&Value::String(text)), "{length}");
        }
    }

    #[test]
    fn an_amount_is_written_in_each_notation() {
        let amount = BigUint::from(21_000_u32);
        let written = Notation::ALL.map(|notation| notation.write(&amount).to_string());
        assert_eq!(written, ["\"21000\"", "\"0x5208\"", "21000"]);
    }

    #[test]
    fn numbers_keep_their_text() {
        for text in NUMBERS {
            assert_eq!(number(text).to_string(), text);
        }
    }
}
