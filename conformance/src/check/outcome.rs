//! What a run found, for Rust programs.

use std::fmt;

use crate::report::{
    Finished, html, machine,
    model::{Finding as ReportedFinding, Report},
    text::{compact, words},
};
use paymaster_engine::{
    rules::Rule,
    verdict::{
        conclusion::{Conclusion, Verdict},
        counts::RuleState,
        finding::Finding,
        summary::{RuleOutcome, Summary},
    },
};
use paymaster_settings::{escape_controls, wrapped};

/// The widest line of [`Outcome`] as text.
const WIDTH: usize = 110;
/// The longest part of a response that is printed, in characters.
const BODY: usize = 320;

/// What a run found. `Display` prints the verdict and every broken rule, with secrets replaced by `***`.
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
        html::page(&self.report())
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

fn write_finding(f: &mut fmt::Formatter<'_>, finding: &ReportedFinding) -> fmt::Result {
    writeln!(f, "  at         {} of {}", escape_controls(finding.at()), finding.call())?;
    writeln!(f, "  expected   {}", escape_controls(&finding.expected))?;
    writeln!(f, "  actual     {}", escape_controls(&finding.actual))?;
    let Some(exchange) = finding.exchange() else {
        return Ok(());
    };
    writeln!(f, "  request    {}", escape_controls(&exchange.request.text))?;
    let response = match &exchange.answer {
        Ok(response) => format!("{} {}", response.status, response.body.text),
        Err(failure) => failure.clone(),
    };
    writeln!(f, "  response   {}", compact::cut(&escape_controls(&response), BODY))
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report();
        for line in wrapped(&report.verdict_line().heading(), WIDTH) {
            writeln!(f, "{line}")?;
        }
        let rules = words::count(report.rules.len() as u128, "rule");
        writeln!(f, "{}", report.target)?;
        writeln!(f, "{rules}: {} · {}", report.counts().line(), words::sent(&report))?;
        for (title, limit) in words::limits(&report) {
            writeln!(f, "{}: {limit}", title.to_lowercase())?;
        }
        for rule in &report.rules {
            let label = match report.state(rule) {
                RuleState::Broken if rule.verdict == Verdict::Flaky => "FLAKY",
                RuleState::Broken => "FAILED",
                RuleState::Warned => "WARNING",
                _ => continue,
            };
            writeln!(f, "\n{label} {}  section {}", rule.id, rule.section)?;
            for line in wrapped(&rule.text, WIDTH - 2) {
                writeln!(f, "  {line}")?;
            }
            if let Some(finding) = report.findings.iter().find(|finding| finding.rule == rule.id) {
                write_finding(f, finding)?;
            }
        }
        let not_judged = words::not_judged(&report).into_iter();
        let inconclusive = not_judged.filter(|one| one.verdict == Verdict::Inconclusive);
        for (reason, rules) in inconclusive.flat_map(|one| one.by_reason) {
            let rules = words::count(rules.len() as u128, "rule");
            writeln!(f, "\ninconclusive: {rules}: {}", escape_controls(reason))?;
        }
        Ok(())
    }
}
