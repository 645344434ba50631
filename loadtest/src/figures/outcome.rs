//! How exchanges end. Every request counts as exactly one outcome.

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

impl Outcome {
    /// Every outcome, in the order of the reports.
    pub const ALL: [Self; 7] = [
        Self::Good,
        Self::Wrong,
        Self::RpcError,
        Self::RateLimited,
        Self::Refused,
        Self::Transport,
        Self::Timeout,
    ];

    /// The key in JSON; with `-rate`, the metric in thresholds.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wrong => "wrong",
            Self::RpcError => "rpc-error",
            Self::RateLimited => "rate-limited",
            Self::Refused => "refused",
            Self::Transport => "transport",
            Self::Timeout => "timeout",
        }
    }

    /// The description in reports.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Good => "good answers",
            Self::Wrong => "wrong answers",
            Self::RpcError => "JSON-RPC errors",
            Self::RateLimited => "rate limited",
            Self::Refused => "refused by HTTP",
            Self::Transport => "transport errors",
            Self::Timeout => "timeouts",
        }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts([u64; Outcome::ALL.len()]);

impl OutcomeCounts {
    /// Counts one request.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    pub fn set(&mut self, outcome: Outcome, times: u64) {
        self.0[outcome as usize] = times;
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// All requests.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All requests without a good answer.
    pub fn failed(&self) -> u64 {
        self.all() - self.of(Outcome::Good)
    }

    /// Requests that the service itself answered.
    pub fn answered(&self) -> u64 {
        let answers = Outcome::ALL.into_iter().filter(|outcome| outcome.is_answer());
        answers.map(|outcome| self.of(outcome)).sum()
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_counts() {
        let mut counts = OutcomeCounts::default();
        for (place, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, place);
            for _ in 0..=place {
                counts.add(outcome);
            }
        }
        assert_eq!(counts.of(Outcome::Timeout), 7);
        assert_eq!(counts.all(), 28);
        assert_eq!(counts.failed(), 27);
        assert_eq!(counts.answered(), 1 + 2 + 3);
    }
}
