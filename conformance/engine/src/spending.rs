//! What a run asks a target to pay for: sponsorships are counted, and the gas that they pay at most.

use std::{fmt, str::FromStr};

use paymaster_exchange::Body;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::ReadRequest;
use crate::rules::count;
use crate::specification::Specification;

/// Wei in an ether.
const ETHER: u128 = 1_000_000_000_000_000_000;
/// The digits after the point of an amount in ether.
const DIGITS: usize = 18;

/// An amount of wei. Profiles have it in ether, as `0.1 ETH`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Wei(pub u128);

/// A text is no amount in ether.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no amount in ether: write it as \"0.1 ETH\"")]
pub struct WeiError;

impl FromStr for Wei {
    type Err = WeiError;

    fn from_str(text: &str) -> Result<Self, WeiError> {
        let number = text.strip_suffix("ETH").unwrap_or_default().trim();
        let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
        let is_written = !whole.is_empty() && rest.len() <= DIGITS;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_written || !digits(whole) || !digits(rest) {
            return Err(WeiError);
        }
        format!("{whole}{rest:0<DIGITS$}").parse().map(Self).map_err(|_| WeiError)
    }
}

impl TryFrom<String> for Wei {
    type Error = WeiError;

    fn try_from(text: String) -> Result<Self, WeiError> {
        text.parse()
    }
}

impl From<Wei> for String {
    fn from(wei: Wei) -> Self {
        wei.to_string()
    }
}

impl fmt::Display for Wei {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = format!("{:0DIGITS$}", self.0 % ETHER);
        let number = format!("{}.{rest}", self.0 / ETHER);
        write!(f, "{} ETH", number.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Sponsorships, and the gas that they pay at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Spending {
    /// How many sponsorships.
    pub sponsorships: u64,
    /// What they pay.
    pub cost: Wei,
}

impl Spending {
    /// What a call, or each of a batch, asks for.
    pub fn of(request: &Value, specification: &Specification) -> Self {
        let calls = request.as_array().map_or(std::slice::from_ref(request), Vec::as_slice);
        let costs = calls.iter().filter_map(specification.asks_for);
        costs.fold(Self::default(), |asked, cost| asked.plus(Self { sponsorships: 1, cost }))
    }

    /// What a request body asks for.
    pub fn of_body(body: &Body, specification: &Specification) -> Self {
        match ReadRequest::kept(body, specification) {
            Some(kept) => kept.asked,
            None => ReadRequest::of(body, specification).asked,
        }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            sponsorships: self.sponsorships.saturating_add(other.sponsorships),
            cost: Wei(self.cost.0.saturating_add(other.cost.0)),
        }
    }

    /// This without the other.
    pub fn minus(self, other: Self) -> Self {
        Self {
            sponsorships: self.sponsorships.saturating_sub(other.sponsorships),
            cost: Wei(self.cost.0.saturating_sub(other.cost.0)),
        }
    }
}

impl fmt::Display for Spending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} worth {}", count(self.sponsorships, "sponsorship"), self.cost)
    }
}

/// How much a run may ask a target to pay for; none where there is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendingLimits {
    /// How many sponsorships: `operations.max-sponsorships` of the profile.
    pub sponsorships: Option<u64>,
    /// What they may pay: `operations.max-cost`.
    pub cost: Option<Wei>,
}

impl SpendingLimits {
    /// The limits for a target that is not on this machine, where the profile states none.
    pub const DEFAULT: Self = Self { sponsorships: Some(50), cost: Some(Wei(ETHER / 10)) };

    /// These limits, with others where they have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { sponsorships: self.sponsorships.or(other.sponsorships), cost: self.cost.or(other.cost) }
    }

    /// Whether there is any.
    pub fn is_some(self) -> bool {
        self.sponsorships.is_some() || self.cost.is_some()
    }

    /// Whether so much keeps to the limits.
    pub fn allow(self, spending: Spending) -> bool {
        self.sponsorships.is_none_or(|most| spending.sponsorships <= most)
            && self.cost.is_none_or(|most| spending.cost <= most)
    }
}

impl fmt::Display for SpendingLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sponsorships.map_or("sponsorships".to_owned(), |most| count(most, "sponsorship")))?;
        self.cost.map_or(Ok(()), |most| write!(f, " worth {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_ether() {
        for (text, wei) in [("0.1 ETH", ETHER / 10), ("2 ETH", 2 * ETHER), ("0.000000000000000001 ETH", 1)] {
            assert_eq!(text.parse(), Ok(Wei(wei)));
            assert_eq!(Wei(wei).to_string(), text);
        }
        for text in ["0.1", "ETH", ".1 ETH", "1e3 ETH", "-1 ETH", "0.0000000000000000001 ETH"] {
            assert_eq!(text.parse::<Wei>(), Err(WeiError), "{text}");
        }
    }

    #[test]
    fn both_limits_hold() {
        let limits = SpendingLimits { sponsorships: Some(2), cost: None }.or(SpendingLimits::DEFAULT);
        let spending = |sponsorships, cost| Spending { sponsorships, cost: Wei(cost) };
        assert!(limits.allow(spending(2, ETHER / 10)));
        assert!(!limits.allow(spending(3, 0)) && !limits.allow(spending(1, ETHER)));
        assert_eq!(limits.to_string(), "2 sponsorships worth 0.1 ETH");
        assert!(SpendingLimits::default().allow(spending(u64::MAX, u128::MAX)));
    }
}
