//! Counts rules by their outcome. Every report uses these counts.
//!
//! [`crate::verdict::line`] turns the counts into a sentence.

use serde_json::{Map, Value};
use strum::VariantArray;

use crate::verdict::Verdict;

/// The effect of a rule's verdict on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::VariantArray)]
pub enum RuleState {
    /// Broken, and the run fails.
    Broken,
    /// Broken, and the run is only warned.
    Warned,
    /// Broken only at places that the list of known failures names.
    KnownFailing,
    /// Held, although the list of known failures names it: the run fails.
    UnexpectedlyPassing,
    /// Held, and often enough.
    Passed,
    /// Exercised less often than its quota, because of known failures alone.
    Covered,
    /// Exercised less often than its quota.
    Inconclusive,
    /// It cannot apply to the target.
    NotApplicable,
}

impl RuleState {
    /// Every state, in the order of the reports.
    pub const ALL: [Self; 8] = *Self::VARIANTS.as_array().expect("eight variants");

    /// The state for a verdict. `fails` is true when a broken rule of this basis fails the run.
    pub const fn of_verdict(verdict: Verdict, fails: bool) -> Self {
        match verdict {
            Verdict::Failed | Verdict::Flaky if fails => Self::Broken,
            Verdict::Failed | Verdict::Flaky => Self::Warned,
            Verdict::KnownFailing => Self::KnownFailing,
            Verdict::UnexpectedlyPassing => Self::UnexpectedlyPassing,
            Verdict::Passed => Self::Passed,
            Verdict::Covered => Self::Covered,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::NotApplicable => Self::NotApplicable,
        }
    }

    /// Whether the rule is broken and not listed as known.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Broken | Self::Warned)
    }

    /// Of each state, in the order of [`RuleState::ALL`]: the name for machines, the sign, and the name for people.
    const TEXTS: [[&str; 3]; 8] = [
        ["broken", "✗", "broken"],
        ["warned", "!", "warned"],
        ["known-failing", "≈", "known failing"],
        ["unexpectedly-passing", "‼", "unexpectedly passing"],
        ["passed", "✓", "passed"],
        ["covered", "≋", "covered by known failures"],
        ["inconclusive", "?", "inconclusive"],
        ["not-applicable", "–", "not applicable"],
    ];

    /// The name, for machines.
    pub const fn name(self) -> &'static str {
        Self::TEXTS[self as usize][0]
    }

    /// A sign for the state that does not depend on colour.
    pub const fn sign(self) -> &'static str {
        Self::TEXTS[self as usize][1]
    }

    /// The name, for people.
    pub const fn word(self) -> &'static str {
        Self::TEXTS[self as usize][2]
    }
}

/// How many rules have each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; RuleState::ALL.len()]);

impl Counts {
    /// Counts states.
    pub fn of_states(states: impl IntoIterator<Item = RuleState>) -> Self {
        let mut counts = Self::default();
        for state in states {
            counts.0[state as usize] += 1;
        }
        counts
    }

    /// How many have that state.
    pub const fn get(&self, state: RuleState) -> usize {
        self.0[state as usize]
    }

    /// The states that any rule has, in the order of the reports, and how many have each.
    pub fn present(&self) -> impl Iterator<Item = (RuleState, usize)> {
        RuleState::ALL.into_iter().zip(self.0).filter(|(_, number)| *number > 0)
    }

    /// How many rules there are in all.
    pub fn rules(&self) -> usize {
        self.0.iter().sum()
    }

    /// How many rules were judged: they apply to the target, and were exercised often enough to pass or were broken.
    pub fn judged(&self) -> usize {
        let unjudged = [RuleState::Covered, RuleState::Inconclusive, RuleState::NotApplicable];
        self.rules() - unjudged.into_iter().map(|state| self.get(state)).sum::<usize>()
    }

    /// `2 broken, 1 warned, 70 passed`. States without rules are left out.
    pub fn line(&self) -> String {
        let parts = self.present().map(|(state, number)| format!("{number} {}", state.word()));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// `{"broken": 2, "warned": 1, ...}`, every state.
    pub fn json(&self) -> Value {
        let members = RuleState::ALL.map(|state| (state.name().to_owned(), self.get(state).into()));
        Value::Object(Map::from_iter(members))
    }
}
