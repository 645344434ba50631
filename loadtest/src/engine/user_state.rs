//! What a user keeps between two slices of its work.

use std::time::{Duration, Instant};

use paymaster_client::transport::PooledConnection;
use paymaster_exchange::{Exchange, Failure};

/// The pause after a user's first failed connection. It doubles with each further failure in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause after failed connections.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The connection of a user, and when it may connect again.
#[derive(Default)]
pub(crate) struct UserState {
    pub(super) connection: PooledConnection,
    /// A buffer for normalized answers, kept to be reused.
    pub(super) scratch: Vec<u8>,
    /// Failed connections in a row.
    failed: u32,
    /// The end of the pause after a failed connection.
    pub(super) paused_until: Option<Instant>,
}

impl UserState {
    /// Sets the pause after a failed connection, or clears it after any other exchange.
    pub(super) fn back_off(&mut self, exchange: &Exchange) {
        if let Err(Failure::Connect(_) | Failure::Broken(_)) = &exchange.outcome {
            let pause = FIRST_PAUSE
                .saturating_mul(1 << self.failed.min(10))
                .min(LONGEST_PAUSE);
            self.failed += 1;
            self.paused_until = Some(Instant::now() + pause);
        } else {
            (self.failed, self.paused_until) = (0, None);
        }
    }
}

impl std::fmt::Debug for UserState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserState")
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
