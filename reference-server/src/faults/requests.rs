//! Faults in the reading of requests, and in the decision about them.

pub(super) mod caches;
pub(super) mod client_forms;
pub(super) mod decision;
pub(super) mod letter_case;
pub(super) mod methods;
pub(super) mod notation;
pub(super) mod operations;
pub(super) mod refusals;
pub(super) mod tokens;
