//! Running: everything between a plan and its judgements that needs a clock and a socket.

mod confirm;
mod connection;
mod courier;
mod dial;
mod embedded;
mod forecast;
pub mod http_proxy;
mod on_chain;
mod pace;
mod retry_after;
mod runner;
mod share;
mod shelf;
mod shrink;
mod single;
mod stop;
mod stream;
mod suite;
mod supply;
pub(crate) mod symptoms;
mod target;
mod tls;
mod transport;
mod vitals;
mod wire;
mod worker;

pub use courier::Undelivered;
pub use dial::{Dialled, Dialler, Protocol};
pub use embedded::{Embedded, profile_of};
pub use http_proxy::Proxies;
pub use on_chain::Chain;
pub use retry_after::pause;
pub use runner::{Outcome, check};
pub use shelf::Shelf;
pub use shrink::Simpler;
pub use single::{Replayed, once};
pub use stop::{Reason, Stop};
pub use stream::Stream;
pub use suite::Suite;
pub use target::{BadUrl, Target};
pub use tls::Trust;
pub use transport::{Limits, Line, Transport};

use std::time::Duration;

use crate::{events::Event, profile::Profile, tally::Strictness};

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

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the target is asked.
    pub transport: Transport,
    /// The target as it may stand in reports.
    pub shown_target: String,
    /// What the user says of the target.
    pub profile: Profile,
    /// The seed: the same one gives the same cases.
    pub seed: u64,
    /// How many requests of each pair are sent at least.
    pub cases: u32,
    /// How many exchanges run at the same time.
    pub jobs: usize,
    /// At most that many requests a second.
    pub rate: Option<f64>,
    /// At most that many requests in all.
    pub max_requests: Option<usize>,
    /// The run is over after that long.
    pub time_limit: Duration,
    /// At most that many requests to make one failure small; 0 leaves it as it was found.
    pub shrink_requests: u32,
    /// Whether findings are sent again and made small. Without, a run tells which rules were broken, and no more.
    pub closer_look: bool,
    /// How strictly the run is concluded.
    pub strictness: Strictness,
}

/// How often the bytes of a finding are sent again.
pub(crate) const CONFIRMATIONS: usize = 3;

/// How many findings of a run are made small; the others are only sent again.
pub(crate) const SHRUNK_PER_RUN: usize = 40;
