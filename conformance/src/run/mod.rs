//! Running a suite against a target: sending the plan, judging the answers, confirming and shrinking the violations.

mod confirming;
mod planning;
mod replay;
mod runner;
mod sending;
mod suite;
mod survey;
mod worker;

pub(crate) use planning::forecast::Cost;
pub use planning::group_queue::PlanCache;
pub use replay::{ReplayOutcome, replay};
pub use runner::{RunOutcome, check};
pub use sending::{chain::Chain, delivery::DeliveryError};
pub use suite::Suite;
pub use survey::{Surveyed, survey};

use crate::events::Event;

/// A listener for the events of a run.
pub trait Reporter {
    /// Handles one event.
    fn event(&mut self, event: &Event<'_>);

    /// Whether [`Event::Exchanged`] is to be reported. When it is not, no exchange is kept for it.
    fn wants_exchanges(&self) -> bool {
        false
    }
}

/// Several reporters. Each event goes to all of them, in their order.
pub struct Reporters<'a>(pub Vec<&'a mut dyn Reporter>);

impl Reporter for Reporters<'_> {
    fn event(&mut self, event: &Event<'_>) {
        for reporter in &mut self.0 {
            reporter.event(event);
        }
    }

    fn wants_exchanges(&self) -> bool {
        self.0.iter().any(|reporter| reporter.wants_exchanges())
    }
}
