//! The users that send requests.

pub(super) mod iteration;
pub(crate) mod tasks;
pub(super) mod user;
