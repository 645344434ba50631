//! The share that a worker has of the rate of a run. A Locust master divides users and not arrivals; so each worker takes the part
//! of the rate that its users are of all users, again after each change of users.

use std::time::Duration;

use super::load::FOREVER;
use crate::{engine::Schedule, run::Rate};

/// The share of a worker over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(Vec<(Duration, f64)>);

impl Shares {
    /// Sets the share (0 to 1) from this time after the start on.
    pub(super) fn set(&mut self, from: Duration, share: f64) {
        self.0.retain(|(earlier, _)| *earlier < from);
        self.0.push((from, share));
    }

    pub(super) fn last(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, share)| *share)
    }

    /// The part of this worker of the arrivals of the whole run, which has this rate.
    pub(super) fn schedule(&self, rate: &Rate) -> Schedule {
        rate.schedule(FOREVER).scaled(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn shares(all: &[(u64, f64)]) -> Shares {
        let mut shares = Shares::default();
        for (from, share) in all {
            shares.set(SECOND * u32::try_from(*from).unwrap(), *share);
        }
        shares
    }

    #[test]
    fn the_arrivals_of_all_workers_are_those_of_the_rate() {
        for rate in ["120", "100,4s;300,6s"] {
            let rate = Rate::parse(rate).unwrap();
            let whole = shares(&[(0, 1.0)]).schedule(&rate).due_by(SECOND * 9);
            let parts = [(0.5, 0.0), (0.3, 0.6), (0.2, 0.2)];
            let sum: u64 = parts
                .into_iter()
                .map(|(share, part)| shares(&[(0, share)]).schedule(&rate).shifted(part).due_by(SECOND * 9))
                .sum();
            assert!(whole.abs_diff(sum) <= 3, "{rate}: {whole} and {sum}");
        }
    }

    #[test]
    fn a_later_share_keeps_the_arrivals_before_it() {
        for text in ["50", "0,0s;100,10s"] {
            let rate = Rate::parse(text).unwrap();
            let before = shares(&[(0, 0.4)]);
            let mut after = before.clone();
            after.set(SECOND * 5, 0.8);
            let (before, after) = (before.schedule(&rate).shifted(0.3), after.schedule(&rate).shifted(0.3));
            for index in 0..before.due_by(SECOND * 5) {
                let (left, right) = (before.due(index).unwrap(), after.due(index).unwrap());
                assert!(left.abs_diff(right) < Duration::from_micros(1), "{text}: {index}");
            }
            // From then on twice as many arrive.
            let more = |schedule: &Schedule| schedule.due_by(SECOND * 10) - schedule.due_by(SECOND * 5);
            assert!(more(&after).abs_diff(2 * more(&before)) <= 2, "{text}");
        }
    }

    #[test]
    fn a_worker_without_users_has_no_arrivals() {
        let rate = Rate::Constant(100.0);
        let pause = shares(&[(0, 0.5), (2, 0.0), (4, 0.5)]);
        let schedule = pause.schedule(&rate);
        assert_eq!(schedule.due_by(SECOND * 2), schedule.due_by(Duration::from_millis(3_990)));
        assert_eq!(schedule.due_by(SECOND * 6), 201);
        assert_eq!(Shares::default().schedule(&rate).due_by(SECOND * 60), 0);
        assert!((pause.last() - 0.5).abs() < 1e-9);
    }

    /// The arrivals of the workers of one run until `end`, in order.
    fn poisson(seed: u64, end: Duration) -> Vec<f64> {
        let rate = Rate::Constant(1_000.0);
        // The shares change twice, as with workers that join and leave.
        let workers = [
            shares(&[(0, 0.5), (20, 0.4), (40, 0.8)]),
            shares(&[(0, 0.5), (20, 0.4), (40, 0.0)]),
            shares(&[(20, 0.2)]),
        ];
        let mut all = Vec::new();
        for (index, shares) in (0..).zip(workers) {
            let schedule = shares.schedule(&rate).endless_poisson(seed * 7 + index);
            let due = (0..schedule.due_by(end)).map(|index| schedule.due(index).unwrap());
            all.extend(due.map(|due| due.as_secs_f64()));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn the_random_arrivals_of_all_workers_are_one_poisson_process() {
        for seed in 1..=3 {
            let all = poisson(seed, SECOND * 60);
            let count = all.len() as f64;
            // 60,000 are expected, with a standard deviation of 245.
            assert!((count - 60_000.0).abs() < 4.0 * 245.0, "{seed}: {count}");
            let distances: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) * 1e3).collect();
            let mean = distances.iter().sum::<f64>() / count;
            let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / count;
            assert!((mean - 1.0).abs() < 0.03 && (variance - 1.0).abs() < 0.06, "{seed}: {mean} {variance}");
            for (limit, expected) in [(0.1, 0.0952), (1.0, 0.6321), (3.0, 0.9502)] {
                let share = distances.iter().filter(|distance| **distance <= limit).count() as f64 / count;
                assert!((share - expected).abs() < 0.01, "{seed}: {limit}: {share}");
            }
            let pairs = distances.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
            let correlation = pairs.sum::<f64>() / count / variance;
            assert!(correlation.abs() < 0.02, "{seed}: {correlation}");
            // Arrivals in windows of 10 ms: as many as the variance of a Poisson distribution says.
            let mut windows = vec![0.0; 6_000];
            for due in &all {
                let later = windows.iter_mut().zip(1..).find(|(_, end)| *due < f64::from(*end) / 100.0);
                *later.unwrap().0 += 1.0;
            }
            let spread =
                windows.iter().map(|arrivals: &f64| (arrivals - 10.0).powi(2)).sum::<f64>() / 6_000.0;
            assert!((spread - 10.0).abs() < 1.0, "{seed}: {spread}");
        }
        assert_eq!(poisson(1, SECOND * 3), poisson(1, SECOND * 3));
        assert_ne!(poisson(1, SECOND * 3), poisson(2, SECOND * 3));
    }

    #[test]
    fn a_later_share_keeps_the_random_arrivals_before_it() {
        for text in ["50", "0,0s;100,10s"] {
            let rate = Rate::parse(text).unwrap();
            let before = shares(&[(0, 0.4)]);
            let mut after = before.clone();
            after.set(SECOND * 5, 0.8);
            let (before, after) =
                (before.schedule(&rate).endless_poisson(9), after.schedule(&rate).endless_poisson(9));
            let first = before.due_by(SECOND * 5);
            assert!(first > 20, "{text}: {first}");
            for index in 0..first {
                let (left, right) = (before.due(index).unwrap(), after.due(index).unwrap());
                assert!(left.abs_diff(right) < Duration::from_micros(1), "{text}: {index}");
            }
            assert!(after.due_by(SECOND * 10) > before.due_by(SECOND * 10), "{text}");
        }
        // Steps have an end, after which nothing arrives.
        let steps = Rate::parse("100,0s;100,5s").unwrap();
        let schedule = shares(&[(0, 1.0)]).schedule(&steps).endless_poisson(9);
        assert_eq!(schedule.due_by(SECOND * 5), schedule.due_by(SECOND * 500));
        assert_eq!(schedule.due(schedule.due_by(SECOND * 5)), None);
    }
}
