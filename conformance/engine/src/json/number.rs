//! Exact JSON numbers, never converted to f64.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

/// A JSON number as an integer times a power of ten, without trailing zeros, so that equal values compare equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exact {
    digits: BigInt,
    exponent: i64,
}

/// The longest number that is read exactly, in characters. Longer ones are compared as text.
const LONGEST: usize = 4_096;

impl Exact {
    /// Reads the text of a JSON number. None when the text is not a number or is too long.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - significant.len()).ok()?;
        let places = i64::try_from(fraction.len()).ok()?;
        if significant.is_empty() || significant == "-" {
            return all.contains('0').then_some(Self { digits: BigInt::ZERO, exponent: 0 });
        }
        let digits = significant.parse::<BigInt>().ok()?;
        if digits == BigInt::ZERO {
            return Some(Self { digits, exponent: 0 });
        }
        Some(Self { digits, exponent: exponent.checked_sub(places)?.checked_add(dropped)? })
    }

    /// Whether the value has no fraction.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// The value as a non-negative integer; none for a fraction, a negative number and a number of too many digits.
    pub fn whole(&self) -> Option<BigUint> {
        let zeros = u32::try_from(self.exponent).ok().filter(|zeros| *zeros as usize <= LONGEST)?;
        Some(self.digits.to_biguint()? * BigUint::from(10_u8).pow(zeros))
    }
}

/// Whether two JSON numbers have the same value, in any notation. Numbers that are too long to read are compared as text.
pub fn same_number(left: &serde_json::Number, right: &serde_json::Number) -> bool {
    left == right
        || Exact::parse(left.as_str()).is_some_and(|exact| Some(exact) == Exact::parse(right.as_str()))
}

/// Whether a number has an integer value, in any notation: `1.0` and `1e3` have. False for a number that is too long to be read.
pub fn is_integer(number: &serde_json::Number) -> bool {
    number.is_u64() || Exact::parse(number.as_str()).is_some_and(|exact| exact.is_integer())
}

/// An amount of section 2.2 in any notation that clients use: hex quantity, decimal string or JSON integer, which `1.0` and `1e18` are too.
pub fn amount(value: &Value) -> Option<BigUint> {
    match value {
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
            None => BigUint::parse_bytes(text.as_bytes(), 10),
        },
        Value::Number(number) => match number.as_u64() {
            Some(small) => Some(small.into()),
            None => Exact::parse(number.as_str())?.whole(),
        },
        _ => None,
    }
}

/// The largest integer that a JSON parser with 64-bit floating-point numbers reads exactly.
pub const LARGEST_EXACT_INTEGER: u64 = (1 << 53) - 1;

/// Whether a number is an integer that every JSON parser reads exactly: at most 2^53 - 1, negative or not.
pub fn is_exact_integer(id: &Value) -> bool {
    id.as_number().is_some_and(|number| {
        let text = number.as_str();
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        magnitude.parse::<u64>().is_ok_and(|magnitude| magnitude <= LARGEST_EXACT_INTEGER)
    })
}

/// Whether an id is an integer that JSON parsers with 64-bit floating-point numbers may round.
pub fn is_large_integer(id: &Value) -> bool {
    id.as_number().is_some_and(|number| !is_exact_integer(id) && is_integer(number))
}

/// Whether an id came back rounded: another integer that is the same 64-bit floating-point number.
pub fn is_rounded(sent: &Value, actual: &Value) -> bool {
    let same_double = || actual.is_number() && actual.as_f64() == sent.as_f64();
    is_large_integer(sent) && sent != actual && same_double()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_does_not_matter_and_value_does() {
        let same = |left: &str, right: &str| Exact::parse(left).unwrap() == Exact::parse(right).unwrap();
        assert!(same("1", "1.0"));
        assert!(same("1e3", "1000"));
        assert!(same("-0", "0.000"));
        assert!(same("0e9", "0"));
        assert!(same("12.50", "125e-1"));
        assert!(!same("9007199254740993", "9007199254740992"));
        assert!(!same("1", "-1"));
        assert!(!same("1e400", "1e401"));
    }

    #[test]
    fn integers_and_fractions_are_distinguished() {
        for (text, integer) in
            [("1.0", true), ("1.5", false), ("15e-1", false), ("15e1", true), ("1e-0", true), ("0.0", true)]
        {
            assert_eq!(Exact::parse(text).unwrap().is_integer(), integer, "{text}");
        }
    }

    #[test]
    fn amounts_are_read_in_every_notation() {
        let read = |text: &str| amount(&serde_json::from_str(text).unwrap());
        assert_eq!(read("\"0x10\""), read("16"));
        assert_eq!(read("\"16\""), read("16"));
        assert_eq!(read("\"x\""), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("1.5"), None);
        assert_eq!(read("0.0"), read("0"));
        assert_eq!(read("1.6e1"), read("16"));
        assert_eq!(read("1e18"), read("\"1000000000000000000\""));
        assert!(read("1e4096").is_some());
        assert_eq!(read("1e4097"), None);
        assert_eq!(read("1e-1"), None);
    }
}
