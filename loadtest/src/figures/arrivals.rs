//! The arrivals of the open model: how many were due, and how they ended.

use serde::{Deserialize, Serialize};

use crate::number::float;

/// From this share of the requested rate on, reports do not state that it was not reached. Counts of arrivals in a time are never exact.
const REACHED: f64 = 0.99;

/// The arrivals of the open model and how they ended. A journey is one arrival. An arrival is served when each of its requests is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrivalCounts {
    /// Arrivals that were due in the measured time.
    pub due: u64,
    /// The time in which they were due, in seconds.
    pub seconds: f64,
    /// Served arrivals that began at most 1 ms late.
    pub in_time: u64,
    /// Served arrivals that began more than 1 ms late.
    pub late: u64,
    /// When the last served arrival began, in seconds after the warm-up.
    pub last_begun: f64,
    /// Arrivals that were never sent because no connection was free until the end.
    pub unsent: u64,
    /// Arrivals that were not sent because the target requested a pause (Retry-After).
    pub held_back: u64,
    /// Arrivals that began more than 1 ms late because every connection was busy.
    pub waited: u64,
    /// Arrivals that began more than 1 ms late although a connection was free, or because the pacer was late: the generator was slow.
    pub delayed: u64,
}

impl ArrivalCounts {
    /// Counts a served arrival that began `begun` seconds after the warm-up.
    pub fn serve(&mut self, begun: f64, late: bool) {
        self.in_time += u64::from(!late);
        self.late += u64::from(late);
        self.last_begun = self.last_begun.max(begun);
    }

    /// Served arrivals, late or not.
    pub fn served(&self) -> u64 {
        self.in_time + self.late
    }

    /// Arrivals that were sent and of which a request got no answer.
    pub fn unanswered(&self) -> u64 {
        self.due.saturating_sub(self.served() + self.unsent + self.held_back)
    }

    /// The requested arrivals per second; `None` in the closed model.
    pub fn requested_rate(&self) -> Option<f64> {
        (self.due > 0 && self.seconds > 0.0).then(|| float(self.due) / self.seconds)
    }

    /// Served arrivals per second; `None` in the closed model. The time of a served arrival is its beginning, because the last answers of
    /// every run come after its last arrival.
    pub fn reached_rate(&self) -> Option<f64> {
        let seconds = self.seconds.max(self.last_begun);
        self.requested_rate().map(|_| float(self.served()) / seconds)
    }

    /// The reached part of the requested rate, from 0 to 1; `None` in the closed model.
    pub fn reached_share(&self) -> Option<f64> {
        Some(self.reached_rate()? / self.requested_rate()?)
    }

    /// Whether arrivals were served at the requested rate, within 1 %.
    pub fn is_reached(&self) -> bool {
        self.reached_share().is_none_or(|share| share >= REACHED)
    }

    /// Whether more arrivals were late because of the generator than were late or not served because of the target.
    pub fn is_generator_slow(&self) -> bool {
        self.delayed > self.waited + self.unsent + self.held_back + self.unanswered()
    }

    /// Adds the arrivals of another thread or machine.
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
            let arrivals = ArrivalCounts {
                due: 1_000,
                seconds: 10.0,
                in_time,
                late,
                last_begun,
                ..ArrivalCounts::default()
            };
            assert_eq!(arrivals.is_reached(), reached, "{arrivals:?}");
        }
        assert!(ArrivalCounts::default().is_reached());
    }

    #[test]
    fn every_arrival_is_accounted_for() {
        let mut arrivals = ArrivalCounts { due: 10, unsent: 2, held_back: 1, ..ArrivalCounts::default() };
        arrivals.serve(1.5, false);
        arrivals.serve(0.5, true);
        assert_eq!((arrivals.in_time, arrivals.late, arrivals.unanswered()), (1, 1, 5));
        let mut both = arrivals;
        both.merge(&arrivals);
        assert_eq!((both.due, both.served(), both.unanswered()), (20, 4, 10));
        assert!((both.last_begun - 1.5).abs() < 1e-9);
    }
}
