//! The runtime of the commands that send requests or serve.

use super::error::CommandError;

/// A runtime with one worker thread for each core.
pub(in crate::cli) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::Runtime)
}
