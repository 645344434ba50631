//! Faults of HTTP.

pub(super) mod headers;
pub(super) mod overload;
pub(super) mod transport;
