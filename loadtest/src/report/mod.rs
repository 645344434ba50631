//! Reports of a finished run. Each renders a [`RunSummary`] and an optional comparison. To add one, add a file and its entry in
//! [`FORMATS`].

mod csv;
mod document;
#[cfg(test)]
pub(crate) mod fixtures;
mod json;
mod junit;
mod phrases;
mod plot;
mod plots;
mod tables;
mod wrong;

pub use document::{Extent, compared, lines, own, terminal};

use paymaster_settings::output::{Destination, FormatNames, report_file};

use crate::results::{RunComparison, RunSummary};

type Render = fn(&RunSummary, Option<&RunComparison>) -> String;

/// A format of report files.
#[derive(Debug)]
pub struct ReportFormat {
    /// Its name and the endings of its file names; the first one is shown in the help.
    pub names: FormatNames,
    /// What it is for, in one line.
    pub about: &'static str,
    render: Render,
}

/// Every format of report files.
pub static FORMATS: &[ReportFormat] = &[
    format("json", &["json"], "everything, to merge and to compare", json::render),
    format("html", &["html", "htm"], "a page with plots, in one file", document::web_page),
    format("markdown", &["md"], "Markdown, for a pull request", document::markdown),
    format("junit", &["xml"], "JUnit, one test case for each threshold", junit::render),
    format("csv", &["csv"], "the figures by second, one row each", csv::render),
];

const fn format(
    name: &'static str,
    endings: &'static [&'static str],
    about: &'static str,
    render: Render,
) -> ReportFormat {
    ReportFormat { names: FormatNames { name, endings }, about, render }
}

/// The file name of a report where none is given, without its ending.
const DEFAULT_STEM: &str = "paymaster-load-report";

/// A report to write.
#[derive(Clone, Debug)]
pub struct RequestedReport {
    format: &'static ReportFormat,
    destination: Destination,
}

impl RequestedReport {
    /// Reads the arguments of `-o`.
    pub fn parse(arguments: &[String]) -> Result<Vec<Self>, String> {
        let names: Vec<FormatNames> = FORMATS.iter().map(|format| format.names).collect();
        let requested = arguments.iter().map(|text| {
            let (format, destination) = report_file::parse(text, DEFAULT_STEM, &names)?;
            Ok(Self { format: &FORMATS[format], destination })
        });
        requested.collect()
    }

    /// Whether it goes to standard output.
    pub fn is_on_stdout(&self) -> bool {
        self.destination == Destination::Stdout
    }

    /// The same report of a later run of one worker: from the second run on, its file has the number of the run before its ending.
    #[must_use]
    pub fn of_run(&self, number: u64) -> Self {
        let mut report = self.clone();
        if let Destination::File(path) = &mut report.destination
            && number > 1
        {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
            path.set_file_name(format!("{stem}-{number}{}", ending.unwrap_or_default()));
        }
        report
    }

    /// Renders the report and writes it.
    pub fn write(&self, summary: &RunSummary, comparison: Option<&RunComparison>) -> Result<(), String> {
        let text = (self.format.render)(summary, comparison);
        self.destination.write(&text).map_err(|cause| format!("{}: {cause}", self.destination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_unique_and_name_their_format() {
        let mut seen = std::collections::BTreeSet::new();
        let parsed = |text: String| RequestedReport::parse(&[text]);
        for format in FORMATS {
            for ending in format.names.endings {
                assert!(seen.insert(*ending), "{ending}");
                let requested = parsed(format!("a.b/c.{}", ending.to_uppercase())).unwrap();
                assert!(std::ptr::eq(requested[0].format, format));
            }
            let requested = parsed(format!("{}=-", format.names.name)).unwrap();
            assert!(requested[0].is_on_stdout() && std::ptr::eq(requested[0].format, format));
        }
        let error = parsed("report.pdf".to_owned()).unwrap_err();
        assert!(error.contains(".html") && error.contains("report.pdf"), "{error}");
    }

    #[test]
    fn later_runs_have_files_of_their_own() {
        let report = |text: &str| RequestedReport::parse(&[text.to_owned()]).unwrap().remove(0);
        for (text, first, second) in
            [("a.b/own.json", "a.b/own.json", "a.b/own-2.json"), ("html=own", "own", "own-2")]
        {
            assert_eq!(report(text).of_run(1).destination, Destination::File(first.into()));
            assert_eq!(report(text).of_run(2).destination, Destination::File(second.into()));
        }
        assert!(report("json=-").of_run(2).is_on_stdout());
    }

    #[test]
    fn every_format_says_that_the_embedded_server_was_the_target() {
        for embedded in [true, false] {
            for summary in fixtures::all() {
                let summary = RunSummary { embedded, ..summary };
                let paint = paymaster_settings::Paint::default();
                let terminal = ("terminal", terminal(&summary, None, Extent::default(), paint));
                let rendered = |format: &ReportFormat| (format.render)(&summary, None);
                let files = FORMATS.iter().map(|format| (format.names.name, rendered(format)));
                for (name, text) in files.chain([terminal]) {
                    if name == "csv" {
                        // A table of numbers has no place for a sentence: each row has the flag.
                        let flag = format!(",{embedded}");
                        assert!(text.lines().next().unwrap().ends_with(",embedded"), "{text}");
                        assert!(text.lines().skip(1).all(|row| row.ends_with(&flag)), "{text}");
                        continue;
                    }
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let warned = text.contains(paymaster_settings::embedded::EMBEDDED_WARNING);
                    assert_eq!(warned, embedded, "{name}: {text}");
                }
            }
        }
    }

    #[test]
    fn every_format_renders_every_verdict() {
        for summary in fixtures::all() {
            for format in FORMATS {
                assert!(!(format.render)(&summary, None).is_empty());
            }
        }
    }
}
