//! One entry of a list of known failures.

use chrono::NaiveDate;
use paymaster_schemas::{Method, Mode};

use crate::{
    rules::Rule,
    verdict::finding::{Key, without_indices},
};

/// The list that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownFailureKind {
    /// `[[failing]]`: fails in every run. When it passes, the entry is out of date.
    Failing,
    /// `[[flaky]]`: fails in some runs. Passing proves nothing: the entry is valid until it expires.
    Flaky,
}

/// One known failure and its owner. Method, mode and pointer narrow it; each may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFailure {
    /// The list that the entry is in.
    pub kind: KnownFailureKind,
    /// The rule.
    pub rule: &'static str,
    /// Only requests of that method.
    pub method: Option<Method>,
    /// Only requests in that mode.
    pub mode: Option<Mode>,
    /// Only that place of the answer; `*` for any index of an array, empty for the answer as a whole.
    pub pointer: Option<String>,
    /// Why it is accepted for now.
    pub reason: String,
    /// Who is responsible for the entry.
    pub owner: String,
    /// The last day on which it counts.
    pub expires: NaiveDate,
}

impl KnownFailure {
    /// Whether the entry covers findings with that key.
    pub fn matches(&self, key: &Key) -> bool {
        self.rule == key.rule
            && self.method.is_none_or(|method| key.pair.is_some_and(|pair| pair.method == method))
            && self.mode.is_none_or(|mode| key.pair.is_some_and(|pair| pair.mode == mode))
            && self.pointer.as_ref().is_none_or(|pointer| without_indices(pointer) == key.pointer)
    }

    /// Whether the entry is expired on that day.
    pub fn is_expired(&self, today: NaiveDate) -> bool {
        self.expires < today
    }

    /// Whether the entry names that rule.
    pub fn is_about(&self, rule: &Rule) -> bool {
        self.rule == rule.id
    }

    /// The rule and what narrows the entry, for people: `quote-result.symbol, ERC20, at /result/feeQuotes/*/symbol`.
    pub fn scope(&self) -> String {
        let mut parts = vec![self.rule.to_owned()];
        parts.extend(self.method.map(|method| method.name().to_owned()));
        parts.extend(self.mode.map(|mode| mode.name().to_owned()));
        parts.extend(self.pointer.as_ref().map(|pointer| {
            if pointer.is_empty() { "the answer as a whole".to_owned() } else { format!("at {pointer}") }
        }));
        parts.join(", ")
    }
}
