//! Exact decimal arithmetic for fees, without floating point.

use std::fmt::Display;
use std::io::Write as _;

use alloy_primitives::{U256, Uint};

/// Wide enough for the product of all factors of a fee: the sum of three gas limits (258 bits), a gas price (256 bits) and
/// two ratios (230 and 127 bits).
pub(crate) type Wide = Uint<1024, 16>;

/// A number in decimal notation: `mantissa / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) mantissa: U256,
    pub(crate) scale: u32,
}

impl Decimal {
    /// Most digits before the point.
    const WHOLE_DIGITS: usize = 12;
    /// Most digits after the point.
    pub(crate) const FRACTION_DIGITS: u32 = 18;

    /// Parses digits with an optional point and further digits; none for anything else, or for too many digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits_only = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
        let scale = u32::try_from(fraction.len()).ok()?;
        if !digits_only(whole)
            || !digits_only(fraction)
            || whole.len() > Self::WHOLE_DIGITS
            || scale > Self::FRACTION_DIGITS
        {
            return None;
        }
        let mantissa = U256::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
        Some(Self { mantissa, scale })
    }
}

/// Ten to the power of `exponent`, which must be at most 77.
pub(crate) fn power_of_ten(exponent: u32) -> U256 {
    U256::from(10).pow(U256::from(exponent))
}

/// A ratio by which whole numbers are multiplied and rounded up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    numerator: U256,
    denominator: U256,
}

impl Ratio {
    /// `numerator / 10^exponent`, with `exponent` at most 77.
    pub(crate) fn over_power_of_ten(mut numerator: U256, mut exponent: u32) -> Self {
        let ten = U256::from(10);
        while exponent > 0 && !numerator.is_zero() && (numerator % ten).is_zero() {
            numerator /= ten;
            exponent -= 1;
        }
        Self { numerator, denominator: power_of_ten(exponent) }
    }

    /// `amount` times the ratio, rounded up to a whole number.
    pub(crate) fn of(&self, amount: Wide) -> Wide {
        if let Some(amount) = narrow(amount)
            && let Some(product) = amount.checked_mul(self.numerator)
        {
            return widen(product.div_ceil(self.denominator));
        }
        (amount * widen(self.numerator)).div_ceil(widen(self.denominator))
    }
}

/// `value` in the wide type.
pub(crate) fn widen(value: U256) -> Wide {
    Wide::from_limbs_slice(value.as_limbs())
}

/// `value` in 256 bits, or none when it needs more.
fn narrow(value: Wide) -> Option<U256> {
    let (low, high) = value.as_limbs().split_at(U256::LIMBS);
    high.iter().all(|limb| *limb == 0).then(|| U256::from_limbs_slice(low))
}

/// Appends `value` in decimal digits.
pub(crate) fn write_whole<T: Copy + Display>(out: &mut Vec<u8>, value: T)
where
    u64: TryFrom<T>,
{
    // Writing to a vector cannot fail.
    let _ = match u64::try_from(value) {
        Ok(small) => write!(out, "{small}"),
        Err(_) => write!(out, "{value}"),
    };
}

/// Appends `units / 10^decimals` as a JSON number: exact, at most `decimals` digits after the point, no trailing zeros.
pub(crate) fn write_fraction(out: &mut Vec<u8>, units: Wide, decimals: u32) {
    let start = out.len();
    write_whole(out, units);
    let decimals = decimals as usize;
    if decimals == 0 {
        return;
    }
    let digits = out.len() - start;
    if digits <= decimals {
        let zeros = decimals + 1 - digits;
        out.splice(start..start, std::iter::repeat_n(b'0', zeros));
    }
    let point = out.len() - decimals;
    out.insert(point, b'.');
    while out.last() == Some(&b'0') {
        out.pop();
    }
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly() {
        let read = |text| Decimal::parse(text).map(|decimal| (decimal.mantissa.to_string(), decimal.scale));
        assert_eq!(read("1831.52"), Some(("183152".to_owned(), 2)));
        assert_eq!(read("7"), Some(("70".to_owned(), 1)));
        assert_eq!(read("0.000000000000000001"), Some(("1".to_owned(), 18)));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,5", "0.0000000000000000001", "1234567890123"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn fractions_are_written_exactly() {
        let written = |units: u64, decimals| {
            let mut out = b"x".to_vec();
            write_fraction(&mut out, Wide::from(units), decimals);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(1_831_520, 6), "x1.83152");
        assert_eq!(written(1_000_000, 6), "x1");
        assert_eq!(written(1, 6), "x0.000001");
        assert_eq!(written(0, 6), "x0");
        assert_eq!(written(100, 0), "x100");
        assert_eq!(written(12, 2), "x0.12");
    }

    #[test]
    fn a_ratio_rounds_up_whatever_the_size() {
        let third = Ratio::over_power_of_ten(U256::from(150), 2); // 1.5
        assert_eq!(third.of(Wide::from(2)), Wide::from(3));
        assert_eq!(third.of(Wide::from(3)), Wide::from(5));
        let huge = widen(U256::MAX) * widen(U256::MAX);
        let doubled = Ratio::over_power_of_ten(U256::from(2000), 3).of(huge);
        assert_eq!(doubled, huge + huge);
    }
}
