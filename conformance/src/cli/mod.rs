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

use paymaster_settings::{Environment, command_line};

/// Reads the command line of this process and runs its command.
pub(crate) fn main() -> ExitCode {
    command_line::main(|cli: Cli| commands::run(&cli, &Environment::of_process()))
}
