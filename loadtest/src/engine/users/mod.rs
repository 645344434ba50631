//! The users that send requests.

pub(super) mod iteration;
pub(crate) mod lane;
pub(crate) mod tasks;
pub(super) mod user;
pub(super) mod user_state;
