//! What a run found, for Rust programs.

use std::fmt;

use crate::report::{Finished, document, machine, model::Report};
use paymaster_engine::{
    rules::Rule,
    verdict::{
        conclusion::Conclusion,
        finding::Finding,
        summary::{RuleOutcome, Summary},
    },
};

/// What a run found. `Display` prints what the command prints with `--verbose`, but for what to do next: secrets are replaced by `***`.
///
/// [`Outcome::summary`] gives the data as it was sent and received: secrets are not replaced there.
#[derive(Debug)]
#[must_use = "a run whose outcome is not read tests nothing"]
pub struct Outcome {
    pub(super) finished: Finished,
}

impl Outcome {
    /// How the run ended.
    pub fn conclusion(&self) -> Conclusion {
        self.finished.summary.conclusion
    }

    /// Whether every rule was judged and nothing was broken: [`Conclusion::Conforms`].
    pub fn conforms(&self) -> bool {
        self.conclusion() == Conclusion::Conforms
    }

    /// Every rule with its verdict, the findings, the observed behaviour and the counts of the run.
    pub fn summary(&self) -> &Summary {
        &self.finished.summary
    }

    /// The broken rules, each with the smallest requests that break it, and the responses.
    pub fn findings(&self) -> &[Finding] {
        &self.finished.summary.findings
    }

    /// The rules that were broken, those that only warn included.
    pub fn broken_rules(&self) -> impl Iterator<Item = &'static Rule> {
        let broken = |outcome: &&RuleOutcome| outcome.verdict.is_broken();
        self.finished.summary.rules.iter().filter(broken).map(|outcome| outcome.rule)
    }

    /// The report as JSON, with secrets replaced. Its schema is `conformance/report.schema.json`.
    pub fn to_json(&self) -> String {
        machine::json(&self.report())
    }

    /// The report as a page, with secrets replaced.
    pub fn to_html(&self) -> String {
        document::page(&self.report())
    }

    /// Ends a test: panics with the report unless the service conforms.
    ///
    /// # Panics
    ///
    /// Unless [`Outcome::conforms`].
    #[track_caller]
    pub fn assert_conforms(&self) {
        assert!(self.conforms(), "the service does not conform\n\n{self}");
    }

    fn report(&self) -> Report {
        Report::of(&self.finished)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&document::for_a_program(&self.report()))
    }
}
