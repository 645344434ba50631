//! The dialect: which reading of each ambiguity of the specification the target uses.
//!
//! It is learned from the first exchanges (`discovery.rs`) unless the profile pins it. Requests are written in it, so that no
//! target fails for a lawful reading. The readings are in `schemas/src/fee_quote/readings.rs`.

use std::collections::BTreeSet;

use crate::tables::is_hex;
use num_bigint::BigUint;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

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
    /// Not known: only what every reading quotes is required.
    #[default]
    #[serde(skip_deserializing)]
    Unknown,
    /// The preferred token and the listed ones.
    Union,
    /// The listed ones alone.
    List,
    /// The preferred one alone.
    Preferred,
}

/// How many quotes each reading explains.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadingCounts {
    /// Quotes with a supported preferred token and supported listed ones.
    seen: u32,
    union: u32,
    list: u32,
    preferred: u32,
    /// Quotes in which only the preferred token is supported: those that quote it, and those that do not.
    preferred_alone: YesNo,
    /// Quotes in which only listed tokens are supported: those that quote them, and those that do not.
    listed_alone: YesNo,
}

#[derive(Clone, Copy, Debug, Default)]
struct YesNo {
    yes: u32,
    no: u32,
}

impl YesNo {
    fn count(&mut self, is_yes: bool) {
        self.yes += u32::from(is_yes);
        self.no += u32::from(!is_yes);
    }

    /// Which of the two is more frequent; none without either.
    fn most(self) -> Option<bool> {
        (self.yes + self.no > 0).then_some(self.yes >= self.no)
    }
}

impl ReadingCounts {
    /// Counts a quote for `preferred` and `list`. Only quotes that distinguish the readings count: those for a preferred token that is
    /// not in the list. Listed tokens that are not known to be supported are ignored, as the rule about quoted tokens ignores them. No
    /// reading explains a quote for only some of the supported tokens in the list, or that calls one of them unsupported.
    pub fn count(
        &mut self,
        preferred: &str,
        list: &[impl AsRef<str>],
        [quoted, unsupported]: [&BTreeSet<String>; 2],
        is_supported: impl Fn(&str) -> bool,
    ) {
        let supported: Vec<&str> =
            list.iter().map(AsRef::as_ref).filter(|token| is_supported(token)).collect();
        let is_denied = |token: &&str| unsupported.contains(&token.to_ascii_lowercase());
        if !distinguishes_readings(preferred, list) || supported.iter().any(is_denied) {
            return;
        }
        let has = |token: &str| quoted.contains(&token.to_ascii_lowercase());
        let listed = supported.iter().filter(|token| has(token)).count();
        match (is_supported(preferred), supported.is_empty()) {
            (false, true) => return,
            (true, true) => return self.preferred_alone.count(has(preferred)),
            (false, false) => return self.listed_alone.count(listed > 0),
            (true, false) => self.seen += 1,
        }
        match (has(preferred), listed) {
            (true, 0) => self.preferred += 1,
            (true, all) if all == supported.len() => self.union += 1,
            (false, all) if all == supported.len() => self.list += 1,
            _ => {}
        }
    }

    /// The reading that explains most; the union where quotes were seen that no reading explains.
    pub fn most(self) -> QuotedTokens {
        if self.seen == 0 {
            return match (self.preferred_alone.most(), self.listed_alone.most()) {
                (Some(true), Some(true)) | (Some(false), Some(false)) => QuotedTokens::Union,
                (Some(false), Some(true)) => QuotedTokens::List,
                (Some(true), Some(false)) => QuotedTokens::Preferred,
                (None, _) | (_, None) => QuotedTokens::Unknown,
            };
        }
        if self.union >= self.list.max(self.preferred) {
            QuotedTokens::Union
        } else if self.list >= self.preferred {
            QuotedTokens::List
        } else {
            QuotedTokens::Preferred
        }
    }
}

/// Whether a quote for these tokens shows which of them are quoted.
pub fn distinguishes_readings(preferred: &str, list: &[impl AsRef<str>]) -> bool {
    !list.is_empty() && !list.iter().any(|token| token.as_ref().eq_ignore_ascii_case(preferred))
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(deserialize_with = "known_or_unknown")]
    pub quoted_tokens: QuotedTokens,
}

/// Reads which tokens are quoted. A profile cannot pin `unknown`, so that every other text stands for it here.
fn known_or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QuotedTokens, D::Error> {
    Value::deserialize(deserializer).map(|reading| QuotedTokens::deserialize(reading).unwrap_or_default())
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

    /// An amount as this dialect writes it in the member of an operation with this name.
    pub(crate) fn written(&self, name: &str, amount: &BigUint) -> String {
        if is_hex(name, self.amount_notation) { format!("{amount:#x}") } else { amount.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0xaa";
    const B: &str = "0xbb";
    const C: &str = "0xcc";

    fn read(quotes: &[(&str, &[&str], &[&str])]) -> QuotedTokens {
        let mut read = ReadingCounts::default();
        for (preferred, list, quoted) in quotes {
            let list: Vec<String> = list.iter().map(|token| (*token).to_owned()).collect();
            let quoted = quoted.iter().map(|token| (*token).to_owned()).collect();
            read.count(preferred, &list, [&quoted, &BTreeSet::new()], |token| token != "0x00");
        }
        read.most()
    }

    #[test]
    fn a_reading_must_explain_every_token_of_a_quote() {
        assert_eq!(read(&[]), QuotedTokens::Unknown);
        assert_eq!(read(&[(A, &[B, C], &[A, B, C])]), QuotedTokens::Union);
        assert_eq!(read(&[("0xAA", &["0xBB", C], &[B, C])]), QuotedTokens::List);
        assert_eq!(read(&[("0xAA", &[B], &[A])]), QuotedTokens::Preferred);
        // No reading explains quotes for some of the listed tokens, or for no token.
        assert_eq!(read(&[(A, &[B, C], &[A, C]), (A, &[B, C], &[C]), (A, &[B], &[])]), QuotedTokens::Union);
        assert_eq!(read(&[(A, &[B, C], &[A, C]), (A, &[B, C], &[B, C])]), QuotedTokens::List);
        assert_eq!(read(&[(A, &[B, C], &[C]), (A, &[B, C], &[A])]), QuotedTokens::Preferred);
        // A listed token that is not supported changes nothing.
        assert_eq!(read(&[(A, &[B, "0x00"], &[A])]), QuotedTokens::Preferred);
        assert_eq!(read(&[(A, &[B, "0x00"], &[B])]), QuotedTokens::List);
        // A preferred token in the list, or no list, does not distinguish the readings.
        assert_eq!(read(&[(A, &[B, "0xAA"], &[A]), (A, &[], &[A])]), QuotedTokens::Unknown);
    }

    #[test]
    fn a_quote_that_calls_a_supported_token_unsupported_shows_no_reading() {
        let mut read = ReadingCounts::default();
        let [quoted, unsupported] = [A, B].map(|token| BTreeSet::from([token.to_owned()]));
        read.count(A, &["0xBB"], [&quoted, &unsupported], |_| true);
        assert_eq!(read.most(), QuotedTokens::Unknown);
        read.count(A, &["0xBB"], [&quoted, &BTreeSet::new()], |_| true);
        assert_eq!(read.most(), QuotedTokens::Preferred);
    }

    #[test]
    fn one_supported_token_shows_the_reading_too() {
        let preferred = |quoted| (A, &["0x00"][..], quoted);
        let listed = |quoted| ("0x00", &[A][..], quoted);
        let (with, without): (&[&str], &[&str]) = (&[A], &[]);
        assert_eq!(read(&[preferred(with), listed(with)]), QuotedTokens::Union);
        assert_eq!(read(&[preferred(without), listed(with)]), QuotedTokens::List);
        assert_eq!(read(&[preferred(with), listed(without)]), QuotedTokens::Preferred);
        assert_eq!(read(&[preferred(without), listed(without)]), QuotedTokens::Union);
        assert_eq!(read(&[preferred(with)]), QuotedTokens::Unknown);
        assert_eq!(read(&[listed(with)]), QuotedTokens::Unknown);
    }

    #[test]
    fn the_reading_that_explains_most_quotes_wins_and_a_tie_goes_to_the_default() {
        let (list, preferred, union): (_, _, (_, &[&str], &[&str])) =
            ((A, &[B][..], &[B][..]), (A, &[B][..], &[A][..]), (A, &[B], &[A, B]));
        assert_eq!(read(&[list, union]), QuotedTokens::Union);
        assert_eq!(read(&[list, list, union]), QuotedTokens::List);
        assert_eq!(read(&[list, preferred]), QuotedTokens::List);
        assert_eq!(read(&[list, preferred, preferred, union]), QuotedTokens::Preferred);
    }
}
