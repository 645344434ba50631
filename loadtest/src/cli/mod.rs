//! The command line of `paymaster-loadtest`: arguments, environment, output and exit codes.

mod args;
mod command_line;
mod commands;
mod help;
mod process;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, error::ErrorKind};
use paymaster_cli::{exit as codes, output as out, suggestion::mistyped_command};

use self::{
    args::{Cli, Command},
    process::error::CommandError,
};

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    if let Some(message) = mistyped_command(&Cli::command(), std::env::args_os().nth(1)) {
        out::error(&message);
        return ExitCode::from(codes::USAGE);
    }
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
        let prefix = if code == codes::COULD_NOT_TEST { "could not test: " } else { "" };
        out::error(&format!("{prefix}{error}"));
        code
    });
    ExitCode::from(code)
}

fn execute(cli: Cli) -> Result<u8, CommandError> {
    match cli.command {
        None => commands::load::run(&cli.load),
        Some(Command::Run(args)) => commands::load::run(&args),
        Some(Command::Scenarios) => {
            out::print(&format!("{}\n", help::scenarios()))?;
            Ok(codes::CONFORMS)
        }
        Some(Command::Merge(args)) => commands::reports::merge(&args),
        Some(Command::Worker(args)) => commands::worker::run(&args),
        Some(Command::Locustfile(args)) => commands::worker::locustfile(&args),
        Some(Command::Compare(args)) => commands::reports::compare(&args),
        Some(Command::Completions { shell }) => commands::pages::completions(shell),
        Some(Command::Man { folder }) => commands::pages::man(&folder),
        Some(Command::EmbeddedServer(deviations)) => {
            process::runtime::runtime()?.block_on(commands::embedded::serve(&deviations))?;
            Ok(codes::CONFORMS)
        }
    }
}
