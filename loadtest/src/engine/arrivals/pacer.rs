//! Adds a permit for every iteration when it is due. It is a thread, because the timers of tokio have a resolution of 1 ms and a
//! sleeping thread wakes up within about 0.1 ms.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crate::engine::state::{Pacing, RunState};

/// The longest sleep between two checks whether the run is over.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// Starts the thread, unless the model is closed. It ends with the run, or after the last permit if the schedule cannot change.
pub(crate) fn start(run: &Arc<RunState>) -> std::io::Result<()> {
    if run.settings.pacing.timetable().is_none() {
        return Ok(());
    }
    let run = Arc::clone(run);
    thread::Builder::new()
        .name("pacer".to_owned())
        .spawn(move || add_permits(&run))
        .map(drop)
}

fn add_permits(run: &RunState) {
    let Some(timetable) = run.settings.pacing.timetable() else {
        return;
    };
    let mut added = 0;
    while !run.is_over() {
        let schedule = timetable.current();
        if added >= schedule.total() {
            if !timetable.is_replaceable() {
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
            run.due.add_permits(more.min(room));
            added = due;
            continue;
        }
        let next = schedule.due(added).map(|due| start + due);
        let sleep = next.map_or(LONGEST_SLEEP, |next| {
            next.saturating_duration_since(Instant::now())
        });
        thread::sleep(sleep.min(LONGEST_SLEEP));
    }
}
