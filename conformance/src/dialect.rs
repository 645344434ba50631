//! The dialect: which reading of each open point of the specification the target speaks.
//!
//! Learned from the first exchanges (`discovery.rs`) unless the profile pins it; requests are then written in it, so that
//! nobody fails for a lawful reading. The points and their alternatives are `paymaster_schemas::READINGS`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How a request writes nonce, gas limits and fees (section 2.2 shows no notation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amounts {
    /// Strings of decimal digits.
    #[default]
    Decimal,
    /// Hex quantities, `0x5208`.
    Hex,
    /// Nonce and fees in hex, gas limits in decimal: what one published client sends.
    Mixed,
}

/// Which supported tokens are quoted when preferredToken and tokenList are both present (section 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotedTokens {
    /// The preferred token and the listed ones.
    #[default]
    Union,
    /// The listed ones alone.
    List,
    /// The preferred one alone.
    Preferred,
}

/// How many quotes each reading explains.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuotesRead {
    union: u32,
    list: u32,
    preferred: u32,
}

impl QuotesRead {
    /// Takes in a quote for `preferred` and `list`, where it tells readings apart: for a supported token beside a list of other
    /// supported ones. No reading explains that only some of the listed ones are quoted.
    pub fn count(
        &mut self,
        preferred: &str,
        list: &[String],
        quoted: &BTreeSet<String>,
        is_supported: impl Fn(&str) -> bool,
    ) {
        let is_listed = list.iter().any(|token| token.eq_ignore_ascii_case(preferred));
        let supported = is_supported(preferred) && list.iter().all(|token| is_supported(token));
        if list.is_empty() || is_listed || !supported {
            return;
        }
        let has = |token: &str| quoted.contains(&token.to_ascii_lowercase());
        let listed = list.iter().filter(|token| has(token)).count();
        match (has(preferred), listed) {
            (true, 0) => self.preferred += 1,
            (true, all) if all == list.len() => self.union += 1,
            (false, all) if all == list.len() => self.list += 1,
            _ => {}
        }
    }

    /// The reading that explains most.
    pub fn most(self) -> QuotedTokens {
        if self.union >= self.list.max(self.preferred) {
            QuotedTokens::Union
        } else if self.list >= self.preferred {
            QuotedTokens::List
        } else {
            QuotedTokens::Preferred
        }
    }
}

/// Readings that the user pins in the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pins {
    /// `2.0` or `2.0.0`.
    pub jsonrpc_version: Option<String>,
    /// `SPONSORED` or `SPONSORSHIP`.
    pub sponsored_name: Option<String>,
    /// `feeTokenAddress` or `tokenAddress`.
    pub fee_token_member: Option<String>,
    /// `MODE` or `mode`.
    pub mode_member: Option<String>,
    /// `decimal`, `hex` or `mixed`.
    pub amount_notation: Option<Amounts>,
    /// `union`, `list` or `preferred`.
    pub quoted_tokens: Option<QuotedTokens>,
}

/// The dialect in which requests are written and answers are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Dialect {
    /// What requests put into `jsonrpc`.
    pub jsonrpc_version: String,
    /// What requests put into `mode` for sponsored mode.
    pub sponsored_name: String,
    /// The member of tokenInfo that names the fee token.
    pub fee_token_member: String,
    /// The member of results that carries the mode.
    pub mode_member: String,
    /// The notation of amounts.
    pub amount_notation: Amounts,
    /// Which tokens are quoted.
    pub quoted_tokens: QuotedTokens,
}

impl Default for Dialect {
    fn default() -> Self {
        Self::pinned(&Pins::default())
    }
}

impl Dialect {
    /// The default of every reading, except where it is pinned.
    pub fn pinned(pins: &Pins) -> Self {
        let text = |pin: &Option<String>, default: &str| pin.clone().unwrap_or_else(|| default.to_owned());
        Self {
            jsonrpc_version: text(&pins.jsonrpc_version, "2.0"),
            sponsored_name: text(&pins.sponsored_name, "SPONSORED"),
            fee_token_member: text(&pins.fee_token_member, "feeTokenAddress"),
            mode_member: text(&pins.mode_member, "MODE"),
            amount_notation: pins.amount_notation.unwrap_or_default(),
            quoted_tokens: pins.quoted_tokens.unwrap_or_default(),
        }
    }
}
