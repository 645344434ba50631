//! The JUnit report: one test case for each threshold. A missed threshold is a failure; if the target could not be tested, each is an
//! error.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use paymaster_settings::escape_controls;

use super::{phrases::verdict, wrong::groups};
use crate::figures::{Example, WrongAnswers};
use crate::results::{Change, RunComparison, RunSummary, RunVerdict};
use crate::text::moment;

pub(super) fn render(summary: &RunSummary, comparison: Option<&RunComparison>) -> String {
    let mut suite = TestSuite::new("paymaster-loadtest");
    suite.set_time(summary.length());
    // A suite has no place for its verdict but its output.
    let mut lines = vec![verdict(summary), summary.command.clone()];
    lines.extend(summary.warnings());
    suite.set_system_out(escaped_lines(&lines.join("\n")));
    if let Some(began) = moment(summary.began) {
        suite.set_timestamp(began);
    }
    let untested = summary.verdict == RunVerdict::CouldNotTest;
    let thresholds = summary.thresholds.iter().map(|judged| {
        let status = if untested {
            non_success(NonSuccessKind::Error, "could not test", summary.cut_short.as_deref())
        } else if judged.met {
            TestCaseStatus::success()
        } else {
            let groups = groups(&summary.figures.wrong);
            let answers = summary.figures.total(None).judged;
            let kinds =
                groups.iter().flat_map(|group| group.examples().iter().map(move |kind| (group, kind)));
            let examples = kinds.map(|(group, WrongAnswers { key, example, .. })| {
                let Example { expected, actual, .. } = example;
                format!("{}; in {}: {expected}, got {actual}", group.headline(answers), key.label)
            });
            let examples = examples.collect::<Vec<_>>().join("\n");
            // In an incomplete run, a threshold was missed because of the generator or an interrupt.
            let kind = if summary.verdict == RunVerdict::Incomplete {
                NonSuccessKind::Error
            } else {
                NonSuccessKind::Failure
            };
            non_success(kind, &judged.observed, Some(&examples))
        };
        ("thresholds", judged.threshold.to_string(), status)
    });
    let rows = comparison.into_iter().flat_map(|comparison| &comparison.rows).map(|row| {
        let message = format!("{} -> {} {}", row.before, row.after, row.note);
        let status = match row.direction {
            Change::Worse => non_success(NonSuccessKind::Failure, &message, None),
            Change::Unclear => TestCaseStatus::skipped(),
            Change::Same | Change::Better => TestCaseStatus::success(),
        };
        ("comparison", row.name.clone(), status)
    });
    for (class, name, status) in thresholds.chain(rows) {
        let mut case = TestCase::new(name, status);
        case.set_classname(class);
        suite.add_test_case(case);
    }
    let mut report = Report::new("paymaster-loadtest");
    report.add_test_suite(suite);
    // Writing into memory does not fail.
    report.to_string().unwrap_or_else(|cause| format!("<!-- {cause} -->\n"))
}

fn non_success(kind: NonSuccessKind, message: &str, text: Option<&str>) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(escape_controls(message));
    if let Some(text) = text {
        status.set_description(escaped_lines(text));
    }
    status
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(escape_controls).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{figures::ArrivalCounts, report::fixtures, results::judge_all};

    #[test]
    fn the_verdict_in_words_the_command_and_the_date_are_in_the_suite() {
        let xml = render(&fixtures::passed(), None);
        for part in [
            "PASSED: every answer was right",
            "paymaster-loadtest 'http://127.0.0.1:3000/***'",
            "timestamp=\"2026-03-01T12:00:00",
        ] {
            assert!(xml.replace("&apos;", "'").contains(part), "{part}: {xml}");
        }
        let xml = render(&fixtures::failed(), None);
        assert!(xml.contains("FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed"), "{xml}");
        assert!(xml.contains("name=\"error-rate&lt;1%\""), "{xml}");
        assert_eq!(xml.matches("fee-quote.maxGasFee in ").count(), 3 * 2, "{xml}");
        assert_eq!(xml.matches(": 40 answers (").count(), 3 * 2, "{xml}");
    }

    #[test]
    fn a_threshold_that_the_generator_missed_is_an_error() {
        let mut summary = fixtures::passed();
        summary.figures.arrivals = ArrivalCounts {
            due: 1_000,
            seconds: 10.0,
            late: 1_000,
            delayed: 1_000,
            last_begun: 20.0,
            ..ArrivalCounts::default()
        };
        let results = judge_all(&[], &summary.figures, summary.length());
        let xml = render(&summary.judged(results), None);
        assert_eq!(xml.matches("<failure").count(), 0, "{xml}");
        assert_eq!(xml.matches("<error").count(), 1, "{xml}");
    }

    #[test]
    fn a_missed_threshold_is_a_failure_and_an_untested_one_an_error() {
        for (summary, failures, errors) in [
            (fixtures::passed(), 0, false),
            (fixtures::failed(), 2, false),
            (fixtures::unreachable(), 0, true),
            (fixtures::not_begun(), 0, true),
        ] {
            let xml = render(&summary, None);
            assert_eq!(xml.matches("<failure").count(), failures, "{xml}");
            assert_eq!(xml.contains("<error"), errors, "{xml}");
        }
    }
}
