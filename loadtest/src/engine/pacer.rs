//! Hands out permits for arrivals at the moment they are due, from a thread of its own: the timers of tokio go by the millisecond,
//! a sleeping thread wakes within about 0.1 ms.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::shared::{Pace, Shared};

/// Looks this often whether the run is over.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// Starts the thread; it ends with the run or when all arrivals were handed out.
pub(super) fn start(shared: &Arc<Shared>) -> std::io::Result<()> {
    if shared.settings.pace.schedule().is_none() {
        return Ok(());
    }
    let shared = Arc::clone(shared);
    thread::Builder::new()
        .name("pacer".to_owned())
        .spawn(move || hand_out(&shared))
        .map(drop)
}

fn hand_out(shared: &Shared) {
    let Some(schedule) = shared.settings.pace.schedule() else {
        return;
    };
    let mut handed_out = 0;
    while handed_out < schedule.total() && !shared.is_over() {
        // The clock starts with the first user.
        let Some(start) = shared.clock.started() else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let due = schedule.due_by(start.elapsed());
        if due > handed_out {
            let more = usize::try_from(due - handed_out).unwrap_or(usize::MAX);
            let room = match shared.settings.pace {
                // What a slow target did not take must not come as a burst.
                Pace::Capped(_) => usize::from(shared.due.available_permits() == 0),
                Pace::Closed | Pace::Open(_) => tokio::sync::Semaphore::MAX_PERMITS / 2,
            };
            shared.due.add_permits(more.min(room));
            handed_out = due;
            continue;
        }
        let next = schedule.due(handed_out).map(|due| start + due);
        let sleep = next.map_or(LONGEST_SLEEP, |next| {
            next.saturating_duration_since(Instant::now())
        });
        thread::sleep(sleep.min(LONGEST_SLEEP));
    }
}
