//! What a paymaster decides and computes: sponsorship, gas limits, fees, signatures (sections 3 to 6).

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) mod chain;
pub(crate) mod decimal;
pub(crate) mod gas;
pub(crate) mod methods;
pub(crate) mod policy;
pub(crate) mod signing;
pub(crate) mod tokens;

pub use {chain::*, policy::*, signing::*, tokens::*};
pub(crate) use {decimal::*, gas::*, methods::*};

/// Unix time, in seconds; 0 on a machine whose clock is before 1970.
pub fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
