//! Running: everything between a plan and its judgements that needs a clock and a socket.

mod confirm;
mod courier;
mod forecast;
mod on_chain;
mod replay;
mod runner;
mod shelf;
mod shrink;
mod suite;
mod supply;
mod vitals;
mod worker;

pub use courier::Undelivered;
pub use on_chain::Chain;
pub use replay::replay;
pub use runner::{Outcome, check};
pub use shelf::Shelf;
pub use shrink::Simpler;
pub use suite::Suite;

use crate::events::Event;

/// Someone who is told what happens in a run.
pub trait Reporter {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);

    /// Whether it wants to be told of every exchange. When it does not, none is kept for it.
    fn wants_exchanges(&self) -> bool {
        false
    }
}

/// Several reporters, told in their order.
pub struct Together<'a>(pub Vec<&'a mut dyn Reporter>);

impl Reporter for Together<'_> {
    fn event(&mut self, event: &Event<'_>) {
        for reporter in &mut self.0 {
            reporter.event(event);
        }
    }

    fn wants_exchanges(&self) -> bool {
        self.0.iter().any(|reporter| reporter.wants_exchanges())
    }
}

/// How often the bytes of a finding are sent again.
pub(crate) const CONFIRMATIONS: usize = 3;

/// How many findings of a run are made small; the others are only sent again.
pub(crate) const SHRUNK_PER_RUN: usize = 40;
