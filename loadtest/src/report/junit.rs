//! The JUnit report: one test case for each threshold. A missed threshold is a failure; if the target could not be tested, each is an
//! error.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use paymaster_cli::terminal::escape_controls;

use super::RenderError;
use crate::results::{
    compare::{Change, RunComparison},
    summary::{RunSummary, RunVerdict},
};

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, RenderError> {
    let mut suite = TestSuite::new("paymaster-loadtest");
    suite.set_time(summary.length());
    let untested = summary.verdict == RunVerdict::CouldNotTest;
    for judged in &summary.thresholds {
        let status = if untested {
            non_success(
                NonSuccessKind::Error,
                "could not test",
                summary.cut_short.as_deref(),
            )
        } else if judged.met {
            TestCaseStatus::success()
        } else {
            let examples: Vec<_> = summary
                .figures
                .wrong
                .iter()
                .map(|wrong| {
                    format!(
                        "{} in {}: {}, got {}",
                        wrong.key.rule, wrong.key.label, wrong.example.expected, wrong.example.actual
                    )
                })
                .collect();
            non_success(
                NonSuccessKind::Failure,
                &judged.observed,
                Some(&examples.join("\n")),
            )
        };
        let mut case = TestCase::new(judged.threshold.to_string(), status);
        case.set_classname("thresholds");
        suite.add_test_case(case);
    }
    for row in comparison.into_iter().flat_map(|comparison| &comparison.rows) {
        let message = format!("{} -> {} {}", row.before, row.after, row.note);
        let status = match row.direction {
            Change::Worse => non_success(NonSuccessKind::Failure, &message, None),
            Change::Unclear => TestCaseStatus::skipped(),
            Change::Same | Change::Better => TestCaseStatus::success(),
        };
        let mut case = TestCase::new(row.name.clone(), status);
        case.set_classname("comparison");
        suite.add_test_case(case);
    }
    let mut report = Report::new("paymaster-loadtest");
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn non_success(kind: NonSuccessKind, message: &str, text: Option<&str>) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(escape_controls(message));
    if let Some(text) = text {
        status.set_description(text.lines().map(escape_controls).collect::<Vec<_>>().join("\n"));
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn a_missed_threshold_is_a_failure_and_an_untested_one_an_error() {
        for (summary, failures, errors) in [
            (fixtures::passed(), 0, false),
            (fixtures::failed(), 2, false),
            (fixtures::unreachable(), 0, true),
        ] {
            let xml = render(&summary, None).unwrap();
            assert_eq!(xml.matches("<failure").count(), failures, "{xml}");
            assert_eq!(xml.contains("<error"), errors, "{xml}");
        }
    }
}
