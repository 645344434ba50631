//! HTTP: connections, exchanges with their limits, and content codings.

pub(crate) mod coding;
pub(crate) mod connection;
pub(crate) mod response_head;
pub(crate) mod tap;
pub mod transport;
