//! The runtime of a command, its errors, and the signals that end it.

use std::{fmt, io};

pub use paymaster_client::stop::Interrupts;
use tokio::runtime::{Builder, Runtime};

use crate::exit;

/// Ends a command: the message goes to standard error, and the process ends with the exit code.
#[derive(Debug)]
pub struct CommandError {
    /// One of the codes of [`exit::TABLE`].
    pub code: u8,
    /// A lowercase fragment that reads well after `error: `.
    pub message: String,
}

impl CommandError {
    /// The target could not be tested.
    pub fn could_not_test(message: impl fmt::Display) -> Self {
        Self { code: exit::COULD_NOT_TEST, message: message.to_string() }
    }
}

/// Every other error is one of usage, configuration or files.
impl<E: fmt::Display> From<E> for CommandError {
    fn from(cause: E) -> Self {
        Self { code: exit::USAGE, message: cause.to_string() }
    }
}

/// A multi-threaded runtime with one worker for each core.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}
