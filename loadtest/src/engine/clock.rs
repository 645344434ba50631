//! The times of a run: it starts with the first user, is warm, and ends.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// When things happen.
#[derive(Debug)]
pub struct Clock {
    started: OnceLock<Instant>,
    warm_up: Duration,
    length: Duration,
}

impl Clock {
    /// A clock of a run of that length, of which the first part is for warming up.
    pub fn new(warm_up: Duration, length: Duration) -> Self {
        Self {
            started: OnceLock::new(),
            warm_up,
            length,
        }
    }

    /// The start: the moment of the first call.
    pub fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// When the run started; none before.
    pub fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// How long the run has been going.
    pub fn elapsed(&self) -> Duration {
        self.started().map(|start| start.elapsed()).unwrap_or_default()
    }

    /// When nothing more is begun.
    pub fn ends(&self) -> Instant {
        self.start() + self.length
    }

    /// The time of the warm-up.
    pub fn warm_up(&self) -> Duration {
        self.warm_up
    }

    /// The whole time.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// A moment, after the first measured one; none in the warm-up.
    pub fn measured(&self, moment: Instant) -> Option<Duration> {
        moment
            .saturating_duration_since(self.start())
            .checked_sub(self.warm_up)
    }
}
