//! What a run found, for Rust programs.

use std::{fmt, sync::Arc};

use crate::report::{
    Finished, html,
    machine::json,
    text::{compact, words},
};
use paymaster_client::redact::Redactor;
use paymaster_engine::{
    knowledge::Knowledge,
    rules::Rule,
    verdict::{
        conclusion::{Conclusion, Verdict},
        counts::{Counts, RuleState},
        finding::Finding,
        line::VerdictLine,
        strictness::Strictness,
        summary::{RuleOutcome, Summary},
    },
};
use paymaster_settings::{output::terminal::wrapped, settings::ShownTarget};

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
    pub(super) summary: Summary,
    pub(super) context: Arc<dyn Knowledge>,
    pub(super) strictness: Strictness,
    pub(super) redactor: Redactor,
    pub(super) place: ShownTarget,
}

impl Outcome {
    /// How the run ended.
    pub fn conclusion(&self) -> Conclusion {
        self.summary.conclusion
    }

    /// Whether every rule was judged and nothing was broken: [`Conclusion::Conforms`].
    pub fn conforms(&self) -> bool {
        self.conclusion() == Conclusion::Conforms
    }

    /// Every rule with its verdict, the findings, the observed behaviour and the counts of the run.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The broken rules, each with the smallest requests that break it, and the responses.
    pub fn findings(&self) -> &[Finding] {
        &self.summary.findings
    }

    /// The rules that were broken, those that only warn included.
    pub fn broken_rules(&self) -> impl Iterator<Item = &'static Rule> {
        let broken = |outcome: &&RuleOutcome| outcome.verdict.is_broken();
        self.summary.rules.iter().filter(broken).map(|outcome| outcome.rule)
    }

    /// The report as JSON, with secrets replaced. Its schema is `conformance/report.schema.json`.
    pub fn to_json(&self) -> String {
        json::text(&self.finished())
    }

    /// The report as a page, with secrets replaced.
    pub fn to_html(&self) -> String {
        html::page(&self.finished())
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

    fn finished(&self) -> Finished<'_> {
        Finished::new(&self.summary, &*self.context, self.strictness, &self.place, &self.redactor)
    }

    /// Text of the target: secrets replaced, control characters escaped.
    fn foreign(&self, text: &str) -> String {
        self.finished().safe(text)
    }

    fn write_finding(&self, f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
        let violation = &finding.violation;
        writeln!(
            f,
            "  at         {} of {}",
            self.foreign(words::place(finding)),
            finding.pair.map_or("any request", |pair| pair.name)
        )?;
        writeln!(f, "  expected   {}", self.foreign(&violation.expected))?;
        writeln!(f, "  actual     {}", self.foreign(&violation.actual))?;
        let Some(exchange) = finding.exchanges.get(violation.member) else {
            return Ok(());
        };
        let request = String::from_utf8_lossy(&exchange.request);
        writeln!(f, "  request    {}", self.foreign(&request))?;
        let response = match &exchange.outcome {
            Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
            Err(failure) => failure.to_string(),
        };
        writeln!(f, "  response   {}", compact::cut(&self.foreign(&response), BODY))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.summary;
        let verdict = VerdictLine::of(summary, self.strictness);
        for line in wrapped(&verdict.heading(), WIDTH) {
            writeln!(f, "{line}")?;
        }
        let rules = words::count(summary.rules.len() as u128, "rule");
        let counts = Counts::of(&summary.rules, self.strictness).line();
        writeln!(f, "{}", self.place.shown)?;
        writeln!(f, "{rules}: {counts} · {}", words::sent(summary))?;
        for warning in self.finished().warnings() {
            writeln!(f, "warning: {warning}")?;
        }
        if let Some(cause) = &summary.cut_short {
            writeln!(f, "cut short: {}", self.foreign(cause))?;
        }
        for outcome in &summary.rules {
            let label = match RuleState::of(outcome, self.strictness) {
                RuleState::Broken if outcome.verdict == Verdict::Flaky => "FLAKY",
                RuleState::Broken => "FAILED",
                RuleState::Warned => "WARNING",
                _ => continue,
            };
            let clause = outcome.rule.clause();
            writeln!(f, "\n{label} {}  section {}", outcome.rule.id, clause.section)?;
            for line in wrapped(clause.text, WIDTH - 2) {
                writeln!(f, "  {line}")?;
            }
            let mut own = summary.findings.iter();
            if let Some(finding) = own.find(|finding| finding.rule.id == outcome.rule.id) {
                self.write_finding(f, finding)?;
            }
        }
        for (reason, outcomes) in words::by_reason(&summary.rules, Verdict::Inconclusive) {
            let rules = words::count(outcomes.len() as u128, "rule");
            writeln!(f, "\ninconclusive: {rules}: {}", self.foreign(reason))?;
        }
        Ok(())
    }
}
