//! The partial user operation of section 2.2.

use std::borrow::Cow;

use alloy_primitives::{Address, hex};

use super::amount::Amount;
use super::members::{object, reads};
use crate::paymaster::parse_address;

object! {
    /// A partial user operation.
    pub(crate) struct Operation<'a> {
        required {
            "sender" => sender: AddressText<'a>,
            "nonce" => nonce: Amount,
            "callData" => call_data: HexText<'a>,
            "maxFeePerGas" => max_fee_per_gas: Amount,
            "maxPriorityFeePerGas" => max_priority_fee_per_gas: Amount,
        }
        "initCode" => init_code: HexText<'a>,
        "callGasLimit" => call_gas_limit: Amount,
        "verificationGasLimit" => verification_gas_limit: Amount,
        "preVerificationGas" => pre_verification_gas: Amount,
    }
}

impl<'a> Operation<'a> {
    /// Empty when missing.
    pub(crate) fn init_code(&self) -> &HexText<'a> {
        self.init_code.as_ref().unwrap_or(&HexText::NONE)
    }
}

/// An address, and its spelling in the request.
#[derive(Debug, Clone)]
pub(crate) struct AddressText<'a> {
    pub(crate) address: Address,
    pub(crate) text: Cow<'a, str>,
}

/// The prefix of every hex string.
const HEX_PREFIX: &str = "0x";

reads! { in_text AddressText<'de>: "an address", |text| Some(Self { address: parse_address(&text)?, text }) }

/// Bytes in hex, checked but not decoded, because only the signed hash needs the bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct HexText<'a>(Cow<'a, str>);

impl HexText<'_> {
    /// No bytes.
    const NONE: Self = Self(Cow::Borrowed(""));

    /// The digits after `0x`.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }

    /// The same bytes with zeros behind them, if they are fewer than `length`.
    pub(crate) fn padded(self, length: usize) -> Self {
        if self.len() >= length { self } else { Self(format!("{:0<1$}", self.0, 2 * length).into()) }
    }

    /// These bytes and then those.
    pub(crate) fn followed_by(self, rest: Option<Self>) -> Self {
        match rest {
            Some(rest) if rest.len() > 0 => Self(self.0 + rest.0),
            _ => self,
        }
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.digits().len() / 2
    }

    /// The bytes.
    pub(crate) fn decode(&self) -> Vec<u8> {
        // The digits were checked when they were parsed, so that decoding succeeds.
        hex::decode(self.digits()).unwrap_or_default()
    }
}

/// The digits after `0x`, if they are whole bytes.
fn hex_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(HEX_PREFIX)?;
    // `check_raw` would skip a second prefix.
    let whole = digits.len().is_multiple_of(2) && !digits.starts_with(HEX_PREFIX);
    (whole && hex::check_raw(digits)).then_some(digits)
}

reads! { in_text HexText<'de>: "bytes in hex", |text| {
    Some(Self(match text {
        Cow::Borrowed(text) => hex_digits(text)?.into(),
        Cow::Owned(text) => hex_digits(&text)?.to_owned().into(),
    }))
} }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_whole_bytes_after_one_prefix() {
        for (json, bytes) in [
            (r#""0x""#, Some(0)),
            (r#""0xAb12""#, Some(2)),
            (r#""0x\u0061b""#, Some(1)),
            (r#""0xabc""#, None),
            (r#""0x0x12""#, None),
            (r#""0x0x""#, None),
            (r#""0X12""#, None),
            (r#""12""#, None),
            (r#""""#, None),
            ("1", None),
            ("null", None),
        ] {
            let read = serde_json::from_str::<HexText<'_>>(json).ok();
            assert_eq!(read.map(|hex| hex.len()), bytes, "{json}");
        }
    }

    #[test]
    fn an_address_is_twenty_bytes() {
        let digits = "00112233445566778899aAbBcCdDeEfF00112233";
        let read =
            |text: String| serde_json::from_str::<AddressText<'_>>(&text).map(|read| read.address).ok();
        let expected = hex::decode(digits).map(|bytes| Address::from_slice(&bytes)).ok();
        assert!(expected.is_some());
        assert_eq!(read(format!("\"0x{digits}\"")), expected);
        assert_eq!(read(format!("\"0x{}\"", &digits[2..])), None);
        assert_eq!(read(format!("\"0x{digits}00\"")), None);
        assert_eq!(read(format!("\"{digits}\"")), None);
        assert_eq!(read(format!("\"0x0x{}\"", &digits[2..])), None);
        assert_eq!(read(format!("\"0xg{}\"", &digits[1..])), None);
    }

    #[test]
    fn an_operation_is_an_object_without_repeated_members() {
        let required = format!(
            r#""sender":"0x{}","nonce":1,"callData":"0x","maxFeePerGas":1,"maxPriorityFeePerGas":1"#,
            "00".repeat(20)
        );
        let is_read = |text: &str| serde_json::from_str::<Operation<'_>>(text).is_ok();
        assert!(is_read(&format!("{{{required}}}")));
        assert!(is_read(&format!(r#"{{{required},"other":1,"other":{{}}}}"#)));
        assert!(!is_read("[]"));
        assert!(!is_read("{}"));
        assert!(!is_read(&format!(r#"{{{required},"nonce":1}}"#)));
        assert!(!is_read(&format!(r#"{{{required},"callGasLimit":null}}"#)));
    }
}
