//! What a user keeps between two slices of its work.

use std::time::{Duration, Instant};

use paymaster_client::lean::LeanConnection;
use paymaster_exchange::{Exchange, Failure};

/// The pause after a user's first failed connection. It doubles with each further failure in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause after failed connections.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The connection of a user, and when it may connect again.
#[derive(Default)]
pub(crate) struct UserState {
    pub(in crate::engine) connection: LeanConnection,
    pub(in crate::engine) back_off: BackOff,
}

/// When a user may connect again.
#[derive(Debug, Default)]
pub(in crate::engine) struct BackOff {
    /// Failed connections in a row.
    failed: u32,
    /// The end of the pause after a failed connection.
    pub(in crate::engine) paused_until: Option<Instant>,
}

impl BackOff {
    /// Clears the pause after a response.
    pub(in crate::engine) fn reset(&mut self) {
        (self.failed, self.paused_until) = (0, None);
    }

    /// Sets the pause after a failed connection, or clears it after any other exchange.
    pub(in crate::engine) fn note(&mut self, exchange: &Exchange) {
        if let Err(Failure::Connect(_) | Failure::Broken(_)) = &exchange.outcome {
            let pause = FIRST_PAUSE.saturating_mul(1 << self.failed.min(10)).min(LONGEST_PAUSE);
            self.failed += 1;
            self.paused_until = Some(Instant::now() + pause);
        } else {
            self.reset();
        }
    }
}

impl std::fmt::Debug for UserState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserState").field("back_off", &self.back_off).finish_non_exhaustive()
    }
}
