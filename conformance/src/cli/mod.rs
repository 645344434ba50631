//! The command line of `paymaster-conformance`: arguments, environment, files, exit codes.

mod args;
mod commands;
mod docs;
mod examples;
mod explain;
mod filter;
mod known;
mod on_chain;
mod process;
mod reports;
mod traffic;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};

use args::{Cli, Command};
use commands::{check, compare, init, judge, matrix, pages, proxy, replay, rules, selftest};
use paymaster_cli::environment::Environment;
use paymaster_cli::exit;
use paymaster_cli::output;

/// Reads the command line of this process and runs its command.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::of_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(cause) => {
            // Where this cannot be printed, there is no other place to report it.
            let _ = cause.print();
            let help = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if help { exit::CONFORMS } else { exit::USAGE });
        }
    };
    let result = match cli.command {
        None => check::run(&cli.check, &environment),
        Some(Command::Check(args)) => check::run(&args, &environment),
        Some(Command::Rules(args)) => rules::run(&args),
        Some(Command::Explain { rule }) => explain::run(&rule),
        Some(Command::Compare(args)) => compare::run(&args, &environment),
        Some(Command::Matrix(args)) => matrix::run(&args),
        Some(Command::Selftest(args)) => selftest::run(&args),
        Some(Command::Proxy(args)) => proxy::run(&args, &environment),
        Some(Command::Judge(args)) => judge::run(&args, &environment),
        Some(Command::Completions { shell }) => pages::completions(shell),
        Some(Command::Man { folder }) => pages::man(&folder),
        Some(Command::Docs { folder }) => docs::run(&folder),
        Some(Command::Init(args)) => init::run(&args, &environment),
        Some(Command::Replay(args)) => replay::run(&args, &environment),
    };
    ExitCode::from(result.unwrap_or_else(|error| {
        output::error(&error.message);
        error.code
    }))
}
