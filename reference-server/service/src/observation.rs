//! What the operator sees of the requests: a line of the log for each, and metrics.

pub(crate) mod calls;
pub(crate) mod metrics;
pub(crate) mod observer;
