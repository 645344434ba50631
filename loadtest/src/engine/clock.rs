//! The times of a run. It starts with the first user, warms up, measures and ends.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// The start, warm-up and length of a run.
#[derive(Debug)]
pub struct RunClock {
    started: OnceLock<Instant>,
    /// The length of the warm-up.
    pub(crate) warm_up: Duration,
    /// The length of the run, with the warm-up.
    pub(crate) length: Duration,
}

impl RunClock {
    /// A clock that is not started. `length` includes the warm-up.
    pub fn new(warm_up: Duration, length: Duration) -> Self {
        Self { started: OnceLock::new(), warm_up, length }
    }

    /// The start of the run. The first call starts it.
    pub fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// When the run started; `None` before.
    pub fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// The time from the start to `moment`; 0 before.
    pub fn since_start(&self, moment: Instant) -> Duration {
        let start = self.started();
        start.map_or(Duration::ZERO, |start| moment.saturating_duration_since(start))
    }

    /// The time since the start; 0 before.
    pub fn elapsed(&self) -> Duration {
        self.started().map(|start| start.elapsed()).unwrap_or_default()
    }

    /// When the last iteration may start.
    pub fn ends(&self) -> Instant {
        self.start() + self.length
    }

    /// The time from the end of the warm-up to `moment`; `None` in the warm-up.
    pub fn measured(&self, moment: Instant) -> Option<Duration> {
        moment.saturating_duration_since(self.start()).checked_sub(self.warm_up)
    }
}
