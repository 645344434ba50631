//! The JSON report: the summary, which `merge` and `compare` read back, with derived numbers and the comparison.

use std::time::Duration;

use chrono::SecondsFormat;
use serde_json::{Map, Value, json};

use crate::figures::{LabelFigures, PERCENTILES};
use crate::results::{RateShortfall, RunComparison, RunSummary};
use crate::text::moment;

pub(super) fn render(summary: &RunSummary, comparison: Option<&RunComparison>) -> String {
    let mut report = json!(summary);
    report["derived"] = derived(summary);
    if let Some(comparison) = comparison {
        report["comparison"] = json!(comparison);
    }
    // A long run has hundreds of slots with a hundred latency classes each: one slot a line, so that the report stays small.
    let series = report["series"].take();
    let slots = series["slots"].as_array().into_iter().flatten();
    let lines: Vec<String> = slots.map(|slot| format!("      {slot}")).collect();
    let series = format!(
        "{{\n    \"seconds\": {},\n    \"slots\": [\n{}\n    ]\n  }}",
        series["seconds"],
        lines.join(",\n")
    );
    // No string in JSON has a line break: this is the member and nothing else.
    let place = "\n  \"series\": null";
    let text = format!("{report:#}\n");
    text.replacen(place, &format!("\n  \"series\": {series}"), 1)
}

/// Numbers that are computed from the summary. They are not read back.
fn derived(summary: &RunSummary) -> Value {
    let labels = summary.figures.labels.iter();
    let labels: Map<_, _> =
        labels.map(|(label, figures)| (label.clone(), of_label(figures, summary.seconds))).collect();
    let shortfall = |shortfall: RateShortfall| json!({ "asked-per-second": shortfall.requested, "reached-per-second": shortfall.reached, "generator-was-slow": shortfall.by_generator });
    json!({
        // When the run began, as RFC 3339 has it.
        "began": moment(summary.began).map(|began| began.to_rfc3339_opts(SecondsFormat::Secs, true)),
        "all": of_label(&summary.figures.total(None), summary.seconds),
        "labels": labels,
        // Null if the requested rate was reached, and in the closed model.
        "shortfall": summary.shortfall().map(shortfall),
        "unanswered-arrivals": summary.figures.arrivals.unanswered(),
        "warnings": summary.warnings(),
    })
}

fn of_label(figures: &LabelFigures, seconds: f64) -> Value {
    let latencies = [("mean".to_owned(), figures.latency.mean())].into_iter();
    let percentiles = PERCENTILES.map(|percent| (format!("p{percent}"), figures.latency.percentile(percent)));
    let latencies = latencies.chain(percentiles).chain([("max".to_owned(), figures.latency.max())]);
    // The resolution is 1 us: three decimals.
    let rounded = |latency: Duration| (latency.as_secs_f64() * 1e6).round() / 1e3;
    let milliseconds: Map<_, _> =
        latencies.map(|(name, latency)| (name, json!(latency.map(rounded)))).collect();
    json!({
        "requests": figures.counts.all(),
        "answers": figures.counts.answered(),
        "answers-per-second": figures.rate(seconds),
        "latency-ms": milliseconds,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        figures::{Example, Outcome, Sample},
        report::fixtures,
    };

    #[test]
    fn a_report_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        for summary in fixtures::all() {
            std::fs::write(&path, render(&summary, None)).unwrap();
            let read = RunSummary::read(&path).unwrap();
            assert_eq!(read.figures, summary.figures);
            assert_eq!(read.thresholds, summary.thresholds);
            assert_eq!(read.verdict, summary.verdict);
        }
    }

    /// An hour with 7 labels and latencies over three decades, wrong answers and failures of 64 kinds.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn the_report_of_an_hour_is_smaller_than_a_megabyte() {
        let mut summary = fixtures::failed();
        let wrong = summary.figures.wrong[0].clone();
        for kind in 0..60 {
            let mut key = wrong.key.clone();
            key.pointer = format!("/result/feeQuotes/*/member{kind}");
            summary.figures.add_wrong(key, || Example {
                request: "r".repeat(1_000),
                response: "a".repeat(1_000),
                ..wrong.example.clone()
            });
            crate::figures::count(&mut summary.figures.failures, format!("failure {kind}"), 1);
        }
        for n in 0..720_000_u64 {
            // A fixed scatter over 0.2 ms to 200 ms.
            let scatter = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as f64 / f64::from(1 << 20);
            summary.figures.record(&Sample {
                label: ["a", "b", "c", "d", "e", "journey/quote", "journey/sponsor"][(n % 7) as usize],
                at: Some(Duration::from_millis(n * 5)),
                latency: Duration::from_secs_f64(2e-4 * 1_000_f64.powf(scatter)),
                outcome: Outcome::Good,
                judged: true,
            });
        }
        summary.figures.series.cover(Duration::from_hours(1));
        summary.seconds = 3_600.0;
        let classes: usize = summary.figures.series.slots.iter().map(|slot| slot.classes.len()).sum();
        let slots = summary.figures.series.slots.len();
        assert!(slots >= 450 && classes > 140 * slots, "{slots} {classes}");
        let text = render(&summary, None);
        assert!(text.len() < 1_000_000, "{}", text.len());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hour.json");
        std::fs::write(&path, text).unwrap();
        assert_eq!(RunSummary::read(&path).unwrap().figures, summary.figures);
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
