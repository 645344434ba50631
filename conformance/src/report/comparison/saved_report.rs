//! Reads a JSON report that an earlier run wrote: the parts that a comparison needs.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use paymaster_schemas::Basis;
use serde::Deserialize;
use serde_json::Value;

use crate::report::{
    counts::{Counts, RuleState},
    machine::{json, ndjson},
    replay_file,
};
use paymaster_client::files;
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    finding, known,
    line::VerdictLine,
    strictness::fails_the_run,
    summary::Reached,
};

/// A report that was read from a file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedReport {
    /// The program that wrote it.
    pub(crate) tool: Tool,
    /// The target, secrets replaced.
    pub(crate) target: String,
    /// Whether the target is the embedded reference server; reports of earlier versions do not have it.
    #[serde(default)]
    pub(crate) embedded: bool,
    /// The seed.
    pub(crate) seed: u64,
    /// Whether the run was strict.
    pub(crate) strict: bool,
    /// What the target was judged by; none in reports of versions that knew one specification alone.
    #[serde(default)]
    pub(crate) specification: Option<SavedSpecification>,
    /// How the run ended.
    pub(crate) conclusion: Conclusion,
    /// Why it ended early.
    pub(crate) cut_short: Option<String>,
    /// The answers to the valid requests of each pair of method and mode.
    pub(crate) reached: BTreeMap<String, Reached>,
    /// Groups of requests that were sent and not judged.
    pub(crate) unjudged: Vec<SavedUnjudged>,
    /// How many rules were not selected.
    pub(crate) left_out: usize,
    /// Every rule that was judged.
    pub(crate) rules: Vec<SavedRule>,
    /// The findings.
    pub(crate) findings: Vec<SavedFinding>,
    /// The defects; none in reports of earlier versions.
    #[serde(default)]
    pub(crate) defects: Vec<SavedDefect>,
    /// The entries of the list of known failures.
    pub(crate) known_failures: Vec<SavedKnownFailure>,
    /// The dialect.
    pub(crate) dialect: BTreeMap<String, String>,
    /// For each observed clause, the values seen and how often.
    pub(crate) observations: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The specification of a report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedSpecification {
    /// Its name.
    pub(crate) name: String,
}

/// The program that wrote a report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tool {
    /// Its version.
    pub(crate) version: String,
}

/// A rule and its verdict.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedRule {
    /// The rule.
    pub(crate) id: String,
    /// Its clause.
    pub(crate) clause: String,
    /// The section of the clause.
    pub(crate) section: String,
    /// The name of the clause's basis.
    pub(crate) basis: String,
    /// The verdict.
    pub(crate) verdict: Verdict,
}

/// Groups of requests that were not judged, for one reason.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedUnjudged {
    /// How many groups.
    pub(crate) groups: usize,
}

/// An entry of the list of known failures.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedKnownFailure {
    /// Its state after the run.
    pub(crate) state: known::EntryState,
}

/// Findings with one cause.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedDefect {
    /// Whether it breaks a rule that fails the run.
    pub(crate) fails: bool,
}

/// A broken rule at one place.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SavedFinding {
    /// The rule.
    pub(crate) rule: String,
    /// The method, where the request has one.
    pub(crate) method: Option<String>,
    /// The mode, where the request has one.
    pub(crate) mode: Option<String>,
    /// JSON pointer into the answer.
    pub(crate) pointer: String,
    /// The expected value, in words.
    pub(crate) expected: String,
    /// The actual value.
    pub(crate) actual: String,
}

impl SavedReport {
    /// Reads a report from a file. The error names the file.
    pub(crate) fn read(path: &Path) -> Result<Self, ReadError> {
        let parsed = files::read(path, files::WRITTEN_BY_A_RUN)
            .map_err(NotAReport::Unreadable)
            .and_then(|bytes| Self::parse(&bytes));
        parsed.map_err(|cause| ReadError { path: path.to_owned(), cause })
    }

    /// Reads the text of a report.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, NotAReport> {
        let value: Value = serde_json::from_slice(bytes).map_err(|cause| match first_line(bytes) {
            Some(line) if line["format"] == ndjson::FORMAT => NotAReport::OtherFile("an event log"),
            _ => NotAReport::NotJson(cause),
        })?;
        match value["format"].as_str().unwrap_or_default() {
            json::FORMAT => serde_json::from_value(value).map_err(NotAReport::Damaged),
            replay_file::FORMAT => Err(NotAReport::OtherFile("a replay file")),
            _ if value["log"]["version"].is_string() => Err(NotAReport::OtherFile("a HAR file")),
            _ if value["runs"].is_array() => Err(NotAReport::OtherFile("a SARIF log")),
            other if other.starts_with("paymaster-report/") => {
                Err(NotAReport::OtherVersion(other.to_owned()))
            }
            _ => Err(NotAReport::OtherFile("not a report of paymaster-conformance")),
        }
    }

    /// The specification that the target was judged by.
    pub(crate) fn specification(&self) -> &str {
        self.specification.as_ref().map_or("fee-quote", |specification| &specification.name)
    }

    /// Checks that this report and another one are about the same specification.
    pub(crate) fn compared_with(&self, other: &Self) -> Result<(), String> {
        let (own, others) = (self.specification(), other.specification());
        let other_one = || {
            format!("one report is about {own}, another about {others}: compare reports of one specification")
        };
        (own == others).then_some(()).ok_or_else(other_one)
    }

    /// The state of a rule: its verdict, and whether it fails the run.
    pub(crate) fn state(&self, rule: &SavedRule) -> RuleState {
        RuleState::of_verdict(rule.verdict, fails_the_run(rule.basis(), self.strict))
    }

    /// The counts.
    pub(crate) fn counts(&self) -> Counts {
        Counts::of_states(self.rules.iter().map(|rule| self.state(rule)))
    }

    /// The verdict in words.
    pub(crate) fn verdict(&self) -> VerdictLine {
        VerdictLine {
            // The report has the headline; its parts are not read back.
            contradicted: Vec::new(),
            conclusion: self.conclusion,
            counts: self.counts(),
            defects: self.defects.iter().filter(|defect| defect.fails).count(),
            left_out: self.left_out,
            no_result: Reached::is_without_result(self.reached.values()),
            cut_short: self.cut_short.is_some(),
            unjudged: self.unjudged.iter().map(|unjudged| unjudged.groups).sum(),
            known: self.known_failures.iter().map(|known| known.state).collect(),
        }
    }

    /// The rule of that id.
    pub(crate) fn rule(&self, id: &str) -> Option<&SavedRule> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

impl SavedRule {
    /// The basis of its clause. An unknown name counts as a basis that cannot fail a run.
    pub(crate) fn basis(&self) -> Basis {
        let known = Basis::ALL.into_iter().find(|basis| basis.name() == self.basis);
        known.unwrap_or(Basis::NotShown)
    }
}

impl SavedFinding {
    /// The place of the violation, the same in every run: the call, and the pointer with every index replaced by `*`.
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

/// A file that could not be read as a report.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub(crate) struct ReadError {
    path: PathBuf,
    #[source]
    cause: NotAReport,
}

/// Why a file is not a report of this version.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAReport {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The file is not JSON.
    #[error("not JSON ({0}); {ADVICE}")]
    NotJson(#[source] serde_json::Error),
    /// The file is something else; the text says what.
    #[error("this is {0}; {ADVICE}")]
    OtherFile(&'static str),
    /// The report has this format, which this version does not read.
    #[error(
        "the report is `{0}`, and this version reads `{READS}`: run again, or use the version that wrote it"
    )]
    OtherVersion(String),
    /// The report lacks something, or a value has the wrong type.
    #[error("the report is damaged: {0}")]
    Damaged(#[source] serde_json::Error),
}

const READS: &str = json::FORMAT;
const ADVICE: &str = "a report is what `paymaster-conformance URL --report json=FILE` writes";

fn first_line(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{formats::FORMATS, sample};

    #[test]
    fn a_report_is_read_back() {
        let sample = sample::violations();
        let finished = sample.finished();
        let recorded = SavedReport::parse(json::text(&finished).as_bytes()).unwrap();
        assert_eq!(recorded.counts(), Counts::of(&finished.summary.rules, finished.strictness));
        assert_eq!(recorded.verdict().sentence(), finished.verdict().sentence());
        assert_eq!(recorded.findings[0].place(), "pm_getFeeQuoteOrData in mode ERC20, /result/feeQuotes");
    }

    #[test]
    fn the_error_names_what_a_file_is_instead() {
        let sample = sample::violations();
        let made = |name: &str| {
            let format = FORMATS.iter().find(|format| format.name == name).unwrap();
            format.render(&sample.finished()).unwrap()
        };
        let replay = serde_json::json!({"format": replay_file::FORMAT}).to_string();
        for (text, words) in [
            (made("har"), "a HAR file"),
            (made("sarif"), "a SARIF log"),
            (made("ndjson"), "an event log"),
            (made("html"), "not JSON"),
            (replay, "a replay file"),
            ("[]".to_owned(), "not a report of"),
            (
                r#"{"format":"paymaster-report/v9"}"#.to_owned(),
                "`paymaster-report/v9`, and this version reads",
            ),
            (r#"{"format":"paymaster-report/v1"}"#.to_owned(), "damaged: missing field"),
        ] {
            let cause = SavedReport::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(cause.contains(words), "{words}: {cause}");
        }
    }
}
