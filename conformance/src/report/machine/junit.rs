//! JUnit XML: one test case for each rule. Violation = failure, could not test = error, not exercised = skipped.

use std::io;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use crate::report::{
    Finished,
    text::{
        curl,
        defects::{self, ShownDefect},
        words,
    },
};
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    known::{EntryOutcome, EntryState},
    strictness::fails_the_run,
    summary::RuleOutcome,
};

/// The report as XML.
pub(crate) fn xml(finished: &Finished<'_>) -> io::Result<String> {
    let summary = finished.summary;
    let mut suite = TestSuite::new(format!("paymaster-conformance {}", finished.place.shown));
    suite.set_time(summary.took);
    suite.add_property(("verdict", finished.verdict().sentence().as_str()));
    suite.add_property(("specification", finished.context.specification().line().as_str()));
    for warning in finished.warnings() {
        suite.add_property(("warning", warning.as_str()));
    }
    let defects = defects::shown(finished);
    for outcome in &summary.rules {
        suite.add_test_case(case(outcome, &defects, finished));
    }
    // An unexpectedly passing entry shows in the case of its rule.
    let has_own_case =
        |known: &&EntryOutcome| known.state.fails_the_run() && known.state != EntryState::UnexpectedlyPassing;
    for known in summary.known.iter().filter(has_own_case) {
        suite.add_test_case(stale(known, finished));
    }
    let mut report = Report::new("paymaster-conformance");
    report.set_time(summary.took);
    report.add_test_suite(suite);
    report.to_string().map_err(io::Error::other)
}

fn case(outcome: &RuleOutcome, defects: &[ShownDefect<'_>], finished: &Finished<'_>) -> TestCase {
    let clause = outcome.rule.clause();
    let mut case = TestCase::new(outcome.rule.id, status(outcome, defects, finished));
    case.set_classname(format!("section {}", clause.section));
    case.add_property(("basis", clause.basis.name()));
    case.add_property(("clause", clause.id));
    case.add_property(("held", outcome.held.to_string().as_str()));
    case.add_property(("broken", outcome.broken.to_string().as_str()));
    case
}

fn status(outcome: &RuleOutcome, defects: &[ShownDefect<'_>], finished: &Finished<'_>) -> TestCaseStatus {
    let summary = finished.summary;
    let untested = summary.conclusion == Conclusion::CouldNotTest && !outcome.verdict.is_broken();
    if untested && outcome.verdict != Verdict::Passed {
        let cause = summary.cut_short.as_deref().unwrap_or("could not test");
        let error = TestCaseStatus::non_success(NonSuccessKind::Error);
        return with_message(error, &finished.safe(cause), "could-not-test");
    }
    match outcome.verdict {
        Verdict::Passed => TestCaseStatus::success(),
        Verdict::Inconclusive | Verdict::NotApplicable | Verdict::KnownFailing | Verdict::Covered => {
            skipped(outcome, finished)
        }
        Verdict::UnexpectedlyPassing => {
            let reason = outcome.reason.as_deref().unwrap_or_default();
            with_message(failure(), &format!("{}: {reason}", outcome.verdict), outcome.verdict.name())
        }
        Verdict::Failed | Verdict::Flaky => {
            let fails = fails_the_run(outcome.rule.basis(), finished.strictness.strict);
            // JUnit has no warnings, and a failure would mark a run as failed that exits with 0.
            let status = if fails { failure() } else { TestCaseStatus::skipped() };
            let own = || defects.iter().filter(|defect| defect.breaks(outcome.rule));
            let findings = describe(outcome, finished);
            let message =
                own().next().map_or_else(|| findings.lines().next().unwrap_or_default().to_owned(), sentence);
            let defects_text: String = own().map(|defect| whole(defect, defects.len())).collect();
            let kind = if fails { outcome.verdict.name() } else { "warning" };
            let message = if fails { message } else { format!("warning: {message}") };
            let text = XmlString::new(defects_text + &findings).into_string();
            let mut status = with_message(status, &message, kind);
            status.set_description(text);
            status
        }
    }
}

/// Headline and cause of a defect.
fn sentence(defect: &ShownDefect<'_>) -> String {
    match &defect.cause {
        Some(cause) => format!("{}; cause: {cause}", defect.headline),
        None => defect.headline.clone(),
    }
}

/// A defect with all rules that it breaks.
fn whole(defect: &ShownDefect<'_>, of: usize) -> String {
    let head = format!("defect {} of {of}: {}\n", defect.number, defect.headline);
    let cause = defect.cause.as_ref().map_or(String::new(), |cause| format!("cause: {cause}\n"));
    format!("{head}{cause}{}: {}\n", defect.extent(), defect.rule_ids())
}

/// The case of an out-of-date entry of the list of known failures.
fn stale(known: &EntryOutcome, finished: &Finished<'_>) -> TestCase {
    let advice = finished.safe(&words::known_advice(known));
    let status = with_message(failure(), &advice, known.state.name());
    let mut case = TestCase::new(format!("known failure: {}", known.entry.scope()), status);
    case.set_classname("known failures");
    case
}

fn skipped(outcome: &RuleOutcome, finished: &Finished<'_>) -> TestCaseStatus {
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let message = finished.safe(&format!("{}: {reason}", outcome.verdict));
    with_message(TestCaseStatus::skipped(), &message, outcome.verdict.name())
}

fn failure() -> TestCaseStatus {
    TestCaseStatus::non_success(NonSuccessKind::Failure)
}

fn with_message(mut status: TestCaseStatus, message: &str, kind: &str) -> TestCaseStatus {
    status.set_message(message).set_type(kind);
    status
}

fn describe(outcome: &RuleOutcome, finished: &Finished<'_>) -> String {
    let mut text = String::new();
    let findings = finished.summary.findings.iter().enumerate();
    for (number, finding) in findings.filter(|(_, finding)| finding.rule.id == outcome.rule.id) {
        let violation = &finding.violation;
        let pair = finding.pair.map_or("any", |pair| pair.name);
        let line = format!(
            "expected {}, got {} at `{}` ({pair}, {})",
            violation.expected,
            violation.actual,
            violation.pointer,
            words::reproduced(finding)
        );
        let broken = finding.group.members.get(violation.member);
        let curl = broken.and_then(|member| curl::line(finished.place, member));
        let lines = [Some(finished.safe(&line)), curl, finished.replay_line(number)];
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
        let text = xml(&sample::violations().finished()).unwrap();
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("junit_violations", text);
    }

    #[test]
    fn known_failures_are_skipped_and_stale_entries_fail() {
        let text = xml(&sample::known().finished()).unwrap();
        insta::assert_snapshot!("junit_known", text);
    }

    #[test]
    fn what_could_not_be_tested_is_an_error() {
        let text = xml(&sample::unanswered().finished()).unwrap();
        assert_eq!(text.matches("<error ").count(), 5);
        assert_eq!(text.matches("<failure").count(), 0);
    }
}
