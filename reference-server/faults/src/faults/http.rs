//! Faults of HTTP.

pub(super) mod excused;
pub(super) mod headers;
pub(super) mod transport;
