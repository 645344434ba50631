//! What a run knows of each second besides its exchanges: how many users there were, and how many arrivals the schedule asked for.

use std::time::Duration;

use parking_lot::Mutex;

use super::RunClock;
use crate::{engine::arrivals::schedule::Schedule, figures::series::TimeSeries};

/// The users of a run over time: their number from each change on, relative to the end of the warm-up. Its lock is taken when a user
/// starts or ends, and never for a request.
#[derive(Debug, Default)]
pub(crate) struct UsersOverTime(Mutex<Vec<(Duration, usize)>>);

impl UsersOverTime {
    /// The number of users now.
    pub(crate) fn now(&self) -> usize {
        self.0.lock().last().map_or(0, |(_, users)| *users)
    }

    /// Changes the number of users.
    pub(super) fn change(&self, clock: &RunClock, change: impl FnOnce(usize) -> usize) {
        let mut changes = self.0.lock();
        let users = change(changes.last().map_or(0, |(_, users)| *users));
        changes.push((clock.elapsed().saturating_sub(clock.warm_up), users));
    }

    /// The users by second, until this time after the end of the warm-up. Users may stay a little longer than the run.
    pub(super) fn until(&self, end: Duration) -> TimeSeries {
        let mut series = TimeSeries::default();
        let changes = self.0.lock().clone();
        let ends = changes.iter().skip(1).map(|(from, _)| *from).chain([end]);
        for ((from, users), to) in changes.iter().zip(ends) {
            series.add_users(*users, *from, to.min(end));
        }
        series
    }
}

/// Adds the arrivals of a schedule that were due before `until`, a time after the start.
pub(super) fn add_arrivals(series: &mut TimeSeries, schedule: &Schedule, warm_up: Duration, until: Duration) {
    series.cover(until.saturating_sub(warm_up));
    let mut before = schedule.due_before(warm_up);
    let mut slot_ends = warm_up;
    for slot in &mut series.slots {
        slot_ends += Duration::from_secs(u64::from(series.seconds));
        let due = schedule.due_before(slot_ends.min(until)).max(before);
        slot.arrivals += due - before;
        before = due;
        if slot_ends >= until {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn arrivals_by_second_add_up_to_those_of_the_measured_time() {
        let ramp = [(100.0, SECOND * 4), (100.0, SECOND * 3)];
        for schedule in [Schedule::new(0.0, &ramp), Schedule::new(0.0, &ramp).poisson(3)] {
            let mut series = TimeSeries::default();
            add_arrivals(&mut series, &schedule, SECOND * 2, SECOND * 7);
            let arrivals: Vec<u64> = series.slots.iter().map(|slot| slot.arrivals).collect();
            assert_eq!(arrivals.len(), 5);
            let measured = schedule.total() - schedule.due_before(SECOND * 2);
            assert_eq!(arrivals.iter().sum::<u64>(), measured, "{arrivals:?}");
            // The ramp goes on in the first two measured seconds.
            assert!(arrivals[0] < arrivals[1] && arrivals[1] < arrivals[3] + 40, "{arrivals:?}");
        }
    }

    #[test]
    fn a_run_that_ends_early_asks_for_no_arrivals_after_its_end() {
        let schedule = Schedule::constant(100.0, SECOND * 10);
        let mut series = TimeSeries::default();
        add_arrivals(&mut series, &schedule, Duration::ZERO, SECOND * 5 / 2);
        let arrivals: Vec<u64> = series.slots.iter().map(|slot| slot.arrivals).collect();
        assert_eq!(arrivals, [100, 100, 50]);
    }

    #[test]
    fn users_count_until_the_end_that_is_asked_for() {
        let clock = RunClock::new(SECOND, SECOND * 10);
        let users = UsersOverTime::default();
        // Before the start, the clock stands at 0.
        users.change(&clock, |users| users + 3);
        users.change(&clock, |users| users + 2);
        assert_eq!(users.now(), 5);
        let series = users.until(SECOND * 3);
        let of: Vec<f64> = series.slots.iter().map(|slot| series.users(slot)).collect();
        assert_eq!(of, [5.0, 5.0, 5.0]);
        users.change(&clock, |users| users.saturating_sub(9));
        assert_eq!(users.now(), 0);
    }
}
