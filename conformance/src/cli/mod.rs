//! The command line of `paymaster-conformance`: arguments, environment, files, exit codes.

mod args;
mod commands;
mod examples;
mod filter;
mod known;
mod on_chain;
mod process;
mod reports;
mod traffic;

use std::process::ExitCode;

use args::Cli;
use clap::{CommandFactory, Parser, error::ErrorKind};

use paymaster_settings::{Environment, exit, output, suggestion::mistyped_command};

/// Reads the command line of this process and runs its command.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::of_process();
    if let Some(message) = mistyped_command(&Cli::command(), std::env::args_os().nth(1)) {
        output::error(&message);
        return ExitCode::from(exit::USAGE);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(cause) => {
            // Where this cannot be printed, there is no other place to report it.
            let _ = cause.print();
            let help = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if help { exit::CONFORMS } else { exit::USAGE });
        }
    };
    let result = commands::run(&cli, &environment);
    ExitCode::from(result.unwrap_or_else(|error| {
        output::error(&error.message);
        error.code
    }))
}
