//! Compares a run with an earlier run, with respect to their noise.
//!
//! The baselines of goose do not estimate noise, so any two runs differ. Here every second of a run is a measurement. A difference
//! counts if it is larger than the noise of these measurements and larger than the tolerance. So the rates and latencies that are
//! compared and shown are medians over the seconds. Wrong answers and failed requests are compared as shares, with the standard error of
//! such counts.

use clap::Args;
use serde::Serialize;

use super::{LoadModel, RunSummary};
use crate::figures::{Outcome, TimeSlot};
use crate::number::float;
use crate::text;

/// With fewer measurements the noise cannot be estimated.
const FEWEST_MEASUREMENTS: usize = 5;
/// A difference of this many standard errors counts. In a normal distribution, 1 of about 370 is larger by chance.
const STANDARD_ERRORS: f64 = 3.0;
/// Factor from the median absolute deviation to the standard deviation of a normal distribution.
const MAD_TO_STANDARD_DEVIATION: f64 = 1.4826;
/// Factor from the standard error of a mean to that of a median.
const MEAN_TO_MEDIAN: f64 = 1.2533;

#[derive(Clone, Copy, Debug, Args)]
pub struct Tolerance {
    /// Differences of rate and latency below this share do not count.
    #[arg(long = "tolerance", value_name = "SHARE", default_value = "5%", value_parser = tolerance, help_heading = "Verdict")]
    pub share: f64,
}

/// Reads a tolerance.
fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=1_000.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("`{text}` is not a share: write 5%"))
}

/// How a figure changed. What is worse for a verdict is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Change {
    /// Better, beyond noise and tolerance.
    Better,
    /// No difference beyond noise and tolerance.
    Same,
    /// The runs are too short to decide.
    Unclear,
    /// Worse, beyond noise and tolerance.
    Worse,
}

/// A figure of both runs. Values are text for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    pub name: String,
    /// The value of the earlier run.
    pub before: String,
    /// The value of this run.
    pub after: String,
    pub direction: Change,
    /// The difference and its noise.
    pub note: String,
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    /// The name of the earlier report.
    pub before: String,
    pub rows: Vec<ComparedFigure>,
}

impl RunComparison {
    /// Compares a run with an earlier run, whose report has this name. `tolerance` is a share: 0.05 is 5 %. An error if scenarios,
    /// model, rate or users differ.
    pub fn of(name: &str, before: &RunSummary, after: &RunSummary, tolerance: f64) -> Result<Self, String> {
        if before.scenarios != after.scenarios {
            let [before, after] = [before, after].map(|run| run.scenarios.join(", "));
            return Err(format!("{name}: it sent {before}, and this run sent {after}"));
        }
        let settings = |model: &LoadModel| (model.name, model.rate.clone(), model.users);
        if settings(&before.model) != settings(&after.model) {
            let [before, after] = [before, after].map(|run| described(&run.model));
            let rule = "only runs of the same model, rate and users can be compared";
            return Err(format!("{name}: it {before}, and this run {after}: {rule}"));
        }
        let runs = [before, after];
        let rate = |run: &RunSummary, slot: &TimeSlot| Some(run.figures.series.rate(slot.counts.answered()));
        let mut rows = vec![measured("answers a second", runs, tolerance, true, rate, text::rate)];
        for percent in [50.0, 95.0, 99.0] {
            let latency = |_: &RunSummary, slot: &TimeSlot| Some(slot.percentile(percent)?.as_secs_f64());
            rows.push(measured(&format!("p{percent} latency"), runs, tolerance, false, latency, text::time));
        }
        if before.figures.arrivals.due > 0 && after.figures.arrivals.due > 0 {
            // Late arrivals come in groups, so their share varies more than that of independent events.
            rows.push(share("not served in time", runs, tolerance, |summary| {
                let arrivals = summary.figures.arrivals;
                (arrivals.due.saturating_sub(arrivals.in_time), arrivals.due)
            }));
        }
        rows.push(share("wrong answers", runs, 0.0, |summary| {
            let total = summary.figures.total(None);
            (total.counts.of(Outcome::Wrong), total.judged)
        }));
        // Wrong answers have a row of their own.
        rows.push(share("failed requests", runs, 0.0, |summary| {
            let counts = summary.figures.total(None).counts;
            (counts.failed(), counts.all())
        }));
        Ok(Self { before: name.to_owned(), rows })
    }

    /// The change of the figure that changed for the worst.
    pub fn worst(&self) -> Change {
        self.rows.iter().map(|row| row.direction).max().unwrap_or(Change::Same)
    }
}

fn described(model: &LoadModel) -> String {
    let rate = model.rate.as_deref().map(|rate| format!(" at {rate}/s")).unwrap_or_default();
    format!("was {}{rate} with {}", model.name.into_str(), text::count(model.users as u64, "user"))
}

/// Compares the medians of the values that the slots have which lie completely in a run. The first of the runs is the earlier one.
fn measured(
    name: &str,
    runs: [&RunSummary; 2],
    tolerance: f64,
    more_is_better: bool,
    value: impl Fn(&RunSummary, &TimeSlot) -> Option<f64>,
    shown: impl Fn(f64) -> String,
) -> ComparedFigure {
    let [old, new] = runs.map(|run| {
        let slots = run.figures.series.whole(run.length()).iter();
        slots.filter_map(|slot| value(run, slot)).collect::<Vec<f64>>()
    });
    let (before, after, direction, note) = if let Some((old, old_error)) = median_and_error(&old)
        && let Some((new, new_error)) = median_and_error(&new)
    {
        let change = new - old;
        let noise = STANDARD_ERRORS * old_error.hypot(new_error);
        let scale = old.abs().max(f64::MIN_POSITIVE);
        let share = change / scale;
        let note = format!("{} (noise {:.1} %)", text::change(share), noise * 100.0 / scale);
        let counts = change.abs() > noise && share.abs() > tolerance;
        let direction = match (counts, (change > 0.0) == more_is_better) {
            (false, _) => Change::Same,
            (true, true) => Change::Better,
            (true, false) => Change::Worse,
        };
        (shown(old), shown(new), direction, note)
    } else {
        let counts = format!("and there are {} and {}", old.len(), new.len());
        let note = format!("too short: it takes {FEWEST_MEASUREMENTS} measurements, {counts}");
        ("-".to_owned(), "-".to_owned(), Change::Unclear, note)
    };
    ComparedFigure { name: format!("{name} (median)"), before, after, direction, note }
}

/// The median of measurements and its standard error, both robust against outliers; none for fewer than [`FEWEST_MEASUREMENTS`].
fn median_and_error(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < FEWEST_MEASUREMENTS {
        return None;
    }
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let deviation = MAD_TO_STANDARD_DEVIATION * median(&deviations);
    Some((middle, MEAN_TO_MEDIAN * deviation / float(values.len() as u64).sqrt()))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// Compares shares. `of` gives count and total of a run; a difference of at most `tolerance` does not count.
fn share(
    name: &str,
    runs: [&RunSummary; 2],
    tolerance: f64,
    of: impl Fn(&RunSummary) -> (u64, u64),
) -> ComparedFigure {
    let [(old, old_all), (new, new_all)] = runs.map(of);
    let [x, n, y, m] = [old, old_all, new, new_all].map(float);
    let direction = if old_all == 0 || new_all == 0 {
        Change::Unclear
    } else {
        // The standard error of the difference, if both runs had the same true share.
        let common = (x + y) / (n + m);
        let error = (common * (1.0 - common) * (1.0 / n + 1.0 / m)).sqrt();
        match y / m - x / n {
            change if change.abs() <= tolerance.max(STANDARD_ERRORS * error) => Change::Same,
            change if change > 0.0 => Change::Worse,
            _ => Change::Better,
        }
    };
    ComparedFigure {
        name: name.to_owned(),
        before: text::share(old, old_all),
        after: text::share(new, new_all),
        direction,
        note: format!("{} and {}", text::number(old), text::number(new)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::figures::{Figures, Sample};

    /// A run of 20 seconds with about `each_second` requests per second that take about `millis` each. One of `wrong_one_in` is wrong.
    fn run(each_second: u64, millis: u64, wrong_one_in: u64) -> RunSummary {
        let mut figures = Figures::default();
        for second in 0..20 {
            for n in 0..each_second + second % 3 {
                let wrong = wrong_one_in > 0 && n % wrong_one_in == 1;
                figures.record(&Sample {
                    label: "quote-erc20",
                    at: Some(Duration::from_secs(second) + Duration::from_millis(n)),
                    latency: Duration::from_micros(millis * (900 + (n * 7 + second * 13) % 200)),
                    outcome: if wrong { Outcome::Wrong } else { Outcome::Good },
                    judged: true,
                });
            }
        }
        RunSummary::new(figures, Duration::from_secs(20))
    }

    fn directions(before: &RunSummary, after: &RunSummary) -> Vec<(String, Change)> {
        let comparison = RunComparison::of("before.json", before, after, 0.05).unwrap();
        let rows = comparison.rows.into_iter();
        rows.map(|row| (row.name, row.direction))
            .filter(|(_, direction)| *direction != Change::Same)
            .collect()
    }

    #[test]
    fn noise_is_not_a_difference() {
        assert_eq!(directions(&run(100, 10, 0), &run(101, 10, 0)), []);
    }

    #[test]
    fn worse_and_better_figures_are_found() {
        let slower = directions(&run(100, 10, 0), &run(80, 13, 0));
        assert!(slower.iter().all(|(_, direction)| *direction == Change::Worse));
        assert_eq!(slower.len(), 4, "{slower:?}");
        let faster = directions(&run(80, 13, 0), &run(100, 10, 0));
        assert!(faster.iter().all(|(_, direction)| *direction == Change::Better));
        let wrong = directions(&run(100, 10, 0), &run(100, 10, 25));
        assert_eq!(wrong, [("wrong answers".to_owned(), Change::Worse)]);
    }

    #[test]
    fn a_failed_request_is_no_wrong_answer() {
        let good = run(100, 10, 0);
        let mut failing = good.clone();
        for label in failing.figures.labels.values_mut() {
            for _ in 0..200 {
                label.counts.add(Outcome::Timeout);
            }
        }
        let failed = directions(&good, &failing);
        assert_eq!(failed, [("failed requests".to_owned(), Change::Worse)]);
    }

    #[test]
    fn short_runs_are_unclear_and_different_ones_are_an_error() {
        let mut short = run(100, 10, 0);
        short.seconds = 3.0;
        let comparison = RunComparison::of("b", &short, &run(100, 10, 0), 0.05).unwrap();
        assert_eq!(comparison.worst(), Change::Unclear);
        let mut other = run(100, 10, 0);
        other.scenarios = vec!["journey".to_owned()];
        assert!(RunComparison::of("b", &other, &run(100, 10, 0), 0.05).is_err());
        let mut other = run(100, 10, 0);
        other.model.users = 99;
        assert!(RunComparison::of("b", &other, &run(100, 10, 0), 0.05).is_err());
    }
}
