//! The arrivals of the open model: how many were asked for, and what became of them.

use serde::{Deserialize, Serialize};

/// The share of the asked rate that counts as reached: a count of arrivals in a time is never exact.
const REACHED: f64 = 0.99;

/// What became of the arrivals of the open model. A journey is one arrival; it is served when each of its requests was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Arrivals that were due in the measured time.
    pub due: u64,
    /// The time in which they were due, in seconds.
    pub seconds: f64,
    /// Those that began within a millisecond of their time and were served.
    pub in_time: u64,
    /// Those that began later, and were served.
    pub late: u64,
    /// When the last one began that was served, in seconds after the first measured moment.
    pub last_begun: f64,
    /// Those that were never sent: no connection was free until the end.
    pub unsent: u64,
    /// Those that were held back because the target asked for a pause (Retry-After).
    pub held_back: u64,
    /// Those that began more than a millisecond late because every connection was busy.
    pub waited: u64,
    /// Those that began more than a millisecond late although a connection was free: the generator itself was slow.
    pub delayed: u64,
}

impl Arrivals {
    /// Takes in an arrival that was served.
    pub fn serve(&mut self, begun: f64, late: bool) {
        self.in_time += u64::from(!late);
        self.late += u64::from(late);
        self.last_begun = self.last_begun.max(begun);
    }

    /// Those that were served, late or not.
    pub fn served(&self) -> u64 {
        self.in_time + self.late
    }

    /// Those that were sent, and of which a request got no answer.
    pub fn unanswered(&self) -> u64 {
        self.due
            .saturating_sub(self.served() + self.unsent + self.held_back)
    }

    /// Arrivals a second that were asked for; none in the closed model.
    pub fn asked(&self) -> Option<f64> {
        (self.due > 0 && self.seconds > 0.0).then(|| float(self.due) / self.seconds)
    }

    /// Whether the arrivals were served as fast as they were asked for. The last answers of a run come after its last arrival; that
    /// is no delay, so what counts is when arrivals began.
    pub fn is_reached(&self) -> bool {
        let rate = float(self.served()) / self.seconds.max(self.last_begun);
        self.asked().is_none_or(|asked| rate >= asked * REACHED)
    }

    /// Takes in the arrivals of another part of the run, or of another machine.
    pub(super) fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.seconds = self.seconds.max(other.seconds);
        self.in_time += other.in_time;
        self.late += other.late;
        self.last_begun = self.last_begun.max(other.last_begun);
        self.unsent += other.unsent;
        self.held_back += other.held_back;
        self.waited += other.waited;
        self.delayed += other.delayed;
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 arrivals")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_reached_when_arrivals_are_served_as_fast_as_they_come() {
        for (in_time, late, last_begun, reached) in [
            (1_000, 0, 9.9, true),
            // A stall that the target made up for.
            (700, 300, 9.9, true),
            // An overload: all served, over twice the time.
            (5, 995, 20.0, false),
            // A target that stopped answering.
            (600, 0, 6.0, false),
            (0, 0, 0.0, false),
        ] {
            let arrivals = Arrivals {
                due: 1_000,
                seconds: 10.0,
                in_time,
                late,
                last_begun,
                ..Arrivals::default()
            };
            assert_eq!(arrivals.is_reached(), reached, "{arrivals:?}");
        }
        assert!(Arrivals::default().is_reached());
    }

    #[test]
    fn every_arrival_is_accounted_for() {
        let mut arrivals = Arrivals {
            due: 10,
            unsent: 2,
            held_back: 1,
            ..Arrivals::default()
        };
        arrivals.serve(1.5, false);
        arrivals.serve(0.5, true);
        assert_eq!(
            (arrivals.in_time, arrivals.late, arrivals.unanswered()),
            (1, 1, 5)
        );
        let mut both = arrivals;
        both.merge(&arrivals);
        assert_eq!((both.due, both.served(), both.unanswered()), (20, 4, 10));
        assert!((both.last_begun - 1.5).abs() < 1e-9);
    }
}
