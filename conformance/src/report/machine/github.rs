//! Annotations of a GitHub workflow: one workflow command for each defect, and the verdict as a notice.

use crate::report::machine::profile_place::ProfilePlace;
use crate::report::{Report, words};
use paymaster_engine::verdict::Conclusion;
use paymaster_settings::escape_controls;

/// GitHub shows that many annotations of one level for a step.
const MOST: usize = 10;

/// The workflow commands, one a line.
pub(crate) fn text(report: &Report) -> String {
    let of_the_run = |level: &str, text: &String| command(level, "Paymaster conformance", None, &[text]);
    let mut errors = Vec::new();
    let mut warnings: Vec<String> = report.warnings.iter().map(|text| of_the_run("warning", text)).collect();
    if let Some(cause) = &report.cut_short {
        let is_error = report.conclusion == Conclusion::CouldNotTest;
        let (level, list) = if is_error { ("error", &mut errors) } else { ("warning", &mut warnings) };
        list.push(of_the_run(level, cause));
    }
    for known in report.stale_and_known().0 {
        let text = format!("known failure {}: {}", known.scope, known.advice);
        errors.push(command("error", "Paymaster conformance", None, &[&text]));
    }
    for defect in &report.defects {
        let (level, list) = if defect.fails { ("error", &mut errors) } else { ("warning", &mut warnings) };
        let title = format!("Paymaster {}", defect.label.to_lowercase());
        let place = report.shown(defect).and_then(|finding| finding.details.place.as_ref());
        list.push(command(level, &title, place, &report.lines(defect)));
    }
    let notice =
        format!("{} · {} · {}", report.verdict, report.counts().line(), report.details.specification);
    let mut text = limited(errors, "error") + &limited(warnings, "warning");
    text.push_str(&command("notice", "Paymaster conformance", None, &[&notice]));
    text
}

/// The commands of a level; the last one counts those that GitHub would not show.
fn limited(mut commands: Vec<String>, level: &str) -> String {
    if commands.len() > MOST {
        let more = words::count((commands.len() + 1 - MOST) as u128, "more annotation");
        commands.truncate(MOST - 1);
        let text = format!("{more} would not be shown: see the summary of this step");
        commands.push(command(level, "Paymaster conformance", None, &[&text]));
    }
    commands.concat()
}

fn command(level: &str, title: &str, place: Option<&ProfilePlace>, lines: &[impl AsRef<str>]) -> String {
    let place =
        place.map_or(String::new(), |place| format!(",file={},line={}", property(&place.path), place.line));
    let lines: Vec<String> = lines.iter().map(|line| data(&escape_controls(line.as_ref()))).collect();
    format!("::{level} title={}{place}::{}\n", property(title), lines.join("%0A"))
}

/// A message. Percent signs and ends of lines have a meaning in a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which also ends at a colon or a comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_run_with_violations() {
        let text = text(&sample::violations().report());
        assert!(!text.contains("s3cr3t-key"), "{text}");
        insta::assert_snapshot!("github_violations", text);
    }

    #[test]
    fn what_could_not_be_tested_is_an_error() {
        let mut sample = sample::violations();
        sample.summary.conclusion = Conclusion::CouldNotTest;
        sample.summary.cut_short = Some("no connection \u{1b}[31m".to_owned());
        let report = sample.report();
        assert!(!report.verdict.contains('\u{1b}'), "{}", report.verdict);
        assert!(text(&report).contains("::error title=Paymaster conformance::no connection"));
        assert!(report.verdict.starts_with("could not test: no connection"), "{}", report.verdict);
    }

    #[test]
    fn every_line_is_a_command_whatever_the_target_answers() {
        let mut sample = sample::violations();
        "x\r\n::error::50% ,: \u{1b}[31m".clone_into(&mut sample.summary.findings[0].violation.actual);
        let text = text(&sample.report());
        assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
        assert!(text.contains("x\\r\\n::error::50%25 ,: \\u{1b}[31m"), "{text}");
        assert_eq!(property("a: 1, 2"), "a%3A 1%2C 2");
    }

    #[test]
    fn the_list_says_how_many_are_left_out() {
        let line = || "::error::x\n".to_owned();
        assert_eq!(limited(vec![line(); 10], "error").lines().count(), 10);
        let long = limited(vec![line(); 14], "error");
        assert_eq!(long.lines().count(), 10);
        assert!(long.contains("5 more annotations would not be shown"), "{long}");
    }

    #[test]
    fn entries_that_are_out_of_date_are_errors() {
        let text = text(&sample::known().report());
        assert!(text.contains("::error title=Paymaster conformance::known failure "), "{text}");
    }
}
