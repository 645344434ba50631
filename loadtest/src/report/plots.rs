//! The plots of the page. Those over time have one time axis, and the slots of the figures by second.

use std::time::Duration;

use maud::{Markup, html};

use super::plot::{Plot, Sample, Scale, ends, step};
use crate::figures::{TimeSeries, TimeSlot};
use crate::number::float;
use crate::results::{ModelName, RunSummary};
use crate::text::{rate, seconds, time};

/// The units of the time axis: up to this many seconds, the length of the unit and its name.
const UNITS: [(f64, f64, &str); 3] =
    [(180.0, 1.0, "s"), (10_800.0, 60.0, "min"), (f64::INFINITY, 3_600.0, "h")];

/// The users are constant if the fewest are this part of the most: the first ones need a moment to start.
const CONSTANT: f64 = 0.95;

/// The name of a line, and its value in a slot; none where nothing was measured.
type Line = (&'static str, fn(&TimeSeries, &TimeSlot) -> Option<f64>);

/// The plots.
pub(super) fn section(summary: &RunSummary) -> Markup {
    let plots = [throughput(summary), users(summary), latency(summary), distribution(summary)];
    let drawn: Vec<Markup> = plots.iter().map(Plot::figure).filter(|plot| !plot.0.is_empty()).collect();
    let step = seconds(f64::from(summary.figures.series.seconds));
    html! {
        @if !drawn.is_empty() {
            section #plots {
                h2 { "Plots" }
                @if summary.figures.warm_up.all() > 0 { p { "The time counts from the end of the warm-up." } }
                p { "Each step is the mean of " (step) ". Point at a plot, or move along it with the arrow keys, to read its values." }
                @for plot in drawn { (plot) }
            }
        }
    }
}

/// Answers and arrivals.
fn throughput(summary: &RunSummary) -> Plot {
    let series = &summary.figures.series;
    let is_open = summary.model.name == ModelName::Open;
    let mut lines: Vec<Line> = vec![("answers", |series, slot| Some(series.rate(slot.counts.answered())))];
    if is_open {
        lines.push(("arrivals asked for", |series, slot| Some(series.rate(slot.arrivals))));
    }
    if summary.figures.total(None).counts.wrong_or_failed() > 0 {
        lines.push(("wrong or failed", |series, slot| Some(series.rate(slot.counts.wrong_or_failed()))));
    }
    let has_journeys = summary.figures.labels.keys().any(|label| label.contains('/'));
    Plot {
        title: if is_open { "Arrivals and answers a second" } else { "Answers a second" },
        note: (is_open && has_journeys).then_some("A journey is one arrival and has two answers."),
        shown: rate,
        ..over_time(summary, series.whole(shown_time(summary)), &lines)
    }
}

/// The users, if their number changes: a constant one is stated with the load.
fn users(summary: &RunSummary) -> Plot {
    let series = &summary.figures.series;
    let slots = series.whole(shown_time(summary));
    let (low, high) = ends(slots.iter().map(|slot| series.users(slot)));
    let lines: &[Line] = &[("users, each with a connection", |series, slot| Some(series.users(slot)))];
    Plot {
        title: "Users",
        scale: Scale::Linear(1.0),
        shown: |value| format!("{value:.1}").replace(".0", ""),
        ..over_time(summary, slots, if low < CONSTANT * high { lines } else { &[] })
    }
}

/// Percentiles over time.
fn latency(summary: &RunSummary) -> Plot {
    let lines: [Line; 3] = [
        ("p50", |_, slot| Some(slot.percentile(50.0)?.as_secs_f64())),
        ("p95", |_, slot| Some(slot.percentile(95.0)?.as_secs_f64())),
        ("p99", |_, slot| Some(slot.percentile(99.0)?.as_secs_f64())),
    ];
    Plot {
        title: "Latency over time",
        is_stepped: false,
        scale: Scale::Logarithmic,
        shown: time,
        // The run ends in the last slot.
        ..over_time(summary, &summary.figures.series.slots, &lines)
    }
}

/// Latency by percentile. The x axis counts the nines of the percentage.
fn distribution(summary: &RunSummary) -> Plot {
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10();
    let classes = summary.figures.total(None).latency.distribution();
    let ticks = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (99.99, "p99.99")];
    let ticks = ticks.into_iter().map(|(percent, label)| (nines(percent), label.to_owned()));
    Plot {
        title: "Latency by percentile",
        note: None,
        place: "percentile",
        lines: vec!["all requests"],
        samples: classes
            .into_iter()
            .map(|(percent, latency)| Sample {
                from: nines(percent),
                to: nines(percent),
                is_cut: false,
                name: format!("p{percent:.3}"),
                values: vec![Some(latency.as_secs_f64())],
            })
            .collect(),
        is_stepped: false,
        scale: Scale::Logarithmic,
        shown: time,
        x: ticks.chain([(0.0, String::new())]).collect(),
    }
}

/// A plot with a sample for each of these slots, without a title.
fn over_time(summary: &RunSummary, slots: &[TimeSlot], lines: &[Line]) -> Plot {
    let series = &summary.figures.series;
    let (each, last) = (f64::from(series.seconds), last(summary));
    let length = shown_time(summary).as_secs_f64();
    let at = |place: usize| (each * float(place as u64)).min(last);
    let slots = slots.iter().enumerate();
    Plot {
        title: "",
        note: None,
        place: "time",
        lines: lines.iter().map(|(name, _)| *name).collect(),
        samples: slots
            .map(|(place, slot)| Sample {
                from: at(place),
                to: at(place + 1),
                is_cut: length < each * (float(place as u64) + 0.5),
                name: seconds(at(place)),
                values: lines.iter().map(|(_, value)| value(series, slot)).collect(),
            })
            .collect(),
        is_stepped: true,
        scale: Scale::Linear(0.0),
        shown: rate,
        x: time_axis(summary),
    }
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
        assert_eq!(users(&summary).figure().0, "", "their number is constant");
        for (place, slot) in summary.figures.series.slots.iter_mut().enumerate() {
            slot.arrivals = 120;
            slot.user_ms = 1_000 * (place as u64 + 1);
        }
        let [throughput, users, latency] = [throughput(&summary), users(&summary), latency(&summary)];
        assert_eq!(throughput.x, users.x);
        assert_eq!(throughput.x, latency.x);
        assert_eq!(throughput.lines, ["answers", "arrivals asked for", "wrong or failed"]);
        let names = |plot: &Plot| plot.samples.iter().map(|sample| sample.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&throughput), names(&users));
        assert!(names(&latency).starts_with(&names(&throughput)));
        let values = |plot: &Plot, line: usize| -> Vec<f64> {
            plot.samples.iter().map(|sample| sample.values[line].unwrap().round()).collect()
        };
        assert_eq!(values(&throughput, 1), [120.0; 10]);
        assert_eq!(values(&users, 0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    }

    #[test]
    fn a_last_step_of_less_than_its_half_is_in_the_table_alone() {
        let mut summary = fixtures::passed();
        summary.figures.series.record(
            Duration::from_secs(10),
            crate::figures::Outcome::Good,
            Duration::from_micros(1),
        );
        for (seconds, points) in [(10.4, 10), (10.6, 11)] {
            summary.seconds = seconds;
            let figure = latency(&summary).figure().0;
            let line = figure.split(" points=\"").nth(1).unwrap().split('"').next().unwrap();
            assert_eq!(line.split(' ').count(), points, "{seconds}: {figure}");
            assert_eq!(figure.matches("<tr data-at").count(), 11, "{seconds}: {figure}");
        }
    }
}
