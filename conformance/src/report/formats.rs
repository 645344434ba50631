//! The formats that a report can be written in: one line each. Command line, help and documentation read this table.

use std::io::{self, Write};

use crate::events::Event;
use crate::report::{Finished, har, html, json, junit, markdown, ndjson, sarif};
use paymaster_cli::settings::ShownTarget;
use paymaster_client::redact::Redactor;

use Maker::{Log, Tried, Whole};

/// Every format.
pub const FORMATS: &[Format] = &[
    format(
        "json",
        "JSON",
        "json",
        "for machines, after conformance/report.schema.json",
        Whole(json::text),
    ),
    format(
        "html",
        "HTML",
        "html",
        "for people: one page that asks no network for anything",
        Whole(html::page),
    ),
    format(
        "markdown",
        "Markdown",
        "md",
        "for the summary of a CI step or a comment on a pull request",
        Whole(markdown::text),
    ),
    format(
        "sarif",
        "SARIF",
        "sarif",
        "for code scanning: what is broken, and where the schemas say so",
        Whole(sarif::text),
    ),
    format(
        "junit",
        "JUnit",
        "xml",
        "one test case a rule, for CI",
        Tried(junit::xml),
    ),
    format(
        "ndjson",
        "NDJSON",
        "ndjson",
        "what happens in the run, one event a line",
        Log(ndjson::events),
    ),
    format(
        "ndjson-all",
        "NDJSON",
        "all.ndjson",
        "the same, with every exchange",
        Log(ndjson::exchanges),
    ),
    format(
        "har",
        "HAR",
        "har",
        "the exchanges of every finding, as a browser's tools open them",
        Whole(har::failing),
    ),
    format("har-all", "HAR", "all.har", "every exchange", Log(har::all)),
];

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// How file names end, without the dot.
    pub suffix: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What makes it.
    pub maker: Maker,
}

/// What makes a report.
#[derive(Clone, Copy, Debug)]
pub enum Maker {
    /// Made of a run that is over.
    Whole(fn(&Finished<'_>) -> String),
    /// The same, where that can fail.
    Tried(fn(&Finished<'_>) -> Result<String, String>),
    /// Written while the run goes on.
    Log(fn(&ShownTarget, &Redactor) -> Box<dyn Recorder>),
}

/// A report that is written while the run goes on.
pub trait Recorder {
    /// Whether it wants to be told of every exchange.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// Something happened.
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// The run is over: the last lines. Without any event before, the report is still a whole one.
    fn end(&mut self, finished: &Finished<'_>, out: &mut dyn Write) -> io::Result<()>;
}

const fn format(
    name: &'static str,
    title: &'static str,
    suffix: &'static str,
    about: &'static str,
    maker: Maker,
) -> Format {
    Format {
        name,
        title,
        suffix,
        about,
        maker,
    }
}

/// The format of that name.
pub(crate) fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

impl Format {
    /// The whole report of a run that is over; a log has only what the end of the run tells.
    pub fn render(&self, finished: &Finished<'_>) -> Result<String, String> {
        match self.maker {
            Whole(make) => Ok(make(finished)),
            Tried(make) => make(finished),
            Log(open) => {
                let mut bytes = Vec::new();
                open(finished.place, finished.redactor)
                    .end(finished, &mut bytes)
                    .map_err(|cause| cause.to_string())?;
                String::from_utf8(bytes).map_err(|cause| cause.to_string())
            }
        }
    }

    /// The file name that is taken when none is given.
    pub fn default_file(&self) -> String {
        format!("paymaster-report.{}", self.suffix)
    }
}

/// The table as text, for the help.
pub(crate) fn help() -> String {
    let rows: Vec<String> = FORMATS
        .iter()
        .map(|format| format!("{} ({})", format.name, format.about))
        .collect();
    rows.join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::super::{
        counts::{Counts, Standing},
        sample,
    };
    use super::*;

    #[test]
    fn names_and_suffixes_are_unique() {
        for (number, format) in FORMATS.iter().enumerate() {
            let others = || FORMATS.iter().skip(number + 1);
            assert!(others().all(|other| other.name != format.name), "{}", format.name);
            assert!(
                others().all(|other| other.suffix != format.suffix),
                "{}",
                format.name
            );
            assert!(!format.name.contains(['=', ' ']) && !format.about.is_empty());
        }
    }

    /// How often each standing is told by the report of a format, read from its text alone.
    fn told(format: &str, text: &str) -> BTreeMap<&'static str, usize> {
        let json = || serde_json::from_str::<Value>(text).unwrap();
        let of = |count: &dyn Fn(Standing) -> usize| {
            Standing::ALL
                .into_iter()
                .map(|standing| (standing.name(), count(standing)))
                .collect()
        };
        match format {
            "json" => {
                let report = json();
                let rules = report["rules"].as_array().unwrap().clone();
                of(&|standing| {
                    let is = |rule: &&Value| {
                        let broken = matches!(rule["verdict"].as_str(), Some("failed" | "flaky"));
                        let fails = rule["basis"] == "stated";
                        match standing {
                            Standing::Broken => broken && fails,
                            Standing::Warned => broken && !fails,
                            other => rule["verdict"] == other.name(),
                        }
                    };
                    rules.iter().filter(is).count()
                })
            }
            "junit" => {
                // Entries of the list of known failures have cases of their own, which are no rules.
                let cases: Vec<&str> = text
                    .split("<testcase ")
                    .skip(1)
                    .filter(|case| case.contains("classname=\"section "))
                    .collect();
                of(&|standing| {
                    let is = |case: &&&str| match standing {
                        Standing::Broken => {
                            case.contains("<failure ") && !case.contains("type=\"unexpectedly")
                        }
                        Standing::UnexpectedlyPassing => {
                            case.contains("<failure message=\"unexpectedly-passing: ")
                        }
                        Standing::Warned => case.contains("<skipped message=\"warning: "),
                        Standing::Passed => !case.contains("<failure ") && !case.contains("<skipped "),
                        other => case.contains(&format!("<skipped message=\"{}: ", other.name())),
                    };
                    cases.iter().filter(is).count()
                })
            }
            "ndjson" | "ndjson-all" => {
                let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
                of(&|standing| usize::try_from(last["counts"][standing.name()].as_u64().unwrap()).unwrap())
            }
            // The numbers in the head of the page, and the rows of the tree.
            "html" => of(&|standing| {
                let name = standing.name();
                let row = format!(" data-standing=\"{name}\" data-basis=");
                let told = format!("<span class=\"count\" data-standing=\"{name}\"><b>");
                let head = text
                    .split(&told)
                    .nth(1)
                    .map_or(0, |rest| rest.split('<').next().unwrap().parse().unwrap());
                assert_eq!(text.matches(&row).count(), head);
                head
            }),
            "markdown" => {
                let line = text.lines().find(|line| line.starts_with("**")).unwrap();
                of(&|standing| in_words(line, standing))
            }
            "sarif" => of(&|standing| in_sarif(&json()["runs"][0], standing)),
            "har" | "har-all" => {
                let comment = json()["log"]["comment"].as_str().unwrap().to_owned();
                let (_, counts) = comment.split_once(" · ").unwrap();
                of(&|standing| in_words(counts, standing))
            }
            other => panic!("say here how the counts are read from `{other}`"),
        }
    }

    /// The count in the properties of a run, held against its results and notifications where it stands in these too.
    fn in_sarif(run: &Value, standing: Standing) -> usize {
        let list = |value: &Value| value.as_array().unwrap().clone();
        let rules_at = |level: &str| {
            let open = |result: &&Value| result["level"] == level && result["suppressions"].is_null();
            let results = list(&run["results"]);
            let own = results
                .iter()
                .filter(open)
                .map(|result| result["ruleId"].to_string());
            own.collect::<BTreeSet<_>>().len()
        };
        let notes = list(&run["invocations"][0]["toolExecutionNotifications"]);
        let told = run["properties"]["counts"][standing.name()].as_u64().unwrap();
        let told = usize::try_from(told).unwrap();
        match standing {
            Standing::Broken => assert_eq!(told, rules_at("error")),
            Standing::Warned => assert_eq!(told, rules_at("warning")),
            Standing::Inconclusive => {
                assert_eq!(told, notes.iter().filter(|note| note["level"] == "note").count());
            }
            Standing::KnownFailing
            | Standing::UnexpectedlyPassing
            | Standing::Passed
            | Standing::NotApplicable => {}
        }
        told
    }

    /// The number before a word, 0 where the word is missing.
    fn in_words(text: &str, standing: Standing) -> usize {
        let Some((before, _)) = text.split_once(&format!(" {}", standing.word())) else {
            return 0;
        };
        let digits = before.rsplit(|letter: char| !letter.is_ascii_digit()).next();
        digits.unwrap().parse().unwrap()
    }

    #[test]
    fn every_report_tells_the_warnings() {
        let mut sample = sample::violations();
        sample
            .place
            .warnings
            .push("certificates were not verified".to_owned());
        for format in FORMATS {
            let text = format.render(&sample.finished()).unwrap();
            assert!(text.contains("certificates were not verified"), "{}", format.name);
        }
    }

    #[test]
    fn every_report_tells_the_same_counts() {
        let mut seen = BTreeSet::new();
        for sample in [sample::violations(), sample::known(), sample::recorded()] {
            let finished = sample.finished();
            let counts = Counts::of(&finished.summary.rules, finished.strictness);
            let expected: BTreeMap<_, _> = Standing::ALL
                .into_iter()
                .map(|standing| (standing.name(), counts.get(standing)))
                .collect();
            seen.extend(
                Standing::ALL
                    .into_iter()
                    .filter(|standing| counts.get(*standing) > 0),
            );
            for format in FORMATS {
                let text = format.render(&finished).unwrap();
                assert_eq!(told(format.name, &text), expected, "{}", format.name);
                assert!(!text.contains("s3cr3t-key"), "{} tells a secret", format.name);
                assert!(!text.contains('\u{1b}'), "{} writes to the terminal", format.name);
            }
        }
        assert!(seen.len() >= 6, "{seen:?}");
    }
}
