//! The share that a worker has of the rate of a run. A Locust master divides users and not arrivals; so each worker takes the part
//! of the rate that its users are of all users, again after each change of users.

use std::time::Duration;

use crate::{engine::schedule::Schedule, run::options::Rate};

/// The length of a constant rate, longer than any run. A master does not tell its workers when the run ends.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The share of a worker over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(Vec<(Duration, f64)>);

impl Shares {
    /// Sets the share (0 to 1) from this time after the start on.
    pub(super) fn set(&mut self, from: Duration, share: f64) {
        self.0.retain(|(earlier, _)| *earlier < from);
        self.0.push((from, share));
    }

    /// The last share.
    pub(super) fn last(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, share)| *share)
    }

    /// When the arrivals of this worker are due, if `rate` is that of the whole run. `part` is where the first arrival lies
    /// between two (see [`Schedule::shifted`]).
    pub(super) fn schedule(&self, rate: &Rate, part: f64) -> Schedule {
        let pieces = match rate {
            Rate::Constant(rate) => vec![Piece {
                from: *rate,
                to: *rate,
                start: 0.0,
                seconds: FOREVER.as_secs_f64(),
            }],
            Rate::Steps(steps) => pieces(steps.as_slice()),
        };
        let mut steps = Vec::new();
        for piece in pieces {
            for part in self.cut(piece) {
                let share = self.at(part.start);
                steps.push((part.from * share, Duration::ZERO));
                steps.push((part.to * share, Duration::from_secs_f64(part.seconds)));
            }
        }
        Schedule::new(0.0, &steps).shifted(part)
    }

    fn at(&self, second: f64) -> f64 {
        let place = self.0.partition_point(|(from, _)| from.as_secs_f64() <= second);
        place.checked_sub(1).map_or(0.0, |place| self.0[place].1)
    }

    /// The piece, cut where the share changes.
    fn cut(&self, piece: Piece) -> Vec<Piece> {
        let mut parts = vec![piece];
        for (from, _) in &self.0 {
            let at = from.as_secs_f64();
            let Some(last) = parts.pop() else { break };
            if at > last.start && at < last.start + last.seconds {
                let middle = last.from + (last.to - last.from) * (at - last.start) / last.seconds;
                let seconds = at - last.start;
                parts.push(Piece {
                    to: middle,
                    seconds,
                    ..last
                });
                parts.push(Piece {
                    from: middle,
                    start: at,
                    seconds: last.seconds - seconds,
                    ..last
                });
            } else {
                parts.push(last);
            }
        }
        parts
    }
}

/// A time in which a rate changes linearly.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: f64,
    to: f64,
    start: f64,
    seconds: f64,
}

fn pieces(steps: &[(f64, Duration)]) -> Vec<Piece> {
    let (mut start, mut from) = (0.0, 0.0);
    let mut pieces = Vec::new();
    for (to, length) in steps {
        let seconds = length.as_secs_f64();
        if seconds > 0.0 {
            pieces.push(Piece {
                from,
                to: *to,
                start,
                seconds,
            });
            start += seconds;
        }
        from = *to;
    }
    pieces
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
            let whole = shares(&[(0, 1.0)]).schedule(&rate, 0.0).due_by(SECOND * 9);
            let parts = [(0.5, 0.0), (0.3, 0.6), (0.2, 0.2)];
            let sum: u64 = parts
                .into_iter()
                .map(|(share, part)| shares(&[(0, share)]).schedule(&rate, part).due_by(SECOND * 9))
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
            let (before, after) = (before.schedule(&rate, 0.3), after.schedule(&rate, 0.3));
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
        let schedule = pause.schedule(&rate, 0.0);
        assert_eq!(
            schedule.due_by(SECOND * 2),
            schedule.due_by(Duration::from_millis(3_990))
        );
        assert_eq!(schedule.due_by(SECOND * 6), 201);
        assert_eq!(Shares::default().schedule(&rate, 0.0).due_by(SECOND * 60), 0);
        assert!((pause.last() - 0.5).abs() < 1e-9);
    }
}
