//! The profile: what the user states about the target. Plain data, read from `paymaster.toml`.

pub use paymaster_engine::knowledge::Accepts;
use paymaster_engine::{specification::ProfileError, spending::Wei};
use paymaster_schemas::{Kind, Mode};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::target::{Pins, SizeLimits};

/// The profile of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// Fee tokens.
    pub tokens: TokenLists,
    /// Smart accounts that the target supports (section 2.4); empty when the user names none.
    pub accounts: Vec<SmartAccount>,
    /// Which operations it accepts.
    pub operations: Operations,
    /// Sizes that it serves, where they are not the ordinary ones.
    pub limits: SizeLimits,
    /// Readings that the user pins.
    pub dialect: Pins,
}

/// Fee tokens, as far as the profile lists them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TokenLists {
    /// Tokens that the target supports.
    pub supported: Vec<Token>,
    /// Addresses of tokens that it does not support.
    pub unsupported: Vec<String>,
    /// Whether `supported` is complete: every other token is then unsupported.
    pub complete: bool,
}

impl TokenLists {
    /// Whether the target supports no token at all. Rules about results with tokens then do not apply.
    pub fn is_none_supported(&self) -> bool {
        self.complete && self.supported.is_empty()
    }
}

/// A fee token. Quotes must have its symbol and decimals when they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Token {
    /// The token's address, 0x and 40 hex digits.
    pub address: String,
    /// The token's symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The token's number of decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u8>,
}

/// A smart account implementation (section 2.4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SmartAccount {
    /// `smartAccountInfo.name`.
    pub name: String,
    /// `smartAccountInfo.version`, three dotted numbers.
    pub version: String,
}

/// Which of the operations that it accepts the target sponsors: the others get the result `0x` (section 4.2, rule 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sponsors {
    /// All but those listed as refused.
    Any,
    /// Those listed as sponsorable; of others nothing is known.
    Listed,
    /// None but those listed as sponsorable.
    None,
}

/// The line which says that calls of these kinds are not served, where they are those of one mode.
pub(crate) fn excluding_line(kinds: &[Kind]) -> Option<&'static str> {
    let are_all_of = |mode| {
        let of_mode = |kind: &&Kind| Mode::of(**kind) == mode;
        kinds.iter().all(|kind| of_mode(&kind))
            && kinds.len() == paymaster_schemas::kinds::ALL.iter().filter(of_mode).count()
    };
    if are_all_of(Mode::Erc20) {
        Some(r#"operations.modes = ["SPONSORED"]"#)
    } else if are_all_of(Mode::Sponsored) {
        Some(r#"operations.modes = ["ERC20"]"#)
    } else {
        None
    }
}

/// Which operations the target accepts, and which it refuses to sponsor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Operations {
    /// The modes that it serves; empty where the profile does not state them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// What it does with operations that are not listed.
    pub accepts: Accepts,
    /// Which of the accepted operations it sponsors. [`Operations::sponsors`] gives the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sponsors: Option<Sponsors>,
    /// Operations that it sponsors: members as in section 2.2.
    pub sponsorable: Vec<Map<String, Value>>,
    /// Operations that it does not sponsor.
    pub refused: Vec<Map<String, Value>>,
    /// Senders whose operations it does not sponsor.
    pub refused_senders: Vec<String>,
    /// Members of listed operations that may have any other value: the target decides on the operation alike.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vary: Vec<VaryingMember>,
    /// How many sponsorships a run may get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sponsorships: Option<u64>,
    /// The most that the sponsorships of a run may pay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Wei>,
    /// The longest call data that it accepts, in bytes: the older name of `limits.call-data-bytes`.
    pub max_call_data_bytes: Option<usize>,
}

/// A member of an operation that can vary in a listed one. The sender cannot: another sender makes it another operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase", const_into_str)]
pub enum VaryingMember {
    /// `nonce`
    Nonce,
    /// `initCode`
    InitCode,
    /// `callData`
    CallData,
    /// `callGasLimit`
    CallGasLimit,
    /// `verificationGasLimit`
    VerificationGasLimit,
    /// `preVerificationGas`
    PreVerificationGas,
    /// `maxFeePerGas`
    MaxFeePerGas,
    /// `maxPriorityFeePerGas`
    MaxPriorityFeePerGas,
}

impl Operations {
    /// Whether a member of a listed operation may have any other value.
    pub fn varies(&self, member: &str) -> bool {
        self.vary.iter().any(|varying| varying.into_str() == member)
    }

    /// Whether calls of that mode may be served.
    pub fn serves(&self, mode: Mode) -> bool {
        self.modes.is_empty() || self.modes.contains(&mode)
    }

    /// Which of the accepted operations it sponsors. The default is [`Sponsors::Any`] for a profile that lists refused senders
    /// and no sponsorable operations, and [`Sponsors::Listed`] for any other.
    pub fn sponsors(&self) -> Sponsors {
        let by_sender = !self.refused_senders.is_empty() && self.sponsorable.is_empty();
        match self.sponsors {
            Some(sponsors) => sponsors,
            None if by_sender => Sponsors::Any,
            None => Sponsors::Listed,
        }
    }
}

/// The tables of a file that are this specification's own. The others are left out, whatever they say.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[derive(Default)]
struct Contents {
    spec: IgnoredAny,
    target: IgnoredAny,
    run: IgnoredAny,
    load: IgnoredAny,
    tokens: TokenLists,
    accounts: Vec<SmartAccount>,
    operations: Operations,
    limits: SizeLimits,
    dialect: Pins,
}

/// Reads the profile in the text of a configuration file.
pub(crate) fn read(text: &str) -> Result<Profile, ProfileError> {
    let contents: Contents = toml::from_str(text).map_err(|cause| ProfileError {
        at: cause.span().map(|span| span.start),
        // The parser's own text quotes values, which can be secret.
        message: cause.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    let Contents { tokens, accounts, operations, limits, dialect, .. } = contents;
    let profile = Profile { tokens, accounts, operations, limits, dialect };
    check(&profile).map_err(|message| ProfileError { at: None, message })?;
    Ok(profile)
}

fn check(profile: &Profile) -> Result<(), String> {
    for (index, token) in profile.tokens.supported.iter().enumerate() {
        address(&token.address, || format!("tokens.supported[{index}].address"))?;
    }
    for (index, token) in profile.tokens.unsupported.iter().enumerate() {
        address(token, || format!("tokens.unsupported[{index}]"))?;
        if profile.tokens.supported.iter().any(|supported| supported.address.eq_ignore_ascii_case(token)) {
            return Err(format!("tokens.unsupported[{index}] stands in tokens.supported too"));
        }
    }
    for (index, account) in profile.accounts.iter().enumerate() {
        let parts: Vec<&str> = account.version.split('.').collect();
        let dotted = parts.len() == 3
            && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        if !dotted {
            return Err(format!(
                "accounts[{index}].version: `{}` is not three dotted numbers, as 2.0.0",
                account.version
            ));
        }
    }
    let operations = &profile.operations;
    for (index, sender) in operations.refused_senders.iter().enumerate() {
        address(sender, || format!("operations.refused-senders[{index}]"))?;
    }
    for (name, list) in [("sponsorable", &operations.sponsorable), ("refused", &operations.refused)] {
        for (index, operation) in list.iter().enumerate() {
            if let Some(sender) = operation.get("sender").and_then(Value::as_str) {
                address(sender, || format!("operations.{name}[{index}].sender"))?;
            }
        }
    }
    Ok(())
}

fn address(text: &str, key: impl FnOnce() -> String) -> Result<(), String> {
    if is_address(text) {
        Ok(())
    } else {
        Err(format!("{}: `{text}` is no address: 0x and 40 hex digits", key()))
    }
}

/// Whether a text is an address: 0x and 40 hex digits.
pub(crate) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use crate::SPECIFICATION;

    #[test]
    fn implausible_values_are_refused_with_their_place() {
        for (text, place) in [
            ("[tokens]\nunsupported = [\"0x12\"]", "tokens.unsupported[0]"),
            ("[[accounts]]\nname = \"A\"\nversion = \"2.0\"", "accounts[0].version"),
            ("[operations]\nrefused-senders = [\"me\"]", "operations.refused-senders[0]"),
            ("[[operations.refused]]\nsender = \"me\"", "operations.refused[0].sender"),
        ] {
            let refusal = (SPECIFICATION.read_profile)(text).unwrap_err().to_string();
            assert!(refusal.contains(place), "{refusal}");
        }
    }
}
