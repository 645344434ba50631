//! A broken rule, with everything that reproduces it.

use paymaster_schemas::{Basis, Kind};
use serde::{Deserialize, Serialize};

use crate::cases::Group;
use crate::diagnosis::{Cause, Contrast};
use crate::json::with_indices;
use crate::rules::{Rule, Violation};
use crate::specification::Specification;
use paymaster_exchange::Exchange;

/// The identity of a finding. Violations that differ only in array indices have the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The rule.
    pub rule: &'static str,
    /// Method and mode, where the request has them.
    pub pair: Option<Kind>,
    /// The pointer with every array index as `*`.
    pub pointer: String,
}

impl Key {
    /// The key of a violation.
    pub fn of(rule: &Rule, pair: Option<Kind>, violation: &Violation) -> Self {
        Self { rule: rule.id, pair, pointer: without_indices(&violation.pointer) }
    }
}

/// A JSON pointer with every array index as `*`.
pub fn without_indices(pointer: &str) -> String {
    with_indices(pointer, "*")
}

/// One attempt to reproduce a violation.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The exchanges of the group, in order.
    pub exchanges: Vec<Exchange>,
    /// The violation, when the rule was broken again.
    pub violation: Option<Violation>,
}

impl Attempt {
    /// Whether the requests have other bytes than those of the finding: new ids and nonces, where a target takes the same ones once only.
    pub fn is_new(&self, group: &Group) -> bool {
        self.exchanges.iter().zip(&group.members).any(|(exchange, member)| exchange.request != member.body)
    }
}

/// How many findings of one rule are reproduced and shrunk. The others are only counted.
pub const FINDINGS_PER_RULE: usize = 5;

/// A broken rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The specification by which the target is judged.
    pub specification: &'static Specification,
    /// The basis of the rule's clause.
    pub basis: Basis,
    /// Method and mode of the request that broke it.
    pub pair: Option<Kind>,
    /// The violation in the smallest group found.
    pub violation: Violation,
    /// The smallest group found.
    pub group: Group,
    /// Its exchanges, when the rule was first broken.
    pub exchanges: Vec<Exchange>,
    /// How many answers of the run broke the rule at this place.
    pub times: u64,
    /// Every attempt to reproduce the violation with the same bytes.
    pub attempts: Vec<Attempt>,
    /// How many requests shrinking and the search for the cause took.
    pub shrink_requests: u32,
    /// Whether the budget of requests was spent before every smaller group was tried.
    pub could_be_smaller: bool,
    /// What decides whether the rule is broken; none where that is not known.
    pub cause: Option<Cause>,
    /// Whether a cause was looked for.
    pub sought: Sought,
    /// Whether the requests are answered rightly with other ids, nonces and senders, so that what was sent before may decide, or wrongly with
    /// these too. None where neither was seen each time.
    pub of_sent_values: Option<bool>,
    /// The nearest requests that do not break the rule; none where none were found.
    pub contrast: Option<Contrast>,
    /// How many requests of the same method and mode show it; none where that was not counted, as in recorded traffic.
    pub share: Option<KindShare>,
}

/// Whether the cause of a finding was looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sought {
    /// Not: a run does not look for every one where there are many, or where the time for it is over.
    #[default]
    No,
    /// It was.
    Yes,
    /// It was, and the requests, which broke the rule beside others, were right when they were sent alone.
    RightAlone,
}

/// How many of the requests of one method and mode that a rule judged broke it at the place of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindShare {
    /// Requests that broke it there.
    pub broken: usize,
    /// Requests that the rule judged, of those that the run keeps: the cause was checked against these.
    pub judged: usize,
    /// Requests that the rule judged in all: more than `judged` where the run keeps an even sample only.
    pub all: usize,
    /// Whether requests of some method and mode broke it at this place: not malformed ones alone.
    #[serde(skip)]
    pub is_of_calls: bool,
}

impl Finding {
    /// The identity of the finding.
    pub fn key(&self) -> Key {
        Key::of(self.rule, self.pair, &self.violation)
    }

    /// How often the re-sent bytes broke the rule again.
    pub fn reproduced(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.violation.is_some()).count()
    }

    /// Whether the rule was broken once and no attempt reproduced it.
    pub fn is_flaky(&self) -> bool {
        !self.attempts.is_empty() && self.reproduced() == 0
    }
}
