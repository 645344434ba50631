//! The summary of a run: the outcome of every rule, the findings, and what was observed.

use std::{collections::BTreeMap, time::Duration};

use paymaster_schemas::Kind;

use serde::{Deserialize, Serialize};

use crate::diagnosis::{AnswerKind, Defect, Finding, Key};
use crate::message::Answer;
use crate::rules::{MissingLine, Observations, Rule};
use crate::verdict::{Conclusion, Verdict, known};

/// Groups that are not judged for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnjudgedGroups {
    /// How many.
    pub groups: usize,
    /// The shortest request for which they are not judged; of several the first in the alphabet.
    pub request: String,
    /// What is different about that request, for people; empty where nothing is.
    pub label: String,
}

impl UnjudgedGroups {
    /// Adds those of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        self.groups += other.groups;
        if (other.request.len(), &other.request) < (self.request.len(), &self.request) {
            (self.request, self.label) = (other.request, other.label);
        }
    }
}

/// The outcome of one rule.
#[derive(Clone, Debug)]
pub struct RuleOutcome {
    /// The rule.
    pub rule: &'static Rule,
    /// The verdict.
    pub verdict: Verdict,
    /// How often it was exercised and held.
    pub held: u64,
    /// How many answers broke it.
    pub broken: u64,
    /// How often it must hold in this run before it passes.
    pub quota: u64,
    /// Why the rule does not apply or was exercised too seldom, or what would make it conclusive.
    pub reason: Option<String>,
    /// The line of the profile that would make it conclusive.
    pub waits_for: Option<&'static MissingLine>,
}

/// The line of the profile that most rules wait for, and how many do. Of two lines that are worth the same, it is the one of the first rule.
pub fn most_awaited(rules: &[RuleOutcome]) -> Option<(&'static MissingLine, usize)> {
    let awaited = || rules.iter().filter_map(|outcome| outcome.waits_for);
    let worth = |line: &MissingLine| awaited().filter(|other| *other == line).count();
    // `max_by_key` returns the last of several.
    let lines = awaited().rev().map(|line| (line, worth(line)));
    lines.max_by_key(|(_, worth)| *worth)
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Summary {
    /// The target, secrets redacted.
    pub target: String,
    /// The seed.
    pub seed: u64,
    /// How the run ends.
    pub conclusion: Conclusion,
    /// Set when the exchanges come from recorded traffic.
    pub recorded: Option<Recorded>,
    /// Why the run ended early; none when it did not.
    pub cut_short: Option<String>,
    /// What the run did not exercise because of its limits, in sentences.
    pub coverage: Vec<String>,
    /// Every rule that was selected, in the order of the rules.
    pub rules: Vec<RuleOutcome>,
    /// How many rules were not selected. Rules about a chain count only in a run that uses one.
    pub left_out: usize,
    /// Lines of the profile that the target contradicts from its first answer on.
    pub contradictions: Vec<Contradiction>,
    /// The broken rules.
    pub findings: Vec<Finding>,
    /// The findings that are no known failures, grouped by cause.
    pub defects: Vec<Defect>,
    /// Every place at which a rule was broken. The findings cover at most a few places of each rule.
    pub places: Vec<Key>,
    /// The state of every entry of the list of known failures, in the order of the list.
    pub known: Vec<known::EntryOutcome>,
    /// The commonest error message in the methods and modes in which no request got a result.
    pub refusal: Option<Refusal>,
    /// The groups that were not judged, by reason.
    pub unjudged: BTreeMap<String, UnjudgedGroups>,
    /// Dialect and behaviour fingerprint.
    pub observations: Observations,
    /// What the target uses of what the specification leaves open: names and values.
    pub dialect: serde_json::Map<String, serde_json::Value>,
    /// How many requests were sent, shrinking and re-sending included.
    pub requests: usize,
    /// How many connections there were at a time; 1 for recorded traffic.
    pub connections: usize,
    /// How many valid requests of each pair were answered with a result and with an error.
    pub reached: BTreeMap<&'static str, Reached>,
    /// From the first request to the end.
    pub took: Duration,
}

/// A line of the profile that the target never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The line, as `tokens.supported[1]`.
    pub line: String,
    /// How many answers contradicted it.
    pub times: u64,
}

/// An error message that the target gives instead of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The methods and modes of the requests.
    pub pairs: Vec<Kind>,
    /// The message.
    pub message: String,
    /// How many requests got it.
    pub times: u64,
    /// Of how many.
    pub of: u64,
}

/// Exchanges of recorded traffic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// How many were judged.
    pub exchanges: u64,
    /// How many entries were left out, by the reason.
    pub skipped: BTreeMap<String, u64>,
}

impl Summary {
    /// The entry of the list of known failures that covers a finding.
    pub fn known_entry(&self, finding: &Finding) -> Option<&known::KnownFailure> {
        let key = finding.key();
        self.known
            .iter()
            .filter(|known| known.state == known::EntryState::StillFailing)
            .map(|known| &known.entry)
            .find(|entry| entry.matches(&key))
    }
}

/// How the valid requests of a pair were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Answered with a result.
    pub results: u64,
    /// Answered with an error.
    pub errors: u64,
    /// Not answered, or with neither a result nor an error.
    pub unreadable: u64,
}

impl Reached {
    /// Counts the answer to a valid request.
    pub fn count(&mut self, answer: &Answer<'_>) {
        let counted = match AnswerKind::of(answer) {
            AnswerKind::Result => &mut self.results,
            AnswerKind::Error => &mut self.errors,
            AnswerKind::Other => &mut self.unreadable,
        };
        *counted += 1;
    }

    /// Whether valid requests were sent, over all pairs, and none of them got a result.
    pub fn is_without_result<'a>(mut pairs: impl Iterator<Item = &'a Self>) -> bool {
        let mut sent = 0;
        let got_one = pairs.any(|pair| {
            sent += pair.errors + pair.unreadable;
            pair.results > 0
        });
        sent > 0 && !got_one
    }
}
