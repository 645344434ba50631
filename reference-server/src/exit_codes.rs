//! The exit codes of the binary; the same numbers mean the same in every binary of the workspace.

/// Stopped as asked.
pub(crate) const STOPPED: u8 = 0;
/// The arguments or the configuration are wrong.
pub(crate) const USAGE: u8 = 2;
/// Could not serve: the address is taken or not ours, or the runtime did not start.
pub(crate) const CANNOT_SERVE: u8 = 3;
