//! The plots of the page. Those over time have one time axis, and the slots of the figures by second.

use std::{fmt::Write as _, time::Duration};

use super::plot::{Line, Plot, Scale, step};
use crate::{
    figures::series::{TimeSeries, TimeSlot},
    results::summary::{ModelName, RunSummary},
    text::{duration, rate, seconds},
};

/// The units of the time axis: up to this many seconds, the length of the unit and its name.
const UNITS: [(f64, f64, &str); 3] =
    [(180.0, 1.0, "s"), (10_800.0, 60.0, "min"), (f64::INFINITY, 3_600.0, "h")];

/// The plots.
pub(super) fn write(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let drawn = [
        throughput(summary).figure(),
        users(summary).figure(),
        latency(summary).figure(),
        distribution(summary).figure(),
    ]
    .concat();
    if drawn.is_empty() {
        return Ok(());
    }
    let series = &summary.figures.series;
    writeln!(
        out,
        "<h2>Plots</h2>\n<p class=\"soft\">The time counts from the end of the warm-up; each step is the mean of {}.</p>\n{drawn}",
        seconds(f64::from(series.seconds))
    )
}

/// Arrivals and answers.
fn throughput(summary: &RunSummary) -> Plot<'static> {
    let series = &summary.figures.series;
    let rates = |of: fn(&TimeSlot) -> u64| steps(summary, |slot| series.rate(of(slot)));
    let is_open = summary.model.name == ModelName::Open;
    let mut lines = Vec::new();
    // Reports of earlier versions have no arrivals by second.
    if is_open && series.slots.iter().any(|slot| slot.arrivals > 0) {
        lines.push(Line { name: "arrivals asked for", class: "d", points: rates(|slot| slot.arrivals) });
    }
    lines.push(Line { name: "answers", class: "a", points: rates(|slot| slot.counts.answered()) });
    if summary.figures.total(None).counts.failed() > 0 {
        lines.push(Line { name: "wrong or failed", class: "c", points: rates(|slot| slot.counts.failed()) });
    }
    let has_journeys = summary.figures.labels.keys().any(|label| label.contains('/'));
    Plot {
        title: if is_open { "Arrivals and answers a second" } else { "Answers a second" },
        note: (is_open && has_journeys).then_some("A journey is one arrival and has two answers."),
        lines,
        scale: Scale::Linear(0.0),
        shown: |value| rate(value).replace(".0/s", "/s"),
        x: time_axis(summary),
    }
}

fn users(summary: &RunSummary) -> Plot<'static> {
    let series = &summary.figures.series;
    let is_known = series.slots.iter().any(|slot| slot.user_ms > 0);
    Plot {
        title: "Users",
        note: None,
        lines: vec![Line {
            name: "users, each with a connection",
            class: "b",
            points: if is_known { steps(summary, |slot| series.users(slot)) } else { Vec::new() },
        }],
        scale: Scale::Linear(1.0),
        shown: |value| format!("{value:.0}"),
        x: time_axis(summary),
    }
}

/// Percentiles over time.
fn latency(summary: &RunSummary) -> Plot<'static> {
    let series = &summary.figures.series;
    let percentile = |percent| -> Vec<(f64, f64)> {
        let slots = series.slots.iter().enumerate();
        slots
            .filter_map(|(place, slot)| {
                let latency = slot.percentile(percent)?.as_secs_f64();
                let (from, to) = ends(series, place);
                // The run ends in the last slot.
                Some((f64::midpoint(from, to).min(last(summary)), latency))
            })
            .collect()
    };
    let line = |name, class, percent| Line { name, class, points: percentile(percent) };
    Plot {
        title: "Latency over time",
        note: None,
        lines: vec![line("p50", "d", 50.0), line("p95", "b", 95.0), line("p99", "c", 99.0)],
        scale: Scale::Logarithmic,
        shown: shown_latency,
        x: time_axis(summary),
    }
}

/// Latency by percentile. The x axis counts the nines of the percentage.
fn distribution(summary: &RunSummary) -> Plot<'static> {
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10();
    let classes = summary.figures.total(None).latency.distribution();
    let ticks = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (99.99, "p99.99")];
    Plot {
        title: "Latency by percentile",
        note: None,
        lines: vec![Line {
            name: "all requests",
            class: "a",
            points: classes
                .into_iter()
                .map(|(percent, latency)| (nines(percent), latency.as_secs_f64()))
                .collect(),
        }],
        scale: Scale::Logarithmic,
        shown: shown_latency,
        x: ticks
            .into_iter()
            .map(|(percent, label)| (nines(percent), label.to_owned()))
            .chain([(0.0, String::new())])
            .collect(),
    }
}

/// A line that stays at the value of each slot that lies completely in the run.
fn steps(summary: &RunSummary, value: impl Fn(&TimeSlot) -> f64) -> Vec<(f64, f64)> {
    let series = &summary.figures.series;
    let slots = series.whole(shown_time(summary)).iter().enumerate();
    slots
        .flat_map(|(place, slot)| {
            let ((from, to), value) = (ends(series, place), value(slot));
            [(from, value), (to, value)]
        })
        .collect()
}

/// The seconds at which a slot begins and ends.
fn ends(series: &TimeSeries, place: usize) -> (f64, f64) {
    let at = |place: usize| f64::from(series.seconds) * f64::from(u32::try_from(place).unwrap_or(u32::MAX));
    (at(place), at(place + 1))
}

/// The time of the plots: the measured time, and the outage of a target that stopped answering.
fn shown_time(summary: &RunSummary) -> Duration {
    let series = &summary.figures.series;
    let recorded = Duration::from_secs(series.slots.len() as u64 * u64::from(series.seconds));
    let length = summary.length();
    if summary.stopped_answering { recorded.max(length) } else { length }
}

/// The end of the time axis, in whole seconds.
fn last(summary: &RunSummary) -> f64 {
    shown_time(summary).as_secs_f64().max(1.0).floor()
}

/// The marks of the time axis, the same for every plot over time: seconds and label. The last one has no label if the run does not end
/// at a round time.
fn time_axis(summary: &RunSummary) -> Vec<(f64, String)> {
    let last = last(summary);
    let [.., hours] = UNITS;
    let (_, unit, name) = UNITS.into_iter().find(|(most, ..)| last <= *most).unwrap_or(hours);
    let step = step(last / unit).max(1.0 / unit);
    let marks = (0..=10).map(|n| f64::from(n) * step);
    let marks = marks.take_while(|mark| mark * unit <= last);
    let mut ticks: Vec<(f64, String)> = marks
        .map(|mark| {
            let decimals = usize::from(step.fract() > 1e-9);
            (mark * unit, format!("{mark:.decimals$} {name}"))
        })
        .collect();
    ticks.push((last, String::new()));
    ticks
}

fn shown_latency(value: f64) -> String {
    let latency = duration(Duration::try_from_secs_f64(value).unwrap_or_default());
    // The labels are round numbers, so their decimals are zeros.
    latency.replace(".00", "").replace(".0", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn labels(seconds: f64) -> String {
        let summary = RunSummary { seconds, ..fixtures::passed() };
        let labels: Vec<String> = time_axis(&summary).into_iter().map(|(_, label)| label).collect();
        labels.join("|")
    }

    #[test]
    fn the_time_axis_has_at_most_six_marks_with_a_unit() {
        for (seconds, expected) in [
            (0.4, "0 s|1 s|"),
            (1.0, "0 s|1 s|"),
            (10.003, "0 s|2 s|4 s|6 s|8 s|10 s|"),
            (59.9, "0 s|20 s|40 s|"),
            (180.0, "0 s|50 s|100 s|150 s|"),
            (600.0, "0 min|2 min|4 min|6 min|8 min|10 min|"),
            (3_600.0, "0 min|20 min|40 min|60 min|"),
            (36_000.0, "0 h|2 h|4 h|6 h|8 h|10 h|"),
        ] {
            assert_eq!(labels(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn plots_over_time_have_the_same_axis_and_slots() {
        let mut summary = fixtures::failed();
        summary.model.name = ModelName::Open;
        for slot in &mut summary.figures.series.slots {
            slot.arrivals = 120;
        }
        let [throughput, users, latency] = [throughput(&summary), users(&summary), latency(&summary)];
        assert_eq!(throughput.x, users.x);
        assert_eq!(throughput.x, latency.x);
        let names: Vec<_> = throughput.lines.iter().map(|line| line.name).collect();
        assert_eq!(names, ["arrivals asked for", "answers", "wrong or failed"]);
        let times = |line: &Line<'_>| -> Vec<u64> { line.points.iter().map(|(x, _)| x.to_bits()).collect() };
        for line in throughput.lines.iter().chain(&users.lines) {
            assert_eq!(times(line), times(&users.lines[0]), "{}", line.name);
        }
        assert!(throughput.lines[0].points.iter().all(|(_, rate)| (rate - 120.0).abs() < 1e-9));
        assert!(users.lines[0].points.iter().all(|(_, users)| (users - 10.0).abs() < 1e-9));
    }

    #[test]
    fn a_report_of_an_earlier_version_has_neither_users_nor_arrivals() {
        let mut summary = fixtures::passed();
        summary.model.name = ModelName::Open;
        for slot in &mut summary.figures.series.slots {
            slot.user_ms = 0;
        }
        assert_eq!(users(&summary).figure(), "");
        assert_eq!(throughput(&summary).lines.len(), 1);
    }
}
