//! How a command fails.

use std::fmt;

use paymaster_cli::exit;

/// Ends a command: the message goes to standard error, and the process ends with the exit code.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// One of the codes of [`exit::TABLE`].
    pub(crate) code: u8,
    /// A lowercase fragment that reads well after `error: `.
    pub(crate) message: String,
}

impl CommandError {
    /// The target could not be tested.
    pub(crate) fn could_not_test(message: impl fmt::Display) -> Self {
        Self {
            code: exit::COULD_NOT_TEST,
            message: message.to_string(),
        }
    }
}

/// Every other error is one of usage, configuration or files.
impl<E: fmt::Display> From<E> for CommandError {
    fn from(cause: E) -> Self {
        Self {
            code: exit::USAGE,
            message: cause.to_string(),
        }
    }
}

/// Adds a path to an error of the file system.
pub(crate) fn at(path: &std::path::Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |cause| format!("{}: {cause}", path.display())
}
