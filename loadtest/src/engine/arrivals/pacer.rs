//! Adds a permit for every iteration when it is due. It is a thread, because the timers of tokio have a resolution of 1 ms and a
//! sleeping thread wakes up within about 0.1 ms.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::engine::state::{Pacing, RunState};
use crate::engine::users::iteration::LATE;

/// The longest sleep between two checks whether the run is over.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// The longest delay of the pacer, which the system may suspend, among iterations that no user has taken yet: the iterations, how late the
/// permit of the first one was, and when their permits were added. Such iterations are late even if every user was idle.
#[derive(Debug, Default)]
pub(crate) struct LatePermits(Mutex<Option<(Range<u64>, Duration, Instant)>>);

impl LatePermits {
    /// Notes a delay, before the permits are added. `taken` is how many iterations users have taken.
    fn note(&self, iterations: Range<u64>, delay: Duration, added: Instant, taken: u64) {
        let mut known = self.0.lock();
        if known.as_ref().is_none_or(|(of, longest, _)| of.end <= taken || *longest <= delay) {
            *known = Some((iterations, delay, added));
        }
    }

    /// Whether an iteration that was due at `due` and begins `now` waited longer for its permit than for a user.
    pub(crate) fn delayed(&self, iteration: u64, due: Instant, now: Instant) -> bool {
        let known = self.0.lock();
        known.as_ref().is_some_and(|(of, _, added)| {
            of.contains(&iteration)
                && added.saturating_duration_since(due) > now.saturating_duration_since(*added)
        })
    }
}

/// Starts the thread. It ends at once in the closed model, and else with the run, when every permit is added.
pub(crate) fn start(run: &Arc<RunState>) -> std::io::Result<()> {
    let run = Arc::clone(run);
    thread::Builder::new().name("pacer".to_owned()).spawn(move || add_permits(&run)).map(drop)
}

fn add_permits(run: &RunState) {
    let Some(timetable) = run.settings.pacing.timetable() else { return };
    let mut added = 0;
    while !run.is_over() {
        let schedule = timetable.current();
        if added >= schedule.total {
            // A Locust master can still give more users to a worker, and with them more arrivals.
            if run.is_draining() {
                return;
            }
            thread::sleep(LONGEST_SLEEP);
            continue;
        }
        // The first user starts the clock.
        let Some(start) = run.clock.started() else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let due = schedule.due_by(start.elapsed());
        if due > added {
            let more = usize::try_from(due - added).unwrap_or(usize::MAX);
            let room = match run.settings.pacing {
                // Permits that a slow target left unused must not become a burst.
                Pacing::Capped(_) => usize::from(run.due.available_permits() == 0),
                Pacing::Closed | Pacing::Open(_) => tokio::sync::Semaphore::MAX_PERMITS / 2,
            };
            let now = Instant::now();
            let first = schedule.due(added).map_or(now, |first| start + first);
            let delay = now.saturating_duration_since(first);
            if delay > LATE {
                let taken = run.iterations.load(Ordering::Acquire);
                run.late_permits.note(added..due, delay, now, taken);
            }
            run.due.add_permits(more.min(room));
            added = due;
            continue;
        }
        let next = schedule.due(added).map(|due| start + due);
        let sleep = next.map_or(LONGEST_SLEEP, |next| next.saturating_duration_since(Instant::now()));
        thread::sleep(sleep.min(LONGEST_SLEEP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pacer_delays_iterations_that_waited_longer_for_it_than_for_a_user() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let late = LatePermits::default();
        assert!(!late.delayed(0, at(0), at(90)));
        // One iteration is due every 10 ms, and the pacer was suspended for a second.
        late.note(10..110, Duration::from_secs(1), at(1_100), 10);
        for (iteration, begins, expected) in [
            (9, 1_101, false),
            (10, 1_101, true),
            (10, 1_900, true),
            // It waited 500 ms for its permit, and 600 ms for a user.
            (60, 1_700, false),
            (109, 1_101, true),
            (110, 1_101, false),
        ] {
            let delayed = late.delayed(iteration, at(iteration * 10), at(begins));
            assert_eq!(delayed, expected, "{iteration}");
        }
        // A shorter delay counts when users have taken the iterations of the longer one.
        for (taken, expected) in [(60, false), (110, true)] {
            late.note(120..121, Duration::from_millis(5), at(1_205), taken);
            assert_eq!(late.delayed(120, at(1_200), at(1_206)), expected);
        }
        // A slow target: the iteration waited 5 ms for its permit, and 2 s for a user.
        assert!(!late.delayed(120, at(1_200), at(3_205)));
    }
}
