//! The signals that end the server: Ctrl-C, and SIGTERM on Unix or Ctrl-Break on Windows.

use std::{future::Future, io};

/// Waits for a signal. The handlers are installed at once, so that a signal before the first poll is not lost.
pub(crate) fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let (mut interrupt, mut terminate) = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    #[cfg(windows)]
    let (mut interrupt, mut terminate) =
        (tokio::signal::windows::ctrl_c()?, tokio::signal::windows::ctrl_break()?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
