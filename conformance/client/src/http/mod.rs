//! HTTP: connections, exchanges with their limits, and content codings.

pub(crate) mod coding;
pub(crate) mod connection;
pub(crate) mod tap;
pub mod transport;

pub use transport::*;
pub(crate) use {connection::*, tap::*};

/// How many header lines of a response are read at most.
pub(crate) const MAX_HEADERS: usize = 128;
/// How many bytes of the head of a response are read at most.
pub(crate) const MAX_HEAD: usize = 32 * 1024;
