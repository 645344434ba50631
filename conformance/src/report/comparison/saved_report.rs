//! Reads a JSON report that an earlier run wrote.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::report::{
    machine::{self, ndjson},
    model::Report,
    replay_file,
};
use paymaster_client::files;

impl Report {
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
            machine::FORMAT => serde_json::from_value(value).map_err(NotAReport::Damaged),
            replay_file::FORMAT => Err(NotAReport::OtherFile("a replay file")),
            _ if value["log"]["version"].is_string() => Err(NotAReport::OtherFile("a HAR file")),
            _ if value["runs"].is_array() => Err(NotAReport::OtherFile("a SARIF log")),
            other if other.starts_with("paymaster-report/") => {
                Err(NotAReport::OtherVersion(other.to_owned()))
            }
            _ => Err(NotAReport::OtherFile("not a report of paymaster-conformance")),
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

const READS: &str = machine::FORMAT;
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
        let report = sample::violations().report();
        let recorded = Report::parse(machine::json(&report).as_bytes()).unwrap();
        assert_eq!(recorded.counts(), report.counts());
        assert_eq!(recorded.verdict_line().sentence(), report.verdict);
        assert_eq!(recorded.findings[0].place(), "pm_getFeeQuoteOrData in mode ERC20, /result/feeQuotes");
    }

    #[test]
    fn the_error_names_what_a_file_is_instead() {
        let sample = sample::violations();
        let made = |name: &str| {
            let format = FORMATS.iter().find(|format| format.name == name).unwrap();
            format.render(&sample.report()).unwrap()
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
            let cause = Report::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(cause.contains(words), "{words}: {cause}");
        }
    }
}
