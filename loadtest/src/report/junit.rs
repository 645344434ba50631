//! JUnit: one test case a threshold. A missed one is a failure; of a run that could not test anything, each is an error.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use paymaster_cli::terminal::harmless;

use crate::{
    compare::{Comparison, Direction},
    summary::{Summary, Verdict},
};

pub(super) fn render(summary: &Summary, comparison: Option<&Comparison>) -> Result<String, String> {
    let mut suite = TestSuite::new("paymaster-loadtest");
    suite.set_time(summary.length());
    let could_not = summary.verdict == Verdict::CouldNotTest;
    for judged in &summary.thresholds {
        let status = if could_not {
            failing(
                NonSuccessKind::Error,
                "could not test",
                summary.cut_short.as_deref(),
            )
        } else if judged.met {
            TestCaseStatus::success()
        } else {
            let examples: Vec<_> = summary
                .wrong
                .iter()
                .map(|wrong| {
                    format!(
                        "{} in {}: {}, got {}",
                        wrong.key.rule, wrong.key.label, wrong.example.expected, wrong.example.actual
                    )
                })
                .collect();
            failing(
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
        let words = format!("{} -> {} {}", row.before, row.after, row.note);
        let status = match row.direction {
            Direction::Worse => failing(NonSuccessKind::Failure, &words, None),
            Direction::Unclear => TestCaseStatus::skipped(),
            Direction::Same | Direction::Better => TestCaseStatus::success(),
        };
        let mut case = TestCase::new(row.name.clone(), status);
        case.set_classname("comparison");
        suite.add_test_case(case);
    }
    let mut report = Report::new("paymaster-loadtest");
    report.add_test_suite(suite);
    report.to_string().map_err(|cause| cause.to_string())
}

fn failing(kind: NonSuccessKind, message: &str, text: Option<&str>) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(harmless(message));
    if let Some(text) = text {
        status.set_description(text.lines().map(harmless).collect::<Vec<_>>().join("\n"));
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn missed_is_a_failure_and_untested_an_error() {
        for (summary, failures, errors) in [
            (sample::passed(), 0, false),
            (sample::failed(), 2, false),
            (sample::nobody(), 0, true),
        ] {
            let xml = render(&summary, None).unwrap();
            assert_eq!(xml.matches("<failure").count(), failures, "{xml}");
            assert_eq!(xml.contains("<error"), errors, "{xml}");
        }
    }
}
