//! The asynchronous runtime of a command, and the signals that end a run early.

use std::io;

use paymaster_cli::process::{self, Interrupts};
use paymaster_client::stop::{Reason, Stop};

/// A multi-threaded runtime that runs one future.
pub(crate) struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// Starts a runtime with one worker for each core.
    pub(crate) fn start() -> io::Result<Self> {
        process::runtime()
            .map(Self)
            .map_err(|cause| io::Error::new(cause.kind(), format!("the runtime: {cause}")))
    }

    /// Runs the future to its end. Blocking calls that still run, such as a name lookup, are not waited for.
    pub(crate) fn block_on<T>(self, work: impl Future<Output = T>) -> T {
        let output = self.0.block_on(work);
        self.0.shutdown_background();
        output
    }
}

/// A signal that ends the run at Ctrl-C or SIGTERM: exchanges under way are dropped, and the report follows.
pub(crate) fn stop_at_interrupt() -> Stop {
    let stop = Stop::default();
    let triggered = stop.clone();
    tokio::spawn(async move {
        // Without handlers, a signal ends the process.
        if let Ok(mut interrupts) = Interrupts::new() {
            interrupts.next().await;
            triggered.trigger(Reason::Interrupted);
        }
    });
    stop
}
