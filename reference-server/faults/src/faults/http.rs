//! Faults of HTTP.

pub(super) mod excused;
pub(super) mod headers;
pub(super) mod overload;
pub(super) mod transport;
