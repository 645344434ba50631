//! How a command fails.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

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
        Self { code: exit::COULD_NOT_TEST, message: message.to_string() }
    }
}

/// Every other error is one of usage, configuration or files.
impl<E: fmt::Display> From<E> for CommandError {
    fn from(cause: E) -> Self {
        Self { code: exit::USAGE, message: cause.to_string() }
    }
}

/// An error of the file system, with its path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(crate) struct PathError {
    path: PathBuf,
    source: io::Error,
}

/// Adds a path to an error of the file system.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> PathError + '_ {
    move |source| PathError { path: path.to_owned(), source }
}
