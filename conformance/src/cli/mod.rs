//! The command line of `paymaster-conformance`: the edge, where environment, arguments and exit codes live, one file each.

mod args;
mod check;
mod compare;
mod docs;
mod dry_run;
mod examples;
mod explain;
mod filter;
mod init;
mod judge;
mod known;
mod matrix;
mod on_chain;
mod pages;
mod proxy;
mod recording;
mod replay;
mod reports;
mod rules;
mod selftest;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};

use args::{Cli, Command};
use paymaster_cli::environment::Environment;
use paymaster_cli::{exit, output as out};

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::of_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(cause) => {
            // Broken pipes included: there is nobody left to tell.
            let _ = cause.print();
            let asked = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { exit::CONFORMS } else { exit::USAGE });
        }
    };
    let done = match cli.command {
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
        Some(Command::Init { path }) => init::run(&path),
        Some(Command::Replay(args)) => replay::run(&args, &environment),
    };
    ExitCode::from(done.unwrap_or_else(|cause| {
        out::error(&cause);
        exit::USAGE
    }))
}
