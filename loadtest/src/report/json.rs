//! The report for machines: the summary as it is, to merge and to compare, and beside it the numbers that people look for.

use serde_json::{Map, Value, json};

use crate::{
    compare::Comparison,
    figures::{LabelFigures, histogram::PERCENTILES},
    summary::Summary,
};

pub(super) fn render(summary: &Summary, comparison: Option<&Comparison>) -> Result<String, String> {
    let mut report = serde_json::to_value(summary).map_err(|cause| cause.to_string())?;
    report["derived"] = derived(summary);
    if let Some(comparison) = comparison {
        report["comparison"] = serde_json::to_value(comparison).map_err(|cause| cause.to_string())?;
    }
    Ok(format!("{report:#}\n"))
}

/// What can be computed from the rest; it is not read back.
fn derived(summary: &Summary) -> Value {
    let mut labels = Map::new();
    for (label, figures) in &summary.labels {
        labels.insert(label.clone(), of_label(figures, summary.seconds));
    }
    let reached = |(asked, reached)| json!({ "asked-per-second": asked, "reached-per-second": reached });
    json!({
        "all": of_label(&summary.total(), summary.seconds),
        "labels": labels,
        // Null where the asked rate was reached, and in the closed model.
        "shortfall": summary.shortfall().map(reached),
        "unanswered-arrivals": summary.arrivals.unanswered(),
        "warnings": summary.warnings(),
    })
}

fn of_label(figures: &LabelFigures, seconds: f64) -> Value {
    let mut milliseconds = Map::new();
    let mut put = |name: String, latency: Option<std::time::Duration>| {
        // Microseconds are the resolution, and a JSON number with three decimals says so.
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
    use crate::report::sample;

    #[test]
    fn a_report_can_be_read_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        for summary in [sample::passed(), sample::failed(), sample::nobody()] {
            std::fs::write(&path, render(&summary, None).unwrap()).unwrap();
            let read = Summary::read(&path).unwrap();
            assert_eq!(read.figures(), summary.figures());
            assert_eq!(read.thresholds, summary.thresholds);
            assert_eq!(read.verdict, summary.verdict);
        }
    }

    #[test]
    fn what_is_no_report_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.json");
        for (text, word) in [
            ("{", "no report"),
            ("{}", "no report"),
            ("{\"format\":\"paymaster-loadtest/9\"}", "this version reads"),
            ("{\"format\":\"paymaster-loadtest/2\"}", "missing field"),
        ] {
            std::fs::write(&path, text).unwrap();
            let refusal = Summary::read(&path).unwrap_err().to_string();
            assert!(
                refusal.contains(word) && refusal.contains("other.json"),
                "{refusal}"
            );
        }
        assert!(Summary::read(&folder.path().join("none.json")).is_err());
    }
}
