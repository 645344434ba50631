//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use paymaster_settings::exit;

use crate::cli::MetricsArgs;
use crate::cli::commands::embedded::DeviationArgs;
use crate::cli::commands::worker::{LocustfileArgs, WorkerArgs};
use crate::report::{self, Extent, ReportFormat};
use crate::results::{Threshold, Tolerance, metric_names};
use crate::run::RunOptions;
use crate::scenarios::{self, MIXED};

/// The exit codes of every program, as the help describes them for a load test.
const EXIT_CODES: &[(u8, &str)] = &[
    (exit::CONFORMS, "every threshold was met, and no judged answer was wrong"),
    (
        exit::VIOLATIONS,
        "a threshold was missed (wrong-rate<=0%, error-rate<1% and, with --rate, reached-rate>=95% are the defaults), or a figure became worse (--compare)",
    ),
    (exit::USAGE, "wrong usage or configuration, or a report that could not be written"),
    (
        exit::COULD_NOT_TEST,
        "could not test: the target does not answer, nothing was measured, or the target stopped answering",
    ),
    (
        exit::INCOMPLETE,
        "incomplete: nothing failed, but the run was cut short, the generator was too slow for --rate, or the run is too short for a comparison",
    ),
];

/// Load tests a paymaster JSON-RPC service (ERC-4337) and judges its answers: a fast answer that breaks a rule counts as a failure.
///
/// Without a URL, it starts an embedded reference server in another process and loads that.
#[derive(Debug, Parser)]
#[command(
    name = "paymaster-loadtest",
    version,
    long_version = paymaster_version::BUILD,
    args_conflicts_with_subcommands = true
)]
#[command(after_help = exit::help(EXIT_CODES), after_long_help = long_help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load the paymaster at a URL (the default command).
    Run(Box<LoadArgs>),
    /// List the scenarios.
    Scenarios,
    /// Be a worker of a Locust master, which distributes a run over machines.
    Worker(Box<WorkerArgs>),
    /// Write the locustfile of the master.
    Locustfile(LocustfileArgs),
    /// Merge JSON reports of several machines and judge them as one run.
    Merge(MergeArgs),
    /// Compare a JSON report with an earlier one, with respect to noise.
    Compare(CompareArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a man page for each command into a folder.
    #[command(hide = true)]
    Man {
        /// The folder; it is created where it is missing.
        folder: PathBuf,
    },
    /// Serve the reference server, for a run without a URL.
    #[command(hide = true, name = crate::cli::commands::embedded::SUBCOMMAND)]
    EmbeddedServer(DeviationArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The paymaster URL, for example http://127.0.0.1:3000/rpc.
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// Write a report. Its format is its ending (.json, .html, .md, .xml, .csv) or named: json, html, markdown, junit, csv. PATH may be
    /// `-` for standard output; missing folders are made. Repeatable.
    #[arg(short = 'o', long = "report", value_name = "[FORMAT=]PATH", help_heading = "Reports")]
    pub(crate) reports: Vec<String>,
    #[command(flatten, next_help_heading = "Reports")]
    pub(crate) extent: Extent,
    #[command(flatten, next_help_heading = "Reports")]
    pub(crate) metrics: MetricsArgs,
    /// Serve the live dashboard of goose on this port of 127.0.0.1 [default port: 5118].
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "5118", require_equals = true, help_heading = "Reports")]
    pub(crate) dashboard: Option<u16>,
    /// Also write the report of goose: .html, .md or .json. Repeatable.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) goose_report: Vec<PathBuf>,
    /// An earlier JSON report of goose, with which its report compares.
    #[arg(long, value_name = "FILE", requires = "goose_report", help_heading = "Reports")]
    pub(crate) goose_baseline: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) deviations: DeviationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// JSON reports of runs that took place at the same time.
    #[arg(required_unless_present_any = ["check", "files_from"])]
    pub(crate) files: Vec<PathBuf>,
    /// A file with the paths of further reports, one a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// A worker that took part and sent no figures. The run is then incomplete. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) missing: Vec<String>,
    /// The command line of the run for the reports, without secrets [default: this one].
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
    /// Only check the thresholds and the names of the reports to write.
    #[arg(long)]
    pub(crate) check: bool,
    /// A threshold, instead of those of the runs. Repeatable.
    #[arg(short, long = "threshold", value_name = "RULE")]
    pub(crate) thresholds: Vec<Threshold>,
    /// Write a report. Its format is its ending (.json, .html, .md, .xml, .csv) or named: json, html, markdown, junit, csv. PATH may be
    /// `-` for standard output; missing folders are made. Repeatable.
    #[arg(short = 'o', long = "report", value_name = "[FORMAT=]PATH")]
    pub(crate) reports: Vec<String>,
    #[command(flatten)]
    pub(crate) extent: Extent,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The earlier JSON report.
    pub(crate) before: PathBuf,
    /// The later JSON report.
    pub(crate) after: PathBuf,
    /// Write the comparison to this page too; with the ending `.md` in Markdown.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,
}

/// The list of scenarios.
pub(super) fn scenario_list() -> String {
    let rows = scenarios::scenarios()
        .map(|scenario| format!("  {:<18} {} (weight {})", scenario.id, scenario.about, scenario.weight));
    let all = format!("  {MIXED:<18} all of them, by their weights");
    rows.chain([all]).collect::<Vec<_>>().join("\n")
}

/// The end of the long help.
fn long_help() -> String {
    let row = |format: &ReportFormat| format!("  .{:<17} {}", format.names.endings[0], format.about);
    let formats: Vec<_> = report::FORMATS.iter().map(row).collect();
    format!(
        "Scenarios:\n{}\n\nReports:\n{}\n\nMetrics of thresholds: pNN, {}.\n\nThe profile (paymaster.toml) and the variables PAYMASTER_URL, PAYMASTER_CONFIG, PAYMASTER_HEADERS, PAYMASTER_SEED and PAYMASTER_TIMEOUT are the same as for paymaster-conformance. The table [load] of the profile is for this program.\n\n{}",
        scenario_list(),
        formats.join("\n"),
        metric_names(),
        exit::help(EXIT_CODES)
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_valid() {
        Cli::command().debug_assert();
        let help = Cli::command().render_long_help().to_string();
        for scenario in scenarios::names() {
            assert!(help.contains(scenario), "{scenario}");
        }
        assert!(!help.contains("--fault"));
    }

    #[test]
    fn the_codes_are_those_of_the_conformance_run() {
        let codes = |table: &[(u8, &str)]| table.iter().map(|(code, _)| *code).collect::<Vec<_>>();
        assert_eq!(codes(EXIT_CODES), codes(exit::TABLE));
    }

    #[test]
    fn the_help_shows_the_default_tolerance() {
        let cli = Cli::try_parse_from(["p"]).unwrap();
        assert!((cli.load.options.tolerance.share - 0.05).abs() < 1e-12);
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for line in [
            &["p", "--rate", "0"][..],
            &["p", "--judge", "11"],
            &["p", "--threshold", "p95"],
            &["p", "--max-requests", "0"],
            &["p", "--test-plan", "5,5s", "--users", "3"],
            &["p", "--weight", "nothing=3"],
            &["p", "--tolerance", "x"],
            &["p", "merge"],
        ] {
            assert!(Cli::try_parse_from(line).is_err(), "{line:?}");
        }
    }
}
