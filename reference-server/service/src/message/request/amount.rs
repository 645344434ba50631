//! The amounts of section 2.2: integers below 2^256, as a hex quantity, a string of decimal digits, or a JSON number.

use alloy_primitives::U256;

use super::members::reads;

/// An unsigned 256-bit integer, in any form that clients send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amount(pub(crate) U256);

reads! { in_json Amount: "an amount below 2^256", |json| parse_member(json).map(Self) }

/// An unsigned 256-bit integer in the only form of ERC-7677: a hex quantity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity(pub(crate) Amount);

reads! { in_text Quantity: "a hex quantity below 2^256", |text| {
    Some(Self(Amount(parse_digits(text.strip_prefix("0x")?, 16)?)))
} }

/// Parses the JSON text of a member.
fn parse_member(json: &str) -> Option<U256> {
    match json.as_bytes().first()? {
        b'"' if json.contains('\\') => {
            let text: String = serde_json::from_str(json).ok()?;
            parse_text(&text)
        }
        b'"' => parse_text(json.get(1..json.len() - 1)?),
        b'-' | b'0'..=b'9' => parse_number(json),
        _ => None,
    }
}

/// Parses `0x` and hex digits, or decimal digits. Leading zeros are allowed, signs and spaces are not.
fn parse_text(text: &str) -> Option<U256> {
    match text.strip_prefix("0x") {
        Some(digits) => parse_digits(digits, 16),
        None => parse_digits(text, 10),
    }
}

/// Parses digits of this base, and nothing else: the parsers of numbers would take a sign or `_` too.
fn parse_digits(digits: &str, radix: u32) -> Option<U256> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    // Most amounts are small.
    match u64::from_str_radix(digits, radix) {
        Ok(small) => Some(U256::from(small)),
        Err(_) => U256::from_str_radix(digits, radix.into()).ok(),
    }
}

/// Greatest number of zeros that an exponent appends: 2^256 has 78 digits, so that more cannot give an amount.
const MAX_EXPONENT: i64 = 1000;

/// The digits of a JSON number, and how many of them stand before the decimal point once the exponent is applied; none below zero.
fn digits_of(json: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    if digits.bytes().all(|digit| digit == b'0') {
        return Some(("0".to_owned(), 1));
    }
    let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    let point = point.saturating_add(exponent.parse().unwrap_or(beyond));
    (!json.starts_with('-')).then_some((digits, point))
}

/// Parses a JSON number with an integer value, such as `1.0` or `12e3`.
fn parse_number(json: &str) -> Option<U256> {
    if json.bytes().all(|digit| digit.is_ascii_digit()) {
        return parse_digits(json, 10);
    }
    let (mut digits, point) = digits_of(json)?;
    let shift = point.saturating_sub(i64::try_from(digits.len()).ok()?);
    if shift >= 0 {
        let zeros = usize::try_from(shift.min(MAX_EXPONENT)).ok()?;
        digits.extend(std::iter::repeat_n('0', zeros));
    } else {
        for _ in shift..0 {
            if digits.pop()? != '0' {
                return None;
            }
        }
    }
    parse_digits(&digits, 10)
}

/// Parses a JSON number of at least zero as seconds, rounded down and limited to `u64::MAX`.
pub(crate) fn parse_seconds(json: &str) -> Option<u64> {
    if let Ok(seconds) = json.parse() {
        return Some(seconds);
    }
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then_some(())?;
    let (digits, point) = digits_of(json)?;
    let digits = digits.bytes().chain(std::iter::repeat(b'0'));
    let mut seconds = 0_u64;
    for digit in digits.take(usize::try_from(point.max(0)).unwrap_or(usize::MAX)) {
        seconds = seconds.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        if seconds == u64::MAX {
            break;
        }
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_amount_is_parsed() {
        for (json, expected) in [
            (r#""0x0""#, 0_u64),
            (r#""0x00ff""#, 255),
            (r#""0xFf""#, 255),
            (r#""17""#, 17),
            (r#""0017""#, 17),
            (r#""\u0031\u0037""#, 17),
            ("17", 17),
            ("0", 0),
            ("-0", 0),
            ("-0.0e5", 0),
            ("17.0", 17),
            ("1.7e1", 17),
            ("170e-1", 17),
            ("1E3", 1000),
            ("0e99999999999999999999", 0),
        ] {
            assert_eq!(parse_member(json), Some(U256::from(expected)), "{json}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for json in [
            r#""""#,
            r#""0x""#,
            r#""0xg""#,
            r#""0X1""#,
            r#""-1""#,
            r#""+1""#,
            r#"" 1""#,
            r#""1.0""#,
            r#""1e3""#,
            "-1",
            "1.5",
            "1e-1",
            "1e999",
            "1e99999999999999999999",
            "null",
            "true",
            "[]",
            "{}",
        ] {
            assert_eq!(parse_member(json), None, "{json}");
        }
    }

    #[test]
    fn the_bound_is_exactly_2_to_the_256() {
        let max = U256::MAX.to_string();
        let over = format!("{}6", &max[..max.len() - 1]);
        assert_eq!(parse_member(&max), Some(U256::MAX));
        assert_eq!(parse_member(&format!("\"{max}\"")), Some(U256::MAX));
        assert_eq!(parse_member(&format!("\"00{max}\"")), Some(U256::MAX));
        assert_eq!(parse_member(&over), None);
        assert_eq!(parse_member(&format!("\"{over}\"")), None);
        assert_eq!(parse_member(&format!("\"0x{}\"", "f".repeat(64))), Some(U256::MAX));
        assert_eq!(parse_member(&format!("\"0x00{}\"", "f".repeat(64))), Some(U256::MAX));
        assert_eq!(parse_member(&format!("\"0x1{}\"", "0".repeat(64))), None);
    }

    #[test]
    fn seconds_are_rounded_down() {
        for (json, expected) in [
            ("300", Some(300)),
            ("0", Some(0)),
            ("-0", Some(0)),
            ("-0.00e7", Some(0)),
            ("299.9", Some(299)),
            ("3e2", Some(300)),
            ("3.5e1", Some(35)),
            ("35e-1", Some(3)),
            ("1e-99999999999999999999", Some(0)),
            ("1e99999999999999999999", Some(u64::MAX)),
            ("0e99999999999999999999", Some(0)),
            ("-1", None),
            ("-0.1", None),
            ("\"300\"", None),
            ("null", None),
        ] {
            assert_eq!(parse_seconds(json), expected, "{json}");
        }
    }
}
