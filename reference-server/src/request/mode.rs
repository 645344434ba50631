//! The mode object of section 2.3, and the two info objects inside it (2.4 and 2.5).

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

use super::amount::parse_seconds;
use super::members::{Text, object};
use super::operation::AddressText;

/// Which paymaster a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A sponsor pays.
    Sponsored,
    /// The user pays in a token.
    Erc20,
}

impl Mode {
    /// The value that answers carry.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sponsored => "SPONSORED",
            Self::Erc20 => "ERC20",
        }
    }
}

impl<'de> Deserialize<'de> for Mode {
    /// `SPONSORSHIP` is what the parameter tables call `SPONSORED`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*Text::deserialize(deserializer)?.0 {
            "SPONSORED" | "SPONSORSHIP" => Ok(Self::Sponsored),
            "ERC20" => Ok(Self::Erc20),
            _ => Err(D::Error::custom("not a mode")),
        }
    }
}

object! {
    /// The mode object. What the info objects hold is looked into in their own mode only.
    pub(crate) struct ModeObject<'a> {
        "mode" => mode: Mode,
        "calculateGasLimits" => calculate_gas_limits: bool,
        "expiryDuration" => expiry_duration: Seconds,
        "sponsorshipInfo" => sponsorship_info: RawObject<'a>,
        "tokenInfo" => token_info: RawObject<'a>,
    }
}

/// A duration, cut to whole seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        parse_seconds(raw.get())
            .map(Self)
            .ok_or_else(|| D::Error::custom("not a number of at least zero"))
    }
}

/// An object that is read later, or never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawObject<'a>(&'a str);

impl<'a> RawObject<'a> {
    /// Reads the object as `T`.
    pub(crate) fn read<T: Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.0)
    }

    /// Whether it has no members.
    pub(crate) fn is_empty(self) -> bool {
        self.0
            .strip_prefix('{')
            .is_some_and(|rest| rest.trim_ascii_start().starts_with('}'))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        if raw.get().starts_with('{') {
            Ok(Self(raw.get()))
        } else {
            Err(D::Error::custom("not an object"))
        }
    }
}

object! {
    /// The sponsorship info of section 2.4.
    pub(crate) struct SponsorshipInfo<'a> {
        "webhookData" => webhook_data: RawObject<'a>,
        "smartAccountInfo" => smart_account_info: SmartAccountInfo<'a>,
    }
}

object! {
    /// The smart account info of section 2.4.
    pub(crate) struct SmartAccountInfo<'a> {
        "name" => name: AccountName<'a>,
        "version" => version: Version,
    }
}

/// The name of an account implementation: any string but the empty one.
#[derive(Debug, Clone)]
pub(crate) struct AccountName<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for AccountName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        if text.0.is_empty() {
            return Err(D::Error::custom("an empty name"));
        }
        Ok(Self(text.0))
    }
}

/// A version of three dotted numbers; nothing here depends on which.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        let mut parts = 0;
        for part in text.0.split('.') {
            parts += 1;
            if part.is_empty() || !part.bytes().all(|digit| digit.is_ascii_digit()) {
                return Err(D::Error::custom("not a dotted version"));
            }
        }
        if parts == 3 {
            Ok(Self)
        } else {
            Err(D::Error::custom("not a version of three parts"))
        }
    }
}

object! {
    /// The token info of section 2.5, with both names of the token to pay in.
    pub(crate) struct TokenInfo<'a> {
        "preferredToken" => preferred_token: AddressText<'a>,
        "tokenList" => token_list: TokenList<'a>,
        "feeTokenAddress" => fee_token_address: AddressText<'a>,
        "tokenAddress" => token_address: AddressText<'a>,
    }
}

/// The tokens of a quote request, in its order.
pub(crate) type TokenList<'a> = Vec<AddressText<'a>>;
