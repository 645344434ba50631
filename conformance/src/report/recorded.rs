//! A report that was written before, read again: what comparing needs of it.

use std::{collections::BTreeMap, fs, path::Path};

use paymaster_schemas::Basis;
use serde::Deserialize;
use serde_json::Value;

use crate::report::{
    counts::{Counts, Standing},
    json,
};
use paymaster_judge::{
    session::tally::fails_the_run,
    verdict::{
        conclusion::{Conclusion, Verdict},
        finding, known,
        line::VerdictLine,
        summary::Reached,
    },
};

/// A report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Recorded {
    /// What wrote it.
    pub tool: Tool,
    /// The target, secrets replaced.
    pub target: String,
    /// The seed.
    pub seed: u64,
    /// Whether what warns failed the run.
    pub strict: bool,
    /// How the run ended.
    pub conclusion: Conclusion,
    /// Why it ended early.
    pub cut_short: Option<String>,
    /// How far the valid requests of each pair got.
    pub reached: BTreeMap<String, Reached>,
    /// What was sent and not judged.
    pub unjudged: Vec<RecordedUnjudged>,
    /// How many rules were not selected.
    pub left_out: usize,
    /// Every rule that was judged.
    pub rules: Vec<RecordedRule>,
    /// What was broken.
    pub findings: Vec<RecordedFinding>,
    /// How the entries of the list of known failures stand.
    pub known_failures: Vec<RecordedKnown>,
    /// The dialect.
    pub dialect: BTreeMap<String, String>,
    /// For each observed clause, the values seen and how often.
    pub observations: BTreeMap<String, BTreeMap<String, u64>>,
}

/// What wrote a report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tool {
    /// Its version.
    pub version: String,
}

/// A rule and its verdict.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedRule {
    /// The rule.
    pub id: String,
    /// Its clause.
    pub clause: String,
    /// The section of the clause.
    pub section: String,
    /// The name of the clause's basis.
    pub basis: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// Groups of requests that were sent and not judged, for one reason.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedUnjudged {
    /// How many groups.
    pub groups: usize,
}

/// An entry of the list of known failures.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedKnown {
    /// How it stands.
    pub standing: known::Standing,
}

/// A broken rule at one place.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedFinding {
    /// The rule.
    pub rule: String,
    /// The method, where the request has one.
    pub method: Option<String>,
    /// The mode, where the request has one.
    pub mode: Option<String>,
    /// Where in the answer.
    pub pointer: String,
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub actual: String,
}

impl Recorded {
    /// Reads a report from a file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let named = |cause: String| format!("{}: {cause}", path.display());
        let bytes = fs::read(path).map_err(|cause| named(cause.to_string()))?;
        Self::parse(&bytes).map_err(named)
    }

    /// Reads a report.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|cause| match first_line(bytes) {
            Some(line) if line["format"] == super::ndjson::FORMAT => {
                format!("this is an event log; {WANTED}")
            }
            _ => format!("no JSON ({cause}); {WANTED}"),
        })?;
        let format = value["format"].as_str().unwrap_or_default();
        match format {
            json::FORMAT => {}
            super::replay_file::FORMAT => return Err(format!("this is a replay file; {WANTED}")),
            _ if value["log"]["version"].is_string() => return Err(format!("this is a HAR file; {WANTED}")),
            _ if value["runs"].is_array() => return Err(format!("this is a SARIF log; {WANTED}")),
            other if other.starts_with("paymaster-report/") => {
                return Err(format!(
                    "the report is `{other}`, and this version reads `{}`: run again, or use the version that wrote it",
                    json::FORMAT
                ));
            }
            _ => return Err(format!("this is no report of ours; {WANTED}")),
        }
        Self::of(value).map_err(|cause| format!("the report is damaged: {cause}"))
    }

    /// Takes over a report that was just made.
    pub(crate) fn of(report: Value) -> Result<Self, String> {
        serde_json::from_value(report).map_err(|cause| cause.to_string())
    }

    /// What the verdict on a rule means for the run.
    pub(crate) fn standing(&self, rule: &RecordedRule) -> Standing {
        Standing::of_verdict(rule.verdict, fails_the_run(rule.ground(), self.strict))
    }

    /// The counts.
    pub(crate) fn counts(&self) -> Counts {
        Counts::of_standings(self.rules.iter().map(|rule| self.standing(rule)))
    }

    /// The verdict, with what it rests on.
    pub(crate) fn verdict(&self) -> VerdictLine {
        VerdictLine {
            conclusion: self.conclusion,
            counts: self.counts(),
            left_out: self.left_out,
            no_result: Reached::is_without_result(self.reached.values()),
            cut_short: self.cut_short.is_some(),
            unjudged: self.unjudged.iter().map(|unjudged| unjudged.groups).sum(),
            known: self.known_failures.iter().map(|known| known.standing).collect(),
        }
    }

    /// The rule of that id.
    pub(crate) fn rule(&self, id: &str) -> Option<&RecordedRule> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

impl RecordedRule {
    /// On what ground its clause stands; a name that we do not know can fail nobody.
    pub(crate) fn ground(&self) -> Basis {
        let known = Basis::ALL.into_iter().find(|basis| basis.name() == self.basis);
        known.unwrap_or(Basis::NotShown)
    }
}

impl RecordedFinding {
    /// Where it is broken, the same in every run: the call, and the pointer with every index as `*`.
    pub(crate) fn place(&self) -> String {
        let call = match (&self.method, &self.mode) {
            (Some(method), Some(mode)) => format!("{method} in mode {mode}"),
            _ => "any request".to_owned(),
        };
        match finding::without_indices(&self.pointer).as_str() {
            "" => call,
            pointer => format!("{call}, {pointer}"),
        }
    }
}

const WANTED: &str = "a report is what `paymaster-conformance URL --report json=FILE` writes";

fn first_line(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next()?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{formats, sample};
    use super::*;

    #[test]
    fn a_report_is_read_back() {
        let sample = sample::violations();
        let finished = sample.finished();
        let recorded = Recorded::parse(json::text(&finished).as_bytes()).unwrap();
        assert_eq!(
            recorded.counts(),
            Counts::of(&finished.summary.rules, finished.strictness)
        );
        assert_eq!(recorded.verdict().sentence(), finished.verdict().sentence());
        assert_eq!(
            recorded.findings[0].place(),
            "pm_getFeeQuoteOrData in mode ERC20, /result/feeQuotes"
        );
    }

    #[test]
    fn what_is_no_report_is_refused_with_what_it_is() {
        let sample = sample::violations();
        let made = |name: &str| formats::find(name).unwrap().render(&sample.finished()).unwrap();
        let replay = serde_json::json!({"format": super::super::replay_file::FORMAT}).to_string();
        for (text, words) in [
            (made("har"), "a HAR file"),
            (made("sarif"), "a SARIF log"),
            (made("ndjson"), "an event log"),
            (made("html"), "no JSON"),
            (replay, "a replay file"),
            ("[]".to_owned(), "no report of ours"),
            (
                r#"{"format":"paymaster-report/v9"}"#.to_owned(),
                "`paymaster-report/v9`, and this version reads",
            ),
            (
                r#"{"format":"paymaster-report/v1"}"#.to_owned(),
                "damaged: missing field",
            ),
        ] {
            let cause = Recorded::parse(text.as_bytes()).unwrap_err();
            assert!(cause.contains(words), "{words}: {cause}");
        }
    }
}
