//! The signals that end a command.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Ctrl-C and SIGTERM. While it exists, neither of them ends the process, and one that nothing waits for is kept.
#[derive(Debug)]
pub(in crate::cli) struct Interrupts {
    #[cfg(unix)]
    ctrl_c: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    ctrl_c: CtrlC,
}

impl Interrupts {
    /// Call it in a runtime, before a load.
    ///
    /// goose 0.19 sets a handler of the crate `ctrlc` when it starts. That handler replaces every other one, and it calls `exit(1)` at a
    /// Ctrl-C after goose was stopped: at the second one while requests are in flight, and at the first one after the end of the load.
    /// Then no report was written. The crate accepts one handler in a process. So an empty one is set here first: the crate then refuses
    /// that of goose and changes nothing. The handler of tokio comes later and gets every signal.
    pub(in crate::cli) fn new() -> io::Result<Self> {
        // An error is a handler that was set by an earlier call.
        let _ = ctrlc::set_handler(|| {});
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
    pub(in crate::cli) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.ctrl_c.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.ctrl_c.recv().await;
    }
}
