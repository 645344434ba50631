//! The table of report formats. Command line, help and documentation read it.

use crate::report::machine;
use crate::report::{Report, ReportLog, document, github, har, junit, ndjson, sarif};

/// Every format.
pub const FORMATS: &[Format] = &[
    text("json", "JSON", "for machines; its schema is conformance/report.schema.json", machine::json),
    text("html", "HTML", "for people: one page that loads nothing from the network", document::page),
    text(
        "markdown",
        "Markdown",
        "for the summary of a CI step or a comment on a pull request",
        document::text,
    )
    .in_files("md"),
    text("sarif", "SARIF", "for code scanning: each finding, with its line of the profile", sarif::text),
    text("junit", "JUnit", "one test case for each rule, for CI", junit::xml).in_files("xml"),
    text("github", "GitHub", "annotations of a GitHub workflow: print the file in a step", github::text)
        .in_files("github.txt"),
    log("ndjson", "NDJSON", "the events of the run, one a line", ndjson::events),
    log("ndjson-all", "NDJSON", "the same, with every exchange", ndjson::exchanges).in_files("all.ndjson"),
    text("har", "HAR", "the exchanges of every finding, for the network panel of a browser", har::failing),
    log("har-all", "HAR", "every exchange", har::all).in_files("all.har"),
];

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// The suffix of its files, without the dot.
    pub suffix: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    /// How it is rendered.
    pub render: Render,
}

/// How a report is rendered.
#[derive(Clone, Copy, Debug)]
pub enum Render {
    /// From a finished run.
    Text(fn(&Report) -> String),
    /// Event by event while the run goes on.
    Log(fn() -> Box<dyn ReportLog>),
}

/// A format of a finished run. Its name is the suffix of its files.
const fn text(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    render: fn(&Report) -> String,
) -> Format {
    Format { name, title, suffix: name, about, render: Render::Text(render) }
}

/// A format of a run that goes on.
const fn log(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    render: fn() -> Box<dyn ReportLog>,
) -> Format {
    Format { name, title, suffix: name, about, render: Render::Log(render) }
}

impl Format {
    /// With another suffix than its name.
    const fn in_files(self, suffix: &'static str) -> Self {
        Self { suffix, ..self }
    }
}

/// The file name of a report where none is given, without its ending.
pub(crate) const DEFAULT_STEM: &str = "paymaster-report";

/// The table as text, for the help.
pub(crate) fn help() -> String {
    let rows: Vec<String> =
        FORMATS.iter().map(|format| format!("{} ({})", format.name, format.about)).collect();
    rows.join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use paymaster_engine::verdict::summary::Refusal;
    use paymaster_schemas::kinds;
    use serde_json::Value;

    use super::*;
    use paymaster_settings::EMBEDDED_WARNING;

    use crate::report::{counts::RuleState, document, sample};

    #[test]
    fn names_and_suffixes_are_unique() {
        for (number, format) in FORMATS.iter().enumerate() {
            let others = || FORMATS.iter().skip(number + 1);
            assert!(others().all(|other| other.name != format.name), "{}", format.name);
            assert!(others().all(|other| other.suffix != format.suffix), "{}", format.name);
            assert!(!format.name.contains(['=', ' ']) && !format.about.is_empty());
        }
    }

    /// The count of each state in the text of a report.
    #[expect(clippy::too_many_lines, reason = "each format is read in its own way")]
    fn counts_in(format: &str, text: &str) -> BTreeMap<&'static str, usize> {
        let json = || serde_json::from_str::<Value>(text).unwrap();
        let of = |count: &dyn Fn(RuleState) -> usize| {
            RuleState::ALL.into_iter().map(|state| (state.name(), count(state))).collect()
        };
        match format {
            "json" => {
                let report = json();
                let rules = report["rules"].as_array().unwrap().clone();
                of(&|state| {
                    let is = |rule: &&Value| {
                        let broken = matches!(rule["verdict"].as_str(), Some("failed" | "flaky"));
                        let fails = rule["basis"] == "stated";
                        match state {
                            RuleState::Broken => broken && fails,
                            RuleState::Warned => broken && !fails,
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
                of(&|state| {
                    let is = |case: &&&str| match state {
                        RuleState::Broken => {
                            case.contains("<failure ") && !case.contains("type=\"unexpectedly")
                        }
                        RuleState::UnexpectedlyPassing => {
                            case.contains("<failure message=\"unexpectedly-passing: ")
                        }
                        RuleState::Warned => case.contains("<skipped message=\"warning: "),
                        RuleState::Passed => !case.contains("<failure ") && !case.contains("<skipped "),
                        other => case.contains(&format!("<skipped message=\"{}: ", other.name())),
                    };
                    cases.iter().filter(is).count()
                })
            }
            "ndjson" | "ndjson-all" => {
                let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
                of(&|state| usize::try_from(last["counts"][state.name()].as_u64().unwrap()).unwrap())
            }
            // The numbers in the head of the page, and the rows of the tree.
            "html" => of(&|state| {
                let name = state.name();
                let row = format!(" data-state=\"{name}\" data-basis=");
                let count = format!("<span class=\"count\" data-state=\"{name}\"><b>");
                let head = text
                    .split(&count)
                    .nth(1)
                    .map_or(0, |rest| rest.split('<').next().unwrap().parse().unwrap());
                assert_eq!(text.matches(&row).count(), head);
                head
            }),
            "markdown" => {
                let line = text.lines().find(|line| line.starts_with("**")).unwrap();
                of(&|state| in_words(line, state))
            }
            "github" => {
                let notice = text.lines().last().unwrap();
                let (_, counts) = notice.split_once(" · ").unwrap();
                of(&|state| in_words(counts, state))
            }
            "sarif" => of(&|state| in_sarif(&json()["runs"][0], state)),
            "har" | "har-all" => {
                let comment = json()["log"]["comment"].as_str().unwrap().to_owned();
                let (_, counts) = comment.split_once(" · ").unwrap();
                of(&|state| in_words(counts, state))
            }
            other => panic!("add here how the counts are read from `{other}`"),
        }
    }

    /// The count in the properties of a run; compares it with the results and notifications.
    fn in_sarif(run: &Value, state: RuleState) -> usize {
        let list = |value: &Value| value.as_array().unwrap().clone();
        let rules_at = |level: &str| {
            let open = |result: &&Value| result["level"] == level && result["suppressions"].is_null();
            let results = list(&run["results"]);
            let own = results.iter().filter(open).map(|result| result["ruleId"].to_string());
            own.collect::<BTreeSet<_>>().len()
        };
        let notes = list(&run["invocations"][0]["toolExecutionNotifications"]);
        let count = run["properties"]["counts"][state.name()].as_u64().unwrap();
        let count = usize::try_from(count).unwrap();
        match state {
            RuleState::Broken => assert_eq!(count, rules_at("error")),
            RuleState::Warned => assert_eq!(count, rules_at("warning")),
            RuleState::Inconclusive => {
                assert_eq!(count, notes.iter().filter(|note| note["level"] == "note").count());
            }
            RuleState::KnownFailing
            | RuleState::UnexpectedlyPassing
            | RuleState::Passed
            | RuleState::Covered
            | RuleState::NotApplicable => {}
        }
        count
    }

    /// The number before a word, 0 where the word is missing.
    fn in_words(text: &str, state: RuleState) -> usize {
        let Some((before, _)) = text.split_once(&format!(" {}", state.word())) else { return 0 };
        let digits = before.rsplit(|letter: char| !letter.is_ascii_digit()).next();
        digits.unwrap().parse().unwrap()
    }

    #[test]
    fn every_report_shows_the_warnings() {
        let mut sample = sample::violations();
        sample.place.connection_warnings.push("certificates were not verified".to_owned());
        sample.summary.refusal = Some(Refusal {
            pairs: vec![kinds::QUOTE_ERC20],
            message: "ERC20 mode is not enabled \u{1b}[31m for s3cr3t-key".to_owned(),
            times: 213,
            of: 240,
        });
        sample.place.embedded = true;
        let paint = paymaster_settings::output::terminal::Paint::default();
        let terminal = (
            "terminal",
            document::terminal(
                &sample.report(),
                document::Extent { verbose: true, ..Default::default() },
                paint,
                paymaster_settings::output::document::terminal::WIDTH,
            ),
        );
        let files = FORMATS.iter().map(|format| (format.name, sample.rendered(format)));
        for (name, text) in files.chain([terminal]) {
            assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'), "{name}");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for part in [
                "certificates were not verified",
                EMBEDDED_WARNING,
                "got a result; the commonest refusal (213 of 240 answers)",
                "ERC20 mode is not enabled ",
            ] {
                assert!(text.contains(part), "{name}: {part}");
            }
            if name == "terminal" {
                let place = |part: &str| text.find(part).unwrap();
                let others = [EMBEDDED_WARNING, "certificates were not verified"];
                assert!(others.iter().all(|other| place("the commonest refusal") < place(other)), "{text}");
            }
        }
        sample.place.embedded = false;
        for format in FORMATS {
            let text = sample.rendered(format);
            assert!(!text.contains("embedded reference server"), "{}", format.name);
        }
    }

    #[test]
    fn every_report_names_the_specification_its_version_and_its_place() {
        let sample = sample::violations();
        for format in FORMATS {
            let text = sample.rendered(format);
            for part in [
                "fee-quote",
                "Paymaster JSON-RPC Service Specification",
                "without a version",
                "docs/specification.md",
            ] {
                assert!(text.contains(part), "{}: {part}", format.name);
            }
        }
    }

    #[test]
    fn every_report_shows_the_same_counts() {
        let mut seen = BTreeSet::new();
        for sample in [sample::violations(), sample::known(), sample::recorded()] {
            let finished = sample.report();
            let counts = finished.counts();
            let expected: BTreeMap<_, _> =
                RuleState::ALL.into_iter().map(|state| (state.name(), counts.get(state))).collect();
            seen.extend(RuleState::ALL.into_iter().filter(|state| counts.get(*state) > 0));
            for format in FORMATS {
                let text = sample.rendered(format);
                assert_eq!(counts_in(format.name, &text), expected, "{}", format.name);
                assert!(!text.contains("s3cr3t-key"), "{} shows a secret", format.name);
                assert!(!text.contains('\u{1b}'), "{} writes to the terminal", format.name);
            }
        }
        assert!(seen.len() >= 6, "{seen:?}");
    }
}
