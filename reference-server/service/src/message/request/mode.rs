//! The mode object of section 2.3, and the two info objects inside it (2.4 and 2.5).

use std::borrow::Cow;

use paymaster_schemas::{Kind, Mode, kinds};
use serde::de::Deserialize;
use serde_json::Value;

use super::RequestError;
use super::amount::parse_seconds;
use super::members::{object, reads};
use super::operation::AddressText;

/// The value of `mode`, `SPONSORSHIP` included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModeName(pub(crate) Mode);

reads! { in_text ModeName: "a mode", |text| Mode::from_name(&text).map(Self) }

/// The mode in which a request is served. Published clients may omit it in a quote request: then a `tokenInfo` with members
/// means ERC20. None when a sponsor request omits it, which is an error.
fn effective_mode(method: &str, named: Option<Mode>, has_token_info: bool) -> Option<Mode> {
    match (named, method) {
        (Some(mode), _) => Some(mode),
        (None, kinds::QUOTE) if has_token_info => Some(Mode::Erc20),
        (None, kinds::QUOTE) => Some(Mode::Sponsored),
        (None, _) => None,
    }
}

/// The pair that a JSON request calls; none when its method or mode is unknown, or its mode object is missing.
pub fn pair_of(request: &Value) -> Option<Kind> {
    let method = request["method"].as_str()?;
    let mode_object = request["params"][1].as_object()?;
    let named = match mode_object.get("mode") {
        Some(name) => Some(Mode::from_name(name.as_str()?)?),
        None => None,
    };
    let token_info = mode_object.get("tokenInfo").and_then(Value::as_object);
    let has_token_info = token_info.is_some_and(|info| !info.is_empty());
    let mode = effective_mode(method, named, has_token_info)?;
    kinds::of(method, mode)
}

object! {
    /// The mode object. Each info object is parsed in its own mode only.
    pub(crate) struct ModeObject<'a> {
        "mode" => mode: ModeName,
        "calculateGasLimits" => _calculate_gas_limits: bool,
        "expiryDuration" => expiry_duration: Seconds,
        "sponsorshipInfo" => sponsorship_info: RawObject<'a>,
        "tokenInfo" => token_info: RawObject<'a>,
    }
}

impl ModeObject<'_> {
    /// The mode in which a request of `method` with this object is served.
    pub(crate) fn effective_mode(&self, method: &str) -> Result<Mode, RequestError> {
        let has_token_info = self.token_info.is_some_and(|info| !info.is_empty());
        let named = self.mode.map(|name| name.0);
        effective_mode(method, named, has_token_info).ok_or_else(|| "mode is missing".into())
    }
}

/// A duration in seconds, rounded down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) u64);

reads! { in_json Seconds: "a number of at least zero", |json| parse_seconds(json).map(Self) }

/// An object that is parsed later, if at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawObject<'a>(&'a str);

impl<'a> RawObject<'a> {
    /// Parses the object as `T`.
    pub(crate) fn read<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// Whether it has no members.
    pub(crate) fn is_empty(self) -> bool {
        self.0.strip_prefix('{').is_some_and(|rest| rest.trim_ascii_start().starts_with('}'))
    }
}

reads! { in_json RawObject<'de>: "an object", |json| json.starts_with('{').then_some(Self(json)) }

object! {
    /// The sponsorship info of section 2.4.
    #[derive(Default)]
    pub(crate) struct SponsorshipInfo<'a> {
        "webhookData" => _webhook_data: RawObject<'a>,
        "smartAccountInfo" => smart_account_info: SmartAccountInfo<'a>,
    }
}

object! {
    /// The smart account info of section 2.4.
    pub(crate) struct SmartAccountInfo<'a> {
        "name" => name: AccountName<'a>,
        "version" => _version: Version,
    }
}

/// The name of an account implementation: any string but the empty one.
#[derive(Debug, Clone)]
pub(crate) struct AccountName<'a>(pub(crate) Cow<'a, str>);

reads! { in_text AccountName<'de>: "a name", |text| (!text.is_empty()).then_some(Self(text)) }

/// A version of three dotted numbers. Its value is not used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version;

reads! { in_text Version: "three dotted numbers", |text| {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    (text.split('.').count() == 3 && text.split('.').all(is_number)).then_some(Self)
} }

object! {
    /// The token info of section 2.5, with both names of the token that the user pays in.
    #[derive(Default)]
    pub(crate) struct TokenInfo<'a> {
        "preferredToken" => preferred_token: AddressText<'a>,
        "tokenList" => token_list: TokenList<'a>,
        "feeTokenAddress" => fee_token_address: AddressText<'a>,
        "tokenAddress" => token_address: AddressText<'a>,
    }
}

/// The tokens of a quote request, in the order of the request.
pub(crate) type TokenList<'a> = Vec<AddressText<'a>>;
