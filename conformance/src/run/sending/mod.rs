//! Sending groups of requests: pacing, connections, repeats after 429 and 503, overload, whether the target still answers, and the chain on
//! which answers are simulated.

pub(crate) mod chain;
pub(crate) mod comparison;
pub(crate) mod delivery;
mod excuse;
pub(crate) mod liveness;
pub(crate) mod own_words;
pub(crate) mod sender;
mod slots;
pub(crate) mod sponsorships;
#[cfg(test)]
mod tests;

use excuse::{Excuse, Limit, errors};
use slots::Slots;
pub(crate) use {
    chain::*, comparison::*, delivery::*, liveness::*, own_words::*, sender::*, sponsorships::*,
};
