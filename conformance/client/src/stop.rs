//! The signal that ends a run early, with its reason.

use std::sync::Arc;

use tokio::sync::watch;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The user interrupted the run.
    Interrupted,
    /// The time limit of the run passed.
    TimeLimit,
    /// The request budget is used up.
    Budget,
    /// The target has a rate limit, and its next response would come after the time limit. The verdicts until then stand.
    Limited(String),
    /// The target cannot be tested, or can no longer be tested.
    GaveUp(String),
}

/// Ends a run from any task. The first reason counts.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<Option<Reason>>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Stop {
    /// Ends the run.
    pub fn trigger(&self, reason: Reason) {
        self.0.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                *current = Some(reason);
            }
            first
        });
    }

    /// Why the run was ended; none while it continues.
    pub fn reason(&self) -> Option<Reason> {
        self.0.borrow().clone()
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
    }
}
