//! A turn of a user: the moment at which it sends a chain of requests. In the open model it is an arrival, and its fate is counted.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::shared::{Ended, Pace, Shared};

/// An arrival that begins later than this is late.
const LATE: Duration = Duration::from_millis(1);

/// A turn: its number, and when it is due in the open model.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) due: Option<Instant>,
    /// Whether a user had been waiting for it.
    awaited: bool,
}

impl Turn {
    /// Whether it is an arrival in the measured time.
    fn is_measured(&self, shared: &Shared) -> bool {
        self.due.is_some_and(|due| shared.clock.measured(due).is_some())
    }

    /// Whether it is an arrival that is not sent, as the target asked for a pause.
    pub(super) fn is_held_back(&self, shared: &Shared, user: usize) -> bool {
        let held_back = self.due.is_some() && shared.paused().is_some();
        if held_back && self.is_measured(shared) {
            let arrivals = &mut shared.part(user).arrivals;
            arrivals.due += 1;
            arrivals.held_back += 1;
        }
        held_back
    }

    /// Its first request is sent now.
    pub(super) fn begin(&self, shared: &Shared, user: usize) -> Begun {
        let late = self.due.is_some_and(|due| due.elapsed() > LATE);
        let measured = self.is_measured(shared);
        if measured {
            let arrivals = &mut shared.part(user).arrivals;
            arrivals.due += 1;
            arrivals.waited += u64::from(late && !self.awaited);
            arrivals.delayed += u64::from(late && self.awaited);
        }
        Begun {
            at: shared.clock.elapsed().saturating_sub(shared.clock.warm_up()),
            late,
            measured,
            answered: true,
        }
    }
}

/// A turn whose requests are being sent.
pub(super) struct Begun {
    at: Duration,
    late: bool,
    measured: bool,
    /// Whether every request so far was answered.
    pub(super) answered: bool,
}

impl Begun {
    /// Its last request is over.
    pub(super) fn end(&self, shared: &Shared, user: usize) {
        if self.measured && self.answered {
            let arrivals = &mut shared.part(user).arrivals;
            arrivals.serve(self.at.as_secs_f64(), self.late);
        }
    }
}

/// Waits for the next turn; none when there is none before `until`, or no more.
pub(super) async fn next(shared: &Shared, until: Instant) -> Option<Turn> {
    if shared.is_over() {
        return None;
    }
    let open = matches!(shared.settings.pace, Pace::Open(_));
    if !open && (shared.is_draining() || Instant::now() >= shared.clock.ends()) {
        return None;
    }
    if !open && let Some(paused) = shared.paused() {
        tokio::time::sleep_until(paused.min(until).into()).await;
        return None;
    }
    let Some(schedule) = shared.settings.pace.schedule() else {
        let number = shared.turns.fetch_add(1, Ordering::AcqRel);
        return Some(Turn {
            number,
            due: None,
            awaited: false,
        });
    };
    if shared.ended() == Some(Ended::Budget) {
        return None;
    }
    let (permit, awaited) = if let Ok(permit) = shared.due.try_acquire() {
        (permit, false)
    } else {
        let waited = tokio::time::timeout_at(until.into(), shared.due.acquire()).await;
        (waited.ok()?.ok()?, true)
    };
    permit.forget();
    let number = shared.turns.fetch_add(1, Ordering::AcqRel);
    let due = schedule.due(number).map(|due| shared.clock.start() + due);
    Some(Turn {
        number,
        due: due.filter(|_| open),
        awaited,
    })
}
