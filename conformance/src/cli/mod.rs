//! The command line of `paymaster-conformance`: arguments, environment, files, exit codes.
//! What its commands share: errors, the asynchronous runtime, and the signals that end a run early.

mod args;
mod commands;
mod examples;
mod filter;
mod known;
mod reports;
mod traffic;

pub(crate) use {args::*, known::*, reports::*, traffic::*};

use std::{io, path::Path, process::ExitCode};

use paymaster_client::stop::{Reason, Stop};
pub(crate) use paymaster_settings::process::CommandError;
use paymaster_settings::process::{self, Interrupts};
use paymaster_settings::{Environment, command_line, exit, output};

/// Reads the command line of this process and runs its command.
pub(crate) fn main() -> ExitCode {
    command_line::main(|cli: Cli| commands::run(&cli, &Environment::of_process()))
}

/// Prints the text of a command that judges nothing; returns its exit code.
fn printed(text: &str) -> Result<u8, CommandError> {
    output::print(text)?;
    Ok(exit::CONFORMS)
}

/// Adds a path to an error of the file system.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> String {
    move |cause| format!("{}: {cause}", path.display())
}

/// Runs a future to its end, with one worker for each core. Blocking calls that still run then, such as a name lookup, are not waited for.
pub(crate) fn block_on<T, E: Into<CommandError>>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, CommandError> {
    let runtime = process::runtime().map_err(|cause| format!("the runtime: {cause}"))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result.map_err(Into::into)
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
