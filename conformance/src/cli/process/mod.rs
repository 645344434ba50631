//! What belongs to the process: standard output, the runtime, signals, and how a command fails.

pub(crate) mod error;
pub(crate) mod runtime;

pub(crate) use paymaster_cli::output;
