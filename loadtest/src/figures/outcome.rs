//! How an exchange ended: each request counts in exactly one of these.

/// The end of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A good answer: a result, or the error that the request asks for.
    Good,
    /// An answer that breaks a rule of the conformance run.
    Wrong,
    /// A lawful JSON-RPC error to a call that nobody vouches for.
    RpcError,
    /// Turned away by a rate limit: 429, or 503 with Retry-After.
    RateLimited,
    /// Turned away by HTTP alone: 401, 403, 502 and the like, without a JSON-RPC answer.
    Refused,
    /// No complete answer: no connection, or one that broke.
    Transport,
    /// No complete answer in time.
    Timeout,
}

/// How many outcomes there are.
pub const OUTCOMES: usize = Outcome::ALL.len();

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

    /// The key in JSON, and the word in thresholds (with `-rate`).
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

    /// The words in reports.
    pub const fn words(self) -> &'static str {
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

    /// Whether its time is a latency of the service. A refused or broken exchange is over fast and would flatter it; a timeout
    /// counts with the time that was waited.
    pub const fn is_timed(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::RpcError | Self::Timeout)
    }

    /// Whether the service itself answered.
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::RpcError)
    }
}

/// How many requests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; OUTCOMES]);

impl Counts {
    /// One more.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// Sets one count.
    pub fn set(&mut self, outcome: Outcome, times: u64) {
        self.0[outcome as usize] = times;
    }

    /// How many ended so.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All that did not end well.
    pub fn failed(&self) -> u64 {
        self.all() - self.of(Outcome::Good)
    }

    /// Those that the service itself answered.
    pub fn answered(&self) -> u64 {
        let answers = Outcome::ALL.into_iter().filter(|outcome| outcome.is_answer());
        answers.map(|outcome| self.of(outcome)).sum()
    }

    /// Takes in other counts.
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
        let mut counts = Counts::default();
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
