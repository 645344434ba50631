//! The JSON report: the summary, which `merge` and `compare` read back, with derived numbers and the comparison.

use serde_json::{Map, Value, json};

use super::RenderError;
use crate::{
    figures::{LabelFigures, histogram::PERCENTILES},
    results::{
        compare::RunComparison,
        summary::{RateShortfall, RunSummary},
    },
};

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, RenderError> {
    let mut report = summary.to_json()?;
    report["derived"] = derived(summary);
    if let Some(comparison) = comparison {
        report["comparison"] = serde_json::to_value(comparison)?;
    }
    Ok(format!("{report:#}\n"))
}

/// Numbers that are computed from the summary. They are not read back.
fn derived(summary: &RunSummary) -> Value {
    let mut labels = Map::new();
    for (label, figures) in &summary.figures.labels {
        labels.insert(label.clone(), of_label(figures, summary.seconds));
    }
    let shortfall = |shortfall: RateShortfall| json!({ "asked-per-second": shortfall.requested, "reached-per-second": shortfall.reached });
    json!({
        "all": of_label(&summary.figures.total(None), summary.seconds),
        "labels": labels,
        // Null if the requested rate was reached, and in the closed model.
        "shortfall": summary.shortfall().map(shortfall),
        "unanswered-arrivals": summary.figures.arrivals.unanswered(),
        "warnings": summary.warnings(),
    })
}

fn of_label(figures: &LabelFigures, seconds: f64) -> Value {
    let mut milliseconds = Map::new();
    let mut put = |name: String, latency: Option<std::time::Duration>| {
        // The resolution is 1 us: three decimals.
        let value = latency.map(|latency| json!((latency.as_secs_f64() * 1e6).round() / 1e3));
        milliseconds.insert(name, value.unwrap_or_default());
    };
    put("mean".to_owned(), figures.latency.mean());
    for percent in PERCENTILES {
        put(format!("p{percent}"), figures.latency.percentile(percent));
    }
    put("max".to_owned(), figures.latency.max());
    json!({
        "requests": figures.counts.all(),
        "answers": figures.counts.answered(),
        "answers-per-second": figures.rate(seconds),
        "latency-ms": milliseconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn a_report_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        for summary in [fixtures::passed(), fixtures::failed(), fixtures::unreachable()] {
            std::fs::write(&path, render(&summary, None).unwrap()).unwrap();
            let read = RunSummary::read(&path).unwrap();
            assert_eq!(read.figures, summary.figures);
            assert_eq!(read.thresholds, summary.thresholds);
            assert_eq!(read.verdict, summary.verdict);
        }
    }

    #[test]
    fn an_error_names_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.json");
        for (text, word) in [
            ("{", "not a report"),
            ("{}", "not a report"),
            ("{\"format\":\"paymaster-loadtest/9\"}", "this version reads"),
            ("{\"format\":\"paymaster-loadtest/2\"}", "missing field"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = RunSummary::read(&path).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("other.json"), "{error}");
        }
        assert!(RunSummary::read(&folder.path().join("none.json")).is_err());
    }
}
