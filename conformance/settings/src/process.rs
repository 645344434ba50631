//! The runtime of a command, and the signals that end it.

use std::{fmt, io};

use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

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

/// Ctrl-C and, on Unix, SIGTERM. While it exists, neither of them ends the process, and one that nothing waits for is kept.
#[derive(Debug)]
pub struct Interrupts {
    #[cfg(unix)]
    ctrl_c: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    ctrl_c: CtrlC,
}

impl Interrupts {
    /// Call it in a runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            ctrl_c: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(windows)]
            ctrl_c: ctrl_c()?,
        })
    }

    /// Returns at the next signal, or at once if one came since the last call.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.ctrl_c.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.ctrl_c.recv().await;
    }
}
