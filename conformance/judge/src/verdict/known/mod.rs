//! Known failures: findings that a team has seen, explained and dated, so that a run fails only for what is new.
//!
//! What is known still runs and is still judged. An entry that passes, one that matches nothing and one past its expiry fail
//! the run, so that the list cannot outlive what it excuses. There is no threshold on counts: an entry names a rule and a place.

mod entry;
mod standing;

pub use entry::{Entry, Kind};
pub use standing::{Known, Outcome, Standing};
