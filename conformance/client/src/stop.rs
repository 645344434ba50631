//! The one signal that ends a run early, and why it was given.

use std::sync::Arc;

use tokio::sync::watch;

/// Why a run ended before its plan did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The user asked for it.
    Interrupted,
    /// The total time is over.
    TimeLimit,
    /// The request budget is spent.
    Budget,
    /// The target limits how many requests it takes, and the next one would come too late. What was judged until then stands.
    Limited(String),
    /// The target cannot be tested, or no longer.
    GaveUp(String),
}

/// Ends a run from anywhere; the first reason counts.
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

    /// Why the run was ended; none while it goes on.
    pub fn reason(&self) -> Option<Reason> {
        self.0.borrow().clone()
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
    }
}
