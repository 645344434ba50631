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

use paymaster_settings::{Environment, command_line, output};

/// Reads the command line of this process and runs its command.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::of_process();
    let cli: Cli = match command_line::parse() {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    let result = commands::run(&cli, &environment);
    ExitCode::from(result.unwrap_or_else(|error| {
        output::error(&error.message);
        error.code
    }))
}
