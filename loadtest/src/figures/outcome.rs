//! How exchanges end. Every request counts as exactly one outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How an exchange ended. Its name in JSON is, with `-rate`, the metric in thresholds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Outcome {
    /// A good answer: a result, or a JSON-RPC error where an error is expected.
    Good,
    /// An answer that breaks a rule.
    Wrong,
    /// A JSON-RPC error that breaks no rule: the profile does not promise a result for the request.
    RpcError,
    /// Refused by a rate limit: 429, or 503 with Retry-After.
    RateLimited,
    /// Refused by HTTP (401, 403, 502 and the like) without a JSON-RPC answer.
    Refused,
    /// No complete response: no connection, or a broken one.
    Transport,
    /// No complete response within the timeout.
    Timeout,
}

/// The description of each outcome, in the order of the reports.
const DESCRIPTIONS: [(Outcome, &str); 7] = [
    (Outcome::Good, "good answers"),
    (Outcome::Wrong, "wrong answers"),
    (Outcome::RpcError, "JSON-RPC errors"),
    (Outcome::RateLimited, "rate limited"),
    (Outcome::Refused, "refused by HTTP"),
    (Outcome::Transport, "transport errors"),
    (Outcome::Timeout, "timeouts"),
];

impl Outcome {
    /// Every outcome, in the order of the reports.
    pub fn all() -> impl Iterator<Item = Self> {
        DESCRIPTIONS.into_iter().map(|(outcome, _)| outcome)
    }

    /// The description in reports.
    pub const fn description(self) -> &'static str {
        DESCRIPTIONS[self as usize].1
    }

    /// Whether its time counts as a latency. Refused and broken exchanges are short and would make the service look fast; a timeout
    /// counts with the time until the timeout.
    pub const fn is_timed(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::RpcError | Self::Timeout)
    }

    /// Whether the service itself answered.
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::RpcError)
    }
}

/// The number of requests of each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<Outcome, u64>", into = "BTreeMap<Outcome, u64>")]
pub struct OutcomeCounts([u64; DESCRIPTIONS.len()]);

impl OutcomeCounts {
    /// Counts one request.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// All requests.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Failed requests: those that got neither a good nor a wrong answer.
    pub fn failed(&self) -> u64 {
        self.failures().map(|(_, times)| times).sum()
    }

    /// Wrong answers and failed requests: what an error rate counts.
    pub fn wrong_or_failed(&self) -> u64 {
        self.of(Outcome::Wrong) + self.failed()
    }

    /// Requests that the service itself answered.
    pub fn answered(&self) -> u64 {
        Outcome::all().filter(|outcome| outcome.is_answer()).map(|outcome| self.of(outcome)).sum()
    }

    /// The outcomes of failed requests, each with its number.
    pub fn failures(&self) -> impl Iterator<Item = (Outcome, u64)> {
        let counts = Outcome::all().skip(2).map(|outcome| (outcome, self.of(outcome)));
        counts.filter(|(_, times)| *times > 0)
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own += more;
        }
    }
}

impl From<OutcomeCounts> for BTreeMap<Outcome, u64> {
    fn from(counts: OutcomeCounts) -> Self {
        Outcome::all().map(|outcome| (outcome, counts.of(outcome))).collect()
    }
}

impl From<BTreeMap<Outcome, u64>> for OutcomeCounts {
    fn from(counts: BTreeMap<Outcome, u64>) -> Self {
        Self(DESCRIPTIONS.map(|(outcome, _)| counts.get(&outcome).copied().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_counts() {
        let mut counts = OutcomeCounts::default();
        for (place, outcome) in Outcome::all().enumerate() {
            assert_eq!(outcome as usize, place);
            for _ in 0..=place {
                counts.add(outcome);
            }
        }
        assert_eq!(counts.of(Outcome::Timeout), 7);
        assert_eq!(counts.all(), 28);
        assert_eq!((counts.failed(), counts.wrong_or_failed()), (25, 27));
        assert_eq!(counts.answered(), 1 + 2 + 3);
    }
}
