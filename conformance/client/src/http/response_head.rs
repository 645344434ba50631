//! The limits on the head of a response.

/// How many header lines are read at most.
pub(crate) const MAX_HEADERS: usize = 128;

/// How many bytes are read at most.
pub(crate) const MAX_HEAD: usize = 32 * 1024;
