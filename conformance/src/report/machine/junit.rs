//! JUnit XML: one test case for each rule. Violation = failure, could not test = error, not exercised = skipped.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};

use crate::report::{Defect, Finding, JudgedRule, KnownFailure, Report, words};
use paymaster_engine::verdict::{Conclusion, EntryState, Verdict};
use paymaster_settings::escape_controls;

/// The report as XML.
pub(crate) fn xml(report: &Report) -> String {
    let mut suite = TestSuite::new(format!("paymaster-conformance {}", report.target));
    suite.set_time(report.details.took);
    suite.add_property(("verdict", report.verdict.as_str()));
    suite.add_property(("specification", report.details.specification.as_str()));
    for warning in &report.warnings {
        suite.add_property(("warning", warning.as_str()));
    }
    for rule in &report.rules {
        suite.add_test_case(case(rule, report));
    }
    // An unexpectedly passing entry shows in the case of its rule.
    let (stale, _) = report.stale_and_known();
    for known in stale.into_iter().filter(|known| known.state != EntryState::UnexpectedlyPassing) {
        suite.add_test_case(stale_entry(known));
    }
    let mut whole = quick_junit::Report::new("paymaster-conformance");
    whole.set_time(report.details.took);
    whole.add_test_suite(suite);
    // Writing into memory does not fail.
    whole.to_string().unwrap_or_else(|cause| format!("<!-- {cause} -->\n"))
}

fn case(rule: &JudgedRule, report: &Report) -> TestCase {
    let mut case = TestCase::new(rule.id.as_str(), status(rule, report));
    case.set_classname(format!("section {}", rule.section));
    case.add_property(("basis", rule.basis.as_str()));
    case.add_property(("clause", rule.clause.as_str()));
    case.add_property(("held", rule.held.to_string().as_str()));
    case.add_property(("broken", rule.broken.to_string().as_str()));
    case
}

fn status(rule: &JudgedRule, report: &Report) -> TestCaseStatus {
    let untested = report.conclusion == Conclusion::CouldNotTest && !rule.verdict.is_broken();
    if untested && rule.verdict != Verdict::Passed {
        let cause = report.cut_short.as_deref().unwrap_or("could not test");
        let error = TestCaseStatus::non_success(NonSuccessKind::Error);
        return with_message(error, cause, "could-not-test");
    }
    let kind = rule.verdict.into_str();
    let reason = || format!("{}: {}", rule.verdict, rule.reason.as_deref().unwrap_or_default());
    match rule.verdict {
        Verdict::Passed => TestCaseStatus::success(),
        Verdict::Inconclusive | Verdict::NotApplicable | Verdict::KnownFailing | Verdict::Covered => {
            with_message(TestCaseStatus::skipped(), &reason(), kind)
        }
        Verdict::UnexpectedlyPassing => with_message(failure(), &reason(), kind),
        Verdict::Failed | Verdict::Flaky => {
            let fails = report.fails(rule);
            // JUnit has no warnings, and a failure would mark a run as failed that exits with 0.
            let status = if fails { failure() } else { TestCaseStatus::skipped() };
            let own = || report.defects.iter().filter(|defect| defect.rules.contains(&rule.id));
            let findings = describe(rule, report);
            let message =
                own().next().map_or_else(|| findings.lines().next().unwrap_or_default().to_owned(), sentence);
            let defects_text: String = own().map(|defect| whole(defect, report)).collect();
            let kind = if fails { kind } else { "warning" };
            let message = if fails { message } else { format!("warning: {message}") };
            let text = XmlString::new(defects_text + &findings).into_string();
            let mut status = with_message(status, &message, kind);
            status.set_description(text);
            status
        }
    }
}

/// Headline and cause of a defect.
fn sentence(defect: &Defect) -> String {
    match &defect.cause_in_words {
        Some(cause) => format!("{}; cause: {cause}", defect.headline),
        None => defect.headline.clone(),
    }
}

/// A defect with all rules that it breaks.
fn whole(defect: &Defect, report: &Report) -> String {
    let lines = report.lines(defect).into_iter().map(|line| escape_controls(&line) + "\n");
    format!("{}: {}", defect.label, lines.collect::<Vec<_>>().concat())
}

/// The case of an out-of-date entry of the list of known failures.
fn stale_entry(known: &KnownFailure) -> TestCase {
    let status = with_message(failure(), &known.advice, known.state.into_str());
    let mut case = TestCase::new(format!("known failure: {}", known.scope), status);
    case.set_classname("known failures");
    case
}

fn failure() -> TestCaseStatus {
    TestCaseStatus::non_success(NonSuccessKind::Failure)
}

fn with_message(mut status: TestCaseStatus, message: &str, kind: &str) -> TestCaseStatus {
    status.set_message(escape_controls(message)).set_type(kind);
    status
}

fn describe(rule: &JudgedRule, report: &Report) -> String {
    let mut text = String::new();
    for finding in report.findings.iter().filter(|finding| finding.rule == rule.id) {
        let Finding { expected, actual, pointer, .. } = finding;
        let call = finding.details.call.as_deref().unwrap_or("any");
        let reproduced = words::reproduced(finding);
        let line = format!("expected {expected}, got {actual} at `{pointer}` ({call}, {reproduced})");
        let lines = [Some(escape_controls(&line)), finding.curl.clone(), finding.details.replay.clone()];
        text.extend(lines.into_iter().flatten().map(|line| line + "\n"));
    }
    XmlString::new(text).into_string()
}

#[cfg(test)]
mod tests {
    use super::xml;
    use crate::report::sample;

    #[test]
    fn violations_fail_warnings_and_the_untested_are_skipped() {
        let text = xml(&sample::violations().report());
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("junit_violations", text);
    }

    #[test]
    fn known_failures_are_skipped_and_stale_entries_fail() {
        let text = xml(&sample::known().report());
        insta::assert_snapshot!("junit_known", text);
    }

    #[test]
    fn what_could_not_be_tested_is_an_error() {
        let text = xml(&sample::unanswered().report());
        assert_eq!(text.matches("<error ").count(), 5);
        assert_eq!(text.matches("<failure").count(), 0);
    }
}
