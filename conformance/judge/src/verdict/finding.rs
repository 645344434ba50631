//! A broken rule, with everything needed to see it again.

use paymaster_schemas::{Basis, Pair};

use crate::{cases::case::Group, rules::Rule};
use paymaster_exchange::Exchange;

/// What was found broken at one place of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which member of the group, from 0.
    pub member: usize,
    /// Where in the answer: a JSON pointer, or empty for the whole of it.
    pub pointer: String,
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub actual: String,
}

/// What makes two violations the same finding: indices of arrays do not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The rule.
    pub rule: &'static str,
    /// Method and mode, where the request has them.
    pub pair: Option<Pair>,
    /// The pointer with every array index as `*`.
    pub pointer: String,
}

impl Key {
    /// The key of a violation.
    pub fn of(rule: &Rule, pair: Option<Pair>, violation: &Violation) -> Self {
        Self {
            rule: rule.id,
            pair,
            pointer: without_indices(&violation.pointer),
        }
    }
}

/// A JSON pointer with every array index as `*`.
pub fn without_indices(pointer: &str) -> String {
    let step = |part| match part {
        "" => "",
        digits if str::bytes(digits).all(|byte| byte.is_ascii_digit()) => "*",
        name => name,
    };
    pointer.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// One attempt at seeing a violation again.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The exchanges of the group, in order.
    pub exchanges: Vec<Exchange>,
    /// The violation, when the rule was broken again.
    pub violation: Option<Violation>,
}

/// How many findings of one rule are looked into; the others are counted.
pub const FINDINGS_PER_RULE: usize = 5;

/// A broken rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// What the clause of the rule stands on.
    pub basis: Basis,
    /// Method and mode of the request that broke it.
    pub pair: Option<Pair>,
    /// The violation in the smallest group found.
    pub violation: Violation,
    /// The smallest group found.
    pub group: Group,
    /// Its exchanges, as first seen broken.
    pub exchanges: Vec<Exchange>,
    /// How many violations with the same key the run saw.
    pub times: u64,
    /// Every re-sending of the same bytes.
    pub attempts: Vec<Attempt>,
    /// How many requests shrinking took.
    pub shrink_requests: u32,
}

impl Finding {
    /// What makes it the same finding as another.
    pub fn key(&self) -> Key {
        Key::of(self.rule, self.pair, &self.violation)
    }

    /// How often the re-sent bytes broke the rule again.
    pub fn reproduced(&self) -> usize {
        self.attempts
            .iter()
            .filter(|attempt| attempt.violation.is_some())
            .count()
    }

    /// Whether the rule was broken and not again: no attempt of several showed it.
    pub fn is_flaky(&self) -> bool {
        !self.attempts.is_empty() && self.reproduced() == 0
    }
}
