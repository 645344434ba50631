//! A run beside an earlier one, with their noise taken into account.
//!
//! goose's baselines show differences and no noise, so any two runs differ. Here each second of a run is a measurement: a
//! difference counts when it is larger than what the seconds of the two runs scatter, and large enough to matter. So the rates and
//! latencies that are compared, and shown, are medians of the seconds. Counts of wrong and failed requests are compared as shares,
//! by the scatter of such counts.

use std::time::Duration;

use serde::Serialize;

use crate::{
    figures::outcome::Outcome,
    report::words,
    summary::{Model, Summary},
};

/// Differences below this share do not matter, where the user does not say otherwise.
pub const DEFAULT_TOLERANCE: f64 = 0.05;
/// With fewer measurements, scatter cannot be told.
const FEWEST: usize = 5;
/// A difference of so many standard errors is no chance: one in about 400, were they normal.
const ERRORS: f64 = 3.0;
/// From the median absolute deviation to the standard deviation of a normal distribution.
const MAD: f64 = 1.4826;
/// How much more a median scatters than a mean.
const MEDIAN: f64 = 1.2533;

/// Which way a figure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Worse than before, beyond noise and tolerance.
    Worse,
    /// Better than before, beyond noise and tolerance.
    Better,
    /// No difference that counts.
    Same,
    /// It cannot be told.
    Unclear,
}

/// One figure of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The figure.
    pub name: String,
    /// Before.
    pub before: String,
    /// Now.
    pub after: String,
    /// Which way it went.
    pub direction: Direction,
    /// The difference and its noise, in words.
    pub note: String,
}

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The earlier report.
    pub before: String,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// Compares a run with an earlier one, whose report has that name. Refuses runs that cannot be compared: other scenarios,
    /// another model.
    pub fn of(name: &str, before: &Summary, after: &Summary, tolerance: f64) -> Result<Self, String> {
        if before.scenarios != after.scenarios {
            return Err(format!(
                "{name}: it sent {}, and this run {}",
                before.scenarios.join(", "),
                after.scenarios.join(", ")
            ));
        }
        let how = |model: &Model| (model.name.clone(), model.rate.clone(), model.users);
        if how(&before.model) != how(&after.model) {
            return Err(format!(
                "{name}: {} and this run {}: only runs of the same model, rate and users can be compared",
                described(&before.model),
                described(&after.model)
            ));
        }
        let mut rows = vec![rate(before, after, tolerance)];
        for percent in [50.0, 95.0, 99.0] {
            rows.push(latency(before, after, percent, tolerance));
        }
        if before.arrivals.due > 0 && after.arrivals.due > 0 {
            // Arrivals that are late come together: their share scatters more than independent ones would.
            rows.push(share("not served in time", before, after, tolerance, |summary| {
                let arrivals = summary.arrivals;
                (arrivals.due.saturating_sub(arrivals.in_time), arrivals.due)
            }));
        }
        rows.push(share("wrong answers", before, after, 0.0, |summary| {
            let total = summary.total();
            (total.counts.of(Outcome::Wrong), total.judged)
        }));
        rows.push(share("failed requests", before, after, 0.0, |summary| {
            let counts = summary.total().counts;
            (counts.failed(), counts.all())
        }));
        Ok(Self {
            before: name.to_owned(),
            rows,
        })
    }

    /// Whether anything became worse.
    pub fn is_worse(&self) -> bool {
        self.rows.iter().any(|row| row.direction == Direction::Worse)
    }

    /// Whether something cannot be told.
    pub fn is_unclear(&self) -> bool {
        self.rows.iter().any(|row| row.direction == Direction::Unclear)
    }
}

fn described(model: &Model) -> String {
    let rate = model
        .rate
        .as_deref()
        .map(|rate| format!(" at {rate}/s"))
        .unwrap_or_default();
    format!(
        "was {}{rate} with {}",
        model.name,
        words::count(model.users as u64, "user")
    )
}

fn rate(before: &Summary, after: &Summary, tolerance: f64) -> Row {
    let slots = |summary: &Summary| -> Vec<f64> {
        let whole = summary.series.whole(summary.length()).iter();
        whole
            .map(|slot| summary.series.rate(slot.counts.answered()))
            .collect()
    };
    let (old, new) = (slots(before), slots(after));
    measured("answers a second", &old, &new, tolerance, true, words::rate)
}

fn latency(before: &Summary, after: &Summary, percent: f64, tolerance: f64) -> Row {
    let slots = |summary: &Summary| -> Vec<f64> {
        let slots = summary.series.whole(summary.length()).iter();
        slots
            .filter_map(|slot| slot.percentile(percent))
            .map(|latency| latency.as_secs_f64())
            .collect()
    };
    let name = format!("p{percent} latency");
    let shown = |seconds| words::duration(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    measured(&name, &slots(before), &slots(after), tolerance, false, shown)
}

fn measured(
    name: &str,
    old: &[f64],
    new: &[f64],
    tolerance: f64,
    more_is_better: bool,
    shown: impl Fn(f64) -> String,
) -> Row {
    let row = |before, after, direction, note| Row {
        name: format!("{name} (median)"),
        before,
        after,
        direction,
        note,
    };
    let (seconds_before, seconds_after) = (old.len(), new.len());
    let (Some(old), Some(new)) = (Scatter::of(old), Scatter::of(new)) else {
        let note = format!(
            "too short: it takes {FEWEST} measurements, and there are {seconds_before} and {seconds_after}"
        );
        return row("-".to_owned(), "-".to_owned(), Direction::Unclear, note);
    };
    let change = new.median - old.median;
    let noise = ERRORS * old.error.hypot(new.error);
    let share = change / old.median.abs().max(f64::MIN_POSITIVE);
    let note = format!(
        "{} (noise {:.1} %)",
        words::change(share),
        noise * 100.0 / old.median.abs().max(f64::MIN_POSITIVE)
    );
    let counts = change.abs() > noise && share.abs() > tolerance;
    let direction = match (counts, (change > 0.0) == more_is_better) {
        (false, _) => Direction::Same,
        (true, true) => Direction::Better,
        (true, false) => Direction::Worse,
    };
    row(shown(old.median), shown(new.median), direction, note)
}

/// Where measurements lie, and how well that is known; outliers count little.
struct Scatter {
    median: f64,
    error: f64,
}

impl Scatter {
    /// None of too few measurements.
    fn of(values: &[f64]) -> Option<Self> {
        if values.len() < FEWEST {
            return None;
        }
        let middle = median(values);
        let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        #[expect(clippy::cast_precision_loss, reason = "at most a few hundred slots")]
        let count = values.len() as f64;
        Some(Self {
            median: middle,
            error: MEDIAN * MAD * median(&deviations) / count.sqrt(),
        })
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

/// Compares shares; a difference of at most `tolerance` does not matter.
fn share(
    name: &str,
    before: &Summary,
    after: &Summary,
    tolerance: f64,
    of: impl Fn(&Summary) -> (u64, u64),
) -> Row {
    let ((old, old_all), (new, new_all)) = (of(before), of(after));
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 requests")]
    let (x, n, y, m) = (old as f64, old_all as f64, new as f64, new_all as f64);
    let direction = if old_all == 0 || new_all == 0 {
        Direction::Unclear
    } else {
        // Two shares differ when they lie further apart than such counts scatter about their common share.
        let common = (x + y) / (n + m);
        let error = (common * (1.0 - common) * (1.0 / n + 1.0 / m)).sqrt();
        match y / m - x / n {
            change if change.abs() <= tolerance.max(ERRORS * error) => Direction::Same,
            change if change > 0.0 => Direction::Worse,
            _ => Direction::Better,
        }
    };
    Row {
        name: name.to_owned(),
        before: words::share(old, old_all),
        after: words::share(new, new_all),
        direction,
        note: format!("{} and {}", words::number(old), words::number(new)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sample};

    /// A run of 20 seconds with that many requests a second, about so many milliseconds each, every so many wrong.
    fn run(each_second: u64, millis: u64, wrong_one_in: u64) -> Summary {
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
        Summary::of(figures, Duration::from_secs(20))
    }

    fn directions(before: &Summary, after: &Summary) -> Vec<(String, Direction)> {
        let comparison = Comparison::of("before.json", before, after, DEFAULT_TOLERANCE).unwrap();
        let rows = comparison.rows.into_iter();
        rows.map(|row| (row.name, row.direction))
            .filter(|(_, direction)| *direction != Direction::Same)
            .collect()
    }

    #[test]
    fn noise_is_no_difference() {
        assert_eq!(directions(&run(100, 10, 0), &run(101, 10, 0)), []);
    }

    #[test]
    fn what_became_worse_and_better_is_told() {
        let slower = directions(&run(100, 10, 0), &run(80, 13, 0));
        assert!(slower.iter().all(|(_, direction)| *direction == Direction::Worse));
        assert_eq!(slower.len(), 4, "{slower:?}");
        let faster = directions(&run(80, 13, 0), &run(100, 10, 0));
        assert!(
            faster
                .iter()
                .all(|(_, direction)| *direction == Direction::Better)
        );
        let wrong = directions(&run(100, 10, 0), &run(100, 10, 25));
        assert_eq!(
            wrong,
            [
                ("wrong answers".to_owned(), Direction::Worse),
                ("failed requests".to_owned(), Direction::Worse)
            ]
        );
    }

    #[test]
    fn short_runs_say_nothing_and_different_ones_are_refused() {
        let mut short = run(100, 10, 0);
        short.seconds = 3.0;
        assert!(
            Comparison::of("b", &short, &run(100, 10, 0), 0.05)
                .unwrap()
                .is_unclear()
        );
        let mut other = run(100, 10, 0);
        other.scenarios = vec!["journey".to_owned()];
        assert!(Comparison::of("b", &other, &run(100, 10, 0), 0.05).is_err());
        let mut other = run(100, 10, 0);
        other.model.users = 99;
        assert!(Comparison::of("b", &other, &run(100, 10, 0), 0.05).is_err());
    }
}
