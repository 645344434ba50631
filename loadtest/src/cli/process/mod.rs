//! What a command needs of its process: runtime, signals, metrics endpoint, errors and exit codes.

pub(super) mod error;
pub(super) mod exit;
pub(super) mod metrics;
pub(super) mod runtime;
pub(super) mod signals;
