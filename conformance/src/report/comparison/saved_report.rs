//! Reads a JSON report that an earlier run wrote.

use std::path::Path;

use serde_json::Value;

use crate::report::machine;
use crate::report::{Report, ndjson, replay_file};
use paymaster_client::files;

impl Report {
    /// Reads a report from a file. The error names the file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let bytes = files::read(path, files::WRITTEN_BY_A_RUN).map_err(|cause| cause.to_string());
        bytes.and_then(|bytes| Self::parse(&bytes)).map_err(|cause| format!("{}: {cause}", path.display()))
    }

    /// Reads the text of a report.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let something_else = |what: &str| format!("this is {what}; {ADVICE}");
        let value: Value = serde_json::from_slice(bytes).map_err(|cause| match first_line(bytes) {
            Some(line) if line["format"] == ndjson::FORMAT => something_else("an event log"),
            _ => format!("not JSON ({cause}); {ADVICE}"),
        })?;
        Err(match value["format"].as_str().unwrap_or_default() {
            machine::FORMAT => {
                let damaged = |cause| format!("the report is damaged: {cause}");
                return serde_json::from_value(value).map_err(damaged);
            }
            replay_file::FORMAT => something_else("a replay file"),
            _ if value["log"]["version"].is_string() => something_else("a HAR file"),
            _ if value["runs"].is_array() => something_else("a SARIF log"),
            other if other.starts_with("paymaster-report/") => format!(
                "the report is `{other}`, and this version reads `{}`: run again, or use the version that wrote it",
                machine::FORMAT
            ),
            _ => something_else("not a report of paymaster-conformance"),
        })
    }
}

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
            sample.rendered(format)
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
            let cause = Report::parse(text.as_bytes()).unwrap_err();
            assert!(cause.contains(words), "{words}: {cause}");
        }
    }
}
