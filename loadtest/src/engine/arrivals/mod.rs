//! When requests are due: schedules, and the permits that follow them.

pub(crate) mod pacer;
pub mod schedule;
