//! The command line of `paymaster-loadtest`: arguments, environment, output and exit codes.

mod args;
mod command_line;
mod embedded;
mod error;
mod exit;
mod help;
mod load;
mod metrics;
mod pages;
mod reports;
mod runtime;
mod signals;
mod worker;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};
use paymaster_cli::{exit as codes, output as out};

use self::{
    args::{Cli, Command},
    error::CommandError,
};

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(cause) => {
            // A message that cannot be written is dropped.
            let _ = cause.print();
            let requested = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if requested { codes::CONFORMS } else { codes::USAGE });
        }
    };
    let code = execute(cli).unwrap_or_else(|error| {
        let code = error.exit_code();
        let prefix = if code == codes::COULD_NOT_TEST {
            "could not test: "
        } else {
            ""
        };
        out::error(&format!("{prefix}{error}"));
        code
    });
    ExitCode::from(code)
}

fn execute(cli: Cli) -> Result<u8, CommandError> {
    match cli.command {
        None => load::run(&cli.load),
        Some(Command::Run(args)) => load::run(&args),
        Some(Command::Scenarios) => {
            out::print(&format!("{}\n", help::scenarios()))?;
            Ok(codes::CONFORMS)
        }
        Some(Command::Merge(args)) => reports::merge(&args),
        Some(Command::Worker(args)) => worker::run(&args),
        Some(Command::Locustfile(args)) => worker::locustfile(&args),
        Some(Command::Compare(args)) => reports::compare(&args),
        Some(Command::Completions { shell }) => pages::completions(shell),
        Some(Command::Man { folder }) => pages::man(&folder),
        Some(Command::EmbeddedServer(deviations)) => {
            runtime::runtime()?.block_on(embedded::serve(&deviations))?;
            Ok(codes::CONFORMS)
        }
    }
}
