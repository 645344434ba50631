//! The command line of `paymaster-loadtest`: the edge, where arguments, environment and exit codes live.

mod args;
pub mod exit;
mod load;
mod reports;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};
use paymaster_cli::exit as codes;
pub(crate) use paymaster_cli::output as out;

use args::{Cli, Command};

use crate::{
    embedded, report,
    run::Problem,
    scenarios::{MIXED, SCENARIOS},
};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(cause) => {
            // Broken pipes included: there is nobody left to tell.
            let _ = cause.print();
            let asked = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { codes::CONFORMS } else { codes::USAGE });
        }
    };
    let done = match cli.command {
        None => load::run(&cli.load),
        Some(Command::Run(args)) => load::run(&args),
        Some(Command::Scenarios) => out::print(&format!("{}\n", scenarios()))
            .map(|()| codes::CONFORMS)
            .map_err(|cause| Problem::Usage(cause.to_string())),
        Some(Command::Merge(args)) => reports::merge(&args).map_err(Problem::Usage),
        Some(Command::Compare(args)) => reports::compare(&args).map_err(Problem::Usage),
        Some(Command::EmbeddedServer(deviations)) => serve(&deviations).map_err(Problem::Usage),
    };
    let code = done.unwrap_or_else(|problem| match problem {
        Problem::Usage(cause) => {
            out::error(&cause);
            codes::USAGE
        }
        Problem::CouldNotTest(cause) => {
            out::error(&format!("could not test: {cause}"));
            codes::COULD_NOT_TEST
        }
    });
    ExitCode::from(code)
}

fn serve(deviations: &embedded::Deviations) -> Result<u8, String> {
    load::runtime()?.block_on(embedded::serve(deviations))?;
    Ok(codes::CONFORMS)
}

/// The scenarios as text.
fn scenarios() -> String {
    let rows = SCENARIOS.iter().map(|scenario| {
        format!(
            "  {:<18} {} (weight {})",
            scenario.id, scenario.about, scenario.weight
        )
    });
    let all = format!("  {MIXED:<18} all of them, by their weights");
    rows.chain([all]).collect::<Vec<_>>().join("\n")
}

fn long_help() -> String {
    let formats: Vec<_> = report::FORMATS
        .iter()
        .map(|format| format!("  .{:<17} {}", format.endings[0], format.about))
        .collect();
    format!(
        "Scenarios:\n{}\n\nReports:\n{}\n\n{}\n\nThe profile (paymaster.toml) and PAYMASTER_URL, PAYMASTER_CONFIG, PAYMASTER_HEADERS, PAYMASTER_SEED and PAYMASTER_TIMEOUT of the environment are those of paymaster-conformance; [load] in the profile is for this program.\n\n{}",
        scenarios(),
        formats.join("\n"),
        args::metrics(),
        exit::help()
    )
}
