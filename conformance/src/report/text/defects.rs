//! Defects as every report shows them: headline and cause on one line each, without secrets.

use crate::report::{Finished, counts::RuleState, text::words};
use paymaster_engine::{
    diagnosis::{defect::Defect, sentence},
    rules::Rule,
    verdict::{finding::Finding, strictness::fails_the_run, summary::RuleOutcome},
};

/// A defect with what reports write about it.
pub(crate) struct ShownDefect<'a> {
    /// Its number in the reports, from 1.
    pub(crate) number: usize,
    /// Its findings, by their places in the summary; the first one is shown.
    pub(crate) findings: &'a [usize],
    /// The finding that is shown.
    pub(crate) shown: &'a Finding,
    /// What is wrong, in a sentence without its full stop.
    pub(crate) headline: String,
    /// What decides, or that no cause was found and how many requests show it; none where no cause was looked for.
    pub(crate) cause: Option<String>,
    /// The rules that it breaks.
    pub(crate) rules: Vec<&'static Rule>,
    /// How many of these fail the run.
    failing_rules: usize,
    /// Whether it fails the run.
    pub(crate) fails: bool,
}

impl ShownDefect<'_> {
    /// Whether it breaks the rule.
    pub(crate) fn breaks(&self, rule: &Rule) -> bool {
        self.rules.iter().any(|own| own.id == rule.id)
    }

    /// `breaks 3 rules`; where some of them do not fail the run, `breaks 1 rule, and 2 that only warn`. The verdict counts the others.
    pub(crate) fn extent(&self) -> String {
        let breaks = |rules| format!("breaks {}", words::count(rules as u128, "rule"));
        match (self.failing_rules, self.rules.len() - self.failing_rules) {
            (failing, 0) => breaks(failing),
            (0, warned) => format!("{} that only warn", breaks(warned)),
            (failing, warned) => format!("{}, and {warned} that only warn", breaks(failing)),
        }
    }

    /// The ids of the rules that it breaks, separated by commas.
    pub(crate) fn rule_ids(&self) -> String {
        let ids: Vec<&str> = self.rules.iter().map(|rule| rule.id).collect();
        ids.join(", ")
    }
}

/// The defects of a run, those that fail it first.
pub(crate) fn shown<'a>(finished: &Finished<'a>) -> Vec<ShownDefect<'a>> {
    let summary = finished.summary;
    let shown = summary.defects.iter().filter_map(|defect: &'a Defect| {
        let shown = defect.shown(&summary.findings)?;
        let rules = defect.rules(&summary.findings);
        let strict = finished.strictness.strict;
        let fails = |rule: &&&Rule| fails_the_run(rule.basis(), strict);
        let failing_rules = rules.iter().filter(fails).count();
        Some(ShownDefect {
            number: 0,
            findings: &defect.findings,
            shown,
            headline: finished.safe(&safe_headline(defect, finished)),
            cause: cause(shown, finished),
            rules,
            failing_rules,
            fails: failing_rules > 0,
        })
    });
    let mut all: Vec<ShownDefect<'a>> = shown.collect();
    all.sort_by_key(|defect| !defect.fails);
    for (number, defect) in (1..).zip(&mut all) {
        defect.number = number;
    }
    all
}

/// The headline of a defect without secrets. Headlines cut long texts, and a cut secret is not recognized any more: secrets are replaced
/// first.
pub(crate) fn safe_headline(defect: &Defect, finished: &Finished<'_>) -> String {
    let findings = &finished.summary.findings;
    let own = defect.findings.iter().filter_map(|number| findings.get(*number));
    let safe: Vec<Finding> = own.map(|finding| redacted(finding, finished)).collect();
    let renumbered = Defect { findings: (0..safe.len()).collect(), links: Vec::new() };
    finished.redacted(&renumbered.headline(&safe))
}

/// The cause of a finding in words: `wrong with nonce "0", right with nonce "1"`. Where none was found, that sentence.
pub(crate) fn cause(finding: &Finding, finished: &Finished<'_>) -> Option<String> {
    Some(finished.safe(&sentence::cause_of(finding)?))
}

/// The rules of that state that no defect explains: a run without confirmation has no findings.
pub(crate) fn unexplained<'a>(
    finished: &Finished<'a>,
    state: RuleState,
    defects: &[ShownDefect<'_>],
) -> Vec<&'a RuleOutcome> {
    let of = |outcome: &&RuleOutcome| {
        RuleState::of(outcome, finished.strictness) == state
            && !defects.iter().any(|defect| defect.breaks(outcome.rule))
    };
    finished.summary.rules.iter().filter(of).collect()
}

fn redacted(finding: &Finding, finished: &Finished<'_>) -> Finding {
    let mut safe = finding.clone();
    let violation = &mut safe.violation;
    for text in [&mut violation.pointer, &mut violation.expected, &mut violation.actual] {
        *text = finished.redacted(text);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_secret_that_a_headline_would_cut_is_replaced() {
        let mut sample = sample::violations();
        for start in 0..160 {
            let long = format!("{}s3cr3t-key{}", "a ".repeat(start), "b ".repeat(80));
            sample.summary.findings[0].violation.actual = long;
            for defect in shown(&sample.finished()) {
                for part in ["s3cr", "t-key"] {
                    assert!(!defect.headline.contains(part), "{}", defect.headline);
                }
            }
        }
    }

    #[test]
    fn defects_that_fail_come_first_and_have_their_cause() {
        let sample = sample::violations();
        let defects = shown(&sample.finished());
        let fails: Vec<bool> = defects.iter().map(|defect| defect.fails).collect();
        assert_eq!(fails, [true, true, false]);
        assert_eq!(defects.iter().map(|defect| defect.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(defects.iter().any(|defect| defect.cause.is_some()));
        assert!(unexplained(&sample.finished(), RuleState::Broken, &defects).is_empty());
        assert_eq!(unexplained(&sample.finished(), RuleState::Broken, &[]).len(), 2);
    }
}
