//! The commands, one file each. Each reads its arguments, does its work and returns the exit code.

mod check;
mod compare;
mod documentation;
mod init;
mod judge;
mod matrix;
mod proxy;
mod replay;
mod selftest;

use crate::cli::{Cli, Command, CommandError};
use paymaster_settings::{Environment, command_line};

/// Runs a command; returns the exit code.
pub(super) fn run(cli: &Cli, environment: &Environment) -> Result<u8, CommandError> {
    match &cli.command {
        None => check::run(&cli.check, environment),
        Some(Command::Check(args)) => check::run(args, environment),
        Some(Command::Rules { json }) => documentation::rules(*json),
        Some(Command::Explain { rule }) => documentation::explain(rule),
        Some(Command::Compare(args)) => compare::run(args, environment),
        Some(Command::Matrix(args)) => matrix::run(args),
        Some(Command::Selftest(args)) => selftest::run(args),
        Some(Command::Proxy(args)) => proxy::run(args, environment),
        Some(Command::Judge(args)) => judge::run(args, environment),
        Some(Command::Completions { shell }) => Ok(command_line::completions::<Cli>(*shell)?),
        Some(Command::Man { folder }) => Ok(command_line::man::<Cli>(folder)?),
        Some(Command::Init(args)) => init::run(args, environment),
        Some(Command::Replay(args)) => replay::run(args, environment),
    }
}
