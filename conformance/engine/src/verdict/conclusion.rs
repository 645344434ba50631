//! The verdict on a rule and the conclusion of a run.

use paymaster_schemas::Basis;
use serde::{Deserialize, Serialize};

use crate::rules::fails_the_run;
use crate::verdict::{RuleOutcome, known};

/// How strictly a run is concluded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strictness {
    /// Broken clauses that only warn fail the run.
    pub strict: bool,
    /// Stated rules may stay inconclusive.
    pub allow_incomplete: bool,
}

/// The verdict on one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Verdict {
    /// Broken, and broken again when the same bytes were sent again.
    Failed,
    /// Broken once, and not broken when the same bytes were sent again.
    Flaky,
    /// Broken only at places that the list of known failures names.
    KnownFailing,
    /// Held, although the list of known failures names it.
    UnexpectedlyPassing,
    /// Exercised less often than its quota, because of known failures alone.
    Covered,
    /// Exercised less often than its quota.
    Inconclusive,
    /// It cannot apply to this target according to the profile.
    NotApplicable,
    /// Exercised often enough, and held every time.
    Passed,
}

impl Verdict {
    /// Whether the rule is broken at a place that the list of known failures does not name.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Failed | Self::Flaky)
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every rule was selected, and every stated rule passed or does not apply.
    Conforms,
    /// Nothing was broken in what was judged: `--rule` left rules out, or `--allow-incomplete` accepts that stated rules stayed
    /// inconclusive.
    NothingBroken,
    /// A stated rule was broken, or under `--strict` one that warns.
    Violations,
    /// Nothing was broken that the list of known failures does not name, but entries of that list expired, pass or match nothing.
    ListOutOfDate,
    /// Nothing was broken, but stated rules stayed inconclusive, no request got a result, or the run was cut short.
    Incomplete,
    /// The target could not be tested.
    CouldNotTest,
}

impl Conclusion {
    /// Of each conclusion, in the order of their declaration: the name for machines, and the headline.
    const TEXTS: [[&str; 2]; 6] = [
        ["conforms", "CONFORMS"],
        ["nothing-broken", "NOTHING BROKEN"],
        ["violations", "VIOLATIONS"],
        ["list-out-of-date", "KNOWN-FAILURES LIST IS OUT OF DATE"],
        ["incomplete", "INCOMPLETE"],
        ["could-not-test", "COULD NOT TEST"],
    ];

    /// The name, for machines.
    pub const fn name(self) -> &'static str {
        Self::TEXTS[self as usize][0]
    }

    /// The words in capitals with which a report begins.
    pub const fn headline(self) -> &'static str {
        Self::TEXTS[self as usize][1]
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Its plan was completed, or the part of it that the request budget allowed.
    #[default]
    Done,
    /// It was interrupted, or its time limit was reached.
    Stopped,
    /// The target could not be tested, or not to the end.
    GaveUp,
}

/// What concludes a run beside its rules and the list of known failures.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunState {
    /// Why the run ended.
    pub end: End,
    /// Valid requests were sent, and none of them got a result.
    pub no_result: bool,
    /// Some answers were not judged because they exceed our limits or come from a gateway.
    pub has_unjudged_answers: bool,
    /// How many rules were left out.
    pub left_out: usize,
}

/// How a run ends.
pub fn conclude(
    outcomes: &[RuleOutcome],
    known: &[known::EntryOutcome],
    strictness: Strictness,
    state: RunState,
) -> Conclusion {
    let broken = |outcome: &RuleOutcome| {
        outcome.verdict.is_broken() && fails_the_run(outcome.rule.basis(), strictness.strict)
    };
    let inconclusive = |outcome: &RuleOutcome| {
        outcome.verdict == Verdict::Inconclusive && outcome.rule.basis() == Basis::Stated
    };
    let unjudged = state.has_unjudged_answers || outcomes.iter().any(inconclusive);
    if outcomes.iter().any(broken) {
        Conclusion::Violations
    } else if known.iter().any(|known| known.state.fails_the_run()) {
        Conclusion::ListOutOfDate
    } else if state.end == End::GaveUp {
        Conclusion::CouldNotTest
    } else if state.end == End::Stopped || state.no_result || unjudged && !strictness.allow_incomplete {
        Conclusion::Incomplete
    } else if unjudged || state.left_out > 0 {
        Conclusion::NothingBroken
    } else {
        Conclusion::Conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::SAMPLE;

    fn outcome(rule: &str, verdict: Verdict) -> RuleOutcome {
        RuleOutcome {
            rule: SAMPLE.find_rule(rule).unwrap(),
            verdict,
            held: 0,
            broken: 0,
            quota: 1,
            reason: None,
            waits_for: None,
        }
    }

    #[test]
    fn verdicts_of_rules_conclude_a_run() {
        let (stated, warning) = ("answer.id", "interoperability.mode-member");
        let plain = Strictness::default();
        let strict = Strictness { strict: true, ..plain };
        let lenient = Strictness { allow_incomplete: true, ..plain };
        for (rule, verdict, strictness, expected) in [
            (stated, Verdict::Passed, plain, Conclusion::Conforms),
            (stated, Verdict::NotApplicable, plain, Conclusion::Conforms),
            (stated, Verdict::Failed, plain, Conclusion::Violations),
            (stated, Verdict::Flaky, plain, Conclusion::Violations),
            (stated, Verdict::Failed, lenient, Conclusion::Violations),
            (stated, Verdict::Inconclusive, plain, Conclusion::Incomplete),
            (stated, Verdict::Inconclusive, lenient, Conclusion::NothingBroken),
            (warning, Verdict::Failed, plain, Conclusion::Conforms),
            (warning, Verdict::Failed, strict, Conclusion::Violations),
            (warning, Verdict::Inconclusive, strict, Conclusion::Conforms),
        ] {
            let outcomes = [outcome("answer.object", Verdict::Passed), outcome(rule, verdict)];
            assert_eq!(
                conclude(&outcomes, &[], strictness, RunState::default()),
                expected,
                "{rule} {verdict} {strictness:?}"
            );
        }
    }

    #[test]
    fn the_state_of_a_run_changes_its_conclusion() {
        let lenient = Strictness { allow_incomplete: true, ..Strictness::default() };
        let state = RunState::default();
        for (state, strictly, leniently) in [
            (
                RunState { end: End::GaveUp, no_result: true, ..state },
                Conclusion::CouldNotTest,
                Conclusion::CouldNotTest,
            ),
            (RunState { end: End::Stopped, ..state }, Conclusion::Incomplete, Conclusion::Incomplete),
            (RunState { no_result: true, ..state }, Conclusion::Incomplete, Conclusion::Incomplete),
            (
                RunState { has_unjudged_answers: true, ..state },
                Conclusion::Incomplete,
                Conclusion::NothingBroken,
            ),
            (RunState { left_out: 1, ..state }, Conclusion::NothingBroken, Conclusion::NothingBroken),
        ] {
            let passed = [outcome("answer.object", Verdict::Passed)];
            let ends = |outcomes: &[RuleOutcome], strictness| conclude(outcomes, &[], strictness, state);
            assert_eq!(ends(&passed, Strictness::default()), strictly, "{state:?}");
            assert_eq!(ends(&passed, lenient), leniently, "{state:?}");
            let failed = [outcome("answer.object", Verdict::Failed)];
            assert_eq!(ends(&failed, lenient), Conclusion::Violations, "{state:?}");
        }
    }
}
