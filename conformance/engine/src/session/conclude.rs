//! How a run ends: the conclusion from the outcomes of its rules.

use paymaster_schemas::Basis;

use crate::{
    rules::fails_the_run,
    verdict::{
        conclusion::{Conclusion, Strictness, Verdict},
        known,
        summary::RuleOutcome,
    },
};

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
