//! The commands, one file each. Each reads its arguments, does its work and returns the exit code.

mod check;
mod compare;
mod docs;
mod dry_run;
mod explain;
mod init;
mod judge;
mod matrix;
mod pages;
mod proxy;
mod replay;
mod rules;
mod selftest;

use paymaster_cli::environment::Environment;

use crate::cli::{
    args::{Cli, Command},
    process::error::CommandError,
};

/// Runs a command; returns the exit code.
pub(super) fn run(cli: &Cli, environment: &Environment) -> Result<u8, CommandError> {
    match &cli.command {
        None => check::run(&cli.check, environment),
        Some(Command::Check(args)) => check::run(args, environment),
        Some(Command::Rules(args)) => rules::run(args),
        Some(Command::Explain { rule }) => explain::run(rule),
        Some(Command::Compare(args)) => compare::run(args, environment),
        Some(Command::Matrix(args)) => matrix::run(args),
        Some(Command::Selftest(args)) => selftest::run(args),
        Some(Command::Proxy(args)) => proxy::run(args, environment),
        Some(Command::Judge(args)) => judge::run(args, environment),
        Some(Command::Completions { shell }) => pages::completions(*shell),
        Some(Command::Man { folder }) => pages::man(folder),
        Some(Command::Docs { folder }) => docs::run(folder),
        Some(Command::Init(args)) => init::run(args, environment),
        Some(Command::Replay(args)) => replay::run(args, environment),
    }
}
