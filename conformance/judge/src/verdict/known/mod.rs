//! Known failures: findings that a team has listed with a reason and an expiry date. A run fails only for other findings.
//!
//! Listed rules still run and are still judged. An entry that passes, matches nothing or is expired fails the run, so that the
//! list is kept up to date. An entry names a rule and a place, never a number of failures.

mod entry;
mod list;

pub use entry::{KnownFailure, KnownFailureKind};
pub use list::{EntryOutcome, EntryState, KnownFailureList};
