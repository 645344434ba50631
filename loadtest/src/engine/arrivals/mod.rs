//! When requests are due: schedules, and the permits that follow them.

pub(crate) mod pacer;
pub(super) mod poisson;
pub mod schedule;
