//! The clock of the process.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time, in seconds; 0 on a machine whose clock is before 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
