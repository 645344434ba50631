//! The command line: arguments, log, pages of help and exit codes.

pub(crate) mod arguments;
pub(crate) mod logging;
pub(crate) mod pages;
pub(crate) mod startup;

// The exit codes. A number means the same in every binary of the workspace.

/// Stopped by a signal, or done.
pub(crate) const STOPPED: u8 = 0;
/// The arguments or the configuration are wrong.
pub(crate) const USAGE: u8 = 2;
/// Could not serve: the address cannot be bound, or the runtime did not start.
pub(crate) const CANNOT_SERVE: u8 = 3;
