//! The signal that ends a run early, with its reason, and those that end a process.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::{Signal as CtrlC, Signal as Terminate, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlBreak as Terminate, CtrlC, ctrl_break, ctrl_c};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
    /// This time limit of the run passed.
    #[error("the time limit of {} s was reached", .0.as_secs())]
    TimeLimit(Duration),
    /// The budget of this many requests is used up.
    #[error("the budget of {0} requests was spent")]
    Budget(usize),
    /// A violation was seen again, and the run was to end at the first one.
    #[error("--fail-fast ends the run at the first violation that is seen again")]
    FirstViolation,
    /// The target has a rate limit, and its next response would come after the time limit. The verdicts until then stand.
    #[error("{0}")]
    Limited(String),
    /// The target cannot be tested, or can no longer be tested.
    #[error("{0}")]
    GaveUp(String),
}

/// Ends a run from any task. The first reason counts.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    reason: Arc<OnceLock<Reason>>,
    token: CancellationToken,
    /// The signals that end this run too, from the nearest on.
    parent: Option<Arc<Stop>>,
}

impl Stop {
    /// A signal for a part of the run: it is given when this one is, and can be given alone.
    #[must_use]
    pub fn for_part(&self) -> Self {
        Self { reason: Arc::default(), token: self.token.child_token(), parent: Some(Arc::new(self.clone())) }
    }

    /// Ends the run.
    pub fn trigger(&self, reason: Reason) {
        if self.reason.set(reason).is_ok() {
            self.token.cancel();
        }
    }

    /// Ends the run after this time, unless the task is aborted before.
    pub fn trigger_after(&self, limit: Duration) -> JoinHandle<()> {
        let stop = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            stop.trigger(Reason::TimeLimit(limit));
        })
    }

    /// Why the run was ended; none while it continues.
    pub fn reason(&self) -> Option<Reason> {
        self.reason.get().cloned().or_else(|| self.parent.as_ref()?.reason())
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        self.token.cancelled().await;
    }

    /// Awaits `work`; none where the run is ended first.
    pub async fn or_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stopped() => None,
            output = work => Some(output),
        }
    }
}

/// Ctrl-C, and SIGTERM on Unix or Ctrl-Break on Windows. While it exists, neither of them ends the process, and one that nothing waits for
/// is kept.
#[derive(Debug)]
pub struct Interrupts {
    ctrl_c: CtrlC,
    terminate: Terminate,
}

impl Interrupts {
    /// Call it in a runtime.
    pub fn new() -> io::Result<Self> {
        #[cfg(unix)]
        let (ctrl_c, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        #[cfg(windows)]
        let (ctrl_c, terminate) = (ctrl_c()?, ctrl_break()?);
        Ok(Self { ctrl_c, terminate })
    }

    /// Returns at the next signal, or at once if one came since the last call.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.ctrl_c.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_the_whole_ends_its_parts_and_not_the_other_way_round() {
        let whole = Stop::default();
        let (first, second) = (whole.for_part(), whole.for_part());
        first.trigger(Reason::FirstViolation);
        assert_eq!(first.reason(), Some(Reason::FirstViolation));
        first.stopped().await;
        assert_eq!((second.reason(), whole.reason()), (None, None));
        whole.trigger(Reason::Interrupted);
        assert_eq!(second.reason(), Some(Reason::Interrupted));
        second.stopped().await;
        assert_eq!(first.reason(), Some(Reason::FirstViolation));
    }
}
