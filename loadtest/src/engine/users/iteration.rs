//! Iterations: one iteration sends the requests of one sequence. In the open model an iteration is an arrival of the schedule.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::engine::state::{EndReason, Pacing, RunState};

/// An arrival that begins later than this after its time is late.
pub(crate) const LATE: Duration = Duration::from_millis(1);

/// An iteration that a user has taken.
#[derive(Clone, Copy)]
pub(crate) struct Iteration {
    /// Its number, from 0.
    pub(crate) number: u64,
    /// When it is due; `None` in the closed model.
    pub(crate) due: Option<Instant>,
    /// Whether a user was waiting when its permit was added.
    awaited: bool,
}

impl Iteration {
    /// Whether it is an arrival in the measured time.
    fn is_measured(&self, run: &RunState) -> bool {
        self.due.is_some_and(|due| run.clock.measured(due).is_some())
    }

    /// Whether it is an arrival that is not sent because the target requested a pause. It is counted as such.
    pub(crate) fn is_held_back(&self, run: &RunState, user: usize) -> bool {
        let held_back = self.due.is_some() && run.paused().is_some();
        if held_back && self.is_measured(run) {
            let arrivals = &mut run.figures_of(user).arrivals;
            arrivals.due += 1;
            arrivals.held_back += 1;
        }
        held_back
    }

    /// Counts the arrival. Call it when its first request is sent.
    pub(crate) fn start(&self, run: &RunState, user: usize, now: Instant) -> StartedIteration {
        let late = self.due.is_some_and(|due| now.saturating_duration_since(due) > LATE);
        let measured = self.is_measured(run);
        if measured {
            let waited_for_permit = |due| run.late_permits.delayed(self.number, due, now);
            let by_generator = late && (self.awaited || self.due.is_some_and(waited_for_permit));
            let arrivals = &mut run.figures_of(user).arrivals;
            arrivals.due += 1;
            arrivals.waited += u64::from(late && !by_generator);
            arrivals.delayed += u64::from(by_generator);
        }
        StartedIteration { at: run.clock.measured(now).unwrap_or_default(), late, measured, answered: true }
    }
}

/// An iteration whose requests are being sent.
pub(crate) struct StartedIteration {
    at: Duration,
    late: bool,
    measured: bool,
    /// Whether every request so far was answered.
    pub(crate) answered: bool,
}

impl StartedIteration {
    /// Counts the arrival as served if every request was answered. Call it after the last request.
    pub(crate) fn finish(&self, run: &RunState, user: usize) {
        if self.measured && self.answered {
            let arrivals = &mut run.figures_of(user).arrivals;
            arrivals.serve(self.at.as_secs_f64(), self.late);
        }
    }
}

/// Waits for the next iteration. `None` if there is none before `until`, or if the run ends.
pub(crate) async fn next(run: &RunState, now: Instant, until: Instant) -> Option<Iteration> {
    if run.is_over() {
        return None;
    }
    let open = matches!(run.settings.pacing, Pacing::Open(_));
    if !open && (run.is_draining() || now >= run.clock.ends()) {
        return None;
    }
    if !open && let Some(paused) = run.paused() {
        tokio::time::sleep_until(paused.min(until).into()).await;
        return None;
    }
    let Some(timetable) = run.settings.pacing.timetable() else {
        let number = run.iterations.fetch_add(1, Ordering::AcqRel);
        return Some(Iteration { number, due: None, awaited: false });
    };
    let is_stopped = || matches!(run.ended(), Some(EndReason::RequestBudget | EndReason::ThresholdBroken));
    if is_stopped() {
        return None;
    }
    let (permit, awaited) = if let Ok(permit) = run.due.try_acquire() {
        (permit, false)
    } else {
        let waited = tokio::time::timeout_at(until.into(), run.due.acquire()).await;
        (waited.ok()?.ok()?, true)
    };
    permit.forget();
    if is_stopped() {
        return None;
    }
    let number = run.iterations.fetch_add(1, Ordering::AcqRel);
    let due = timetable.current().due(number).map(|due| run.clock.start() + due);
    Some(Iteration { number, due: due.filter(|_| open), awaited })
}
