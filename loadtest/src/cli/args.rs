//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use paymaster_settings::{
    args::{RunArgs, TargetArgs},
    duration,
    settings::target::TargetSetup,
};

use super::{
    command_line::{self, GivenTarget},
    help,
};
use crate::{
    cli::{
        commands::{
            embedded::DeviationArgs,
            worker::{LocustfileArgs, WorkerArgs},
        },
        metrics::MetricsArgs,
    },
    engine::plan::StepPlan,
    judging::JudgedShare,
    results::threshold::Threshold,
    run::options::{Arrivals, Rate},
    scenarios::{self, mix::parse_weight},
};

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
#[command(after_help = help::exit_codes(), after_long_help = help::long())]
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

// Unlike the report of a conformance run, that of a load test does not mention --insecure.
#[derive(Debug, Args)]
#[command(mut_arg("insecure", |arg| arg.help("Believe any certificate of an https:// target")))]
pub(crate) struct LoadArgs {
    /// The paymaster URL, for example http://127.0.0.1:3000/rpc.
    pub(crate) url: Option<String>,
    /// The scenario to send: one of the list below, or all of them by their weights.
    #[arg(short, long, value_name = "NAME", default_value = scenarios::MIXED, help_heading = "Load")]
    pub(crate) scenario: String,
    /// The weight of a scenario in `mixed`, for example journey=3. Repeatable. Scenarios without a weight are then not sent.
    #[arg(long = "weight", value_name = "NAME=N", value_parser = parse_weight, help_heading = "Load")]
    pub(crate) weights: Vec<(String, u32)>,
    /// Users at a time, each with its own connection [default: 10, or 100 with --rate].
    #[arg(short, long, value_name = "N", help_heading = "Load")]
    pub(crate) users: Option<usize>,
    /// Open model: this many arrivals per second, independent of answers. Latency counts from the intended start. In steps:
    /// 500,30s;500,5m goes to 500 in 30 s and stays there for 5 min. A journey is one arrival with two requests. An arrival that begins
    /// more than 1 ms after its time is late. If the target is too slow, the run waits for its answers. Less than 95 % of the rate fails
    /// the run (reached-rate>=95%), or leaves it incomplete if the generator was too slow.
    #[arg(short, long, value_name = "RATE", value_parser = Rate::parse, help_heading = "Load")]
    pub(crate) rate: Option<Rate>,
    /// How the arrivals of --rate are spread: at regular distances, or at random as those of many clients.
    #[arg(long, value_name = "HOW", value_enum, default_value_t, requires = "rate", help_heading = "Load")]
    pub(crate) arrivals: Arrivals,
    /// The measured time, for example 30s or 5m [default: 10s].
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan")]
    pub(crate) duration: Option<Duration>,
    /// The time over which users are started. It is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan")]
    pub(crate) ramp: Option<Duration>,
    /// The time after the ramp that is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load")]
    pub(crate) warm_up: Option<Duration>,
    /// Users over time, in the notation of goose: 10,10s;10,1m;100,5s;100,30s;0,10s is a ramp, a hold, a spike, a hold and an end.
    #[arg(long, value_name = "PLAN", value_parser = StepPlan::parse, help_heading = "Load", conflicts_with = "users")]
    pub(crate) test_plan: Option<StepPlan>,
    /// Most requests of the load [default: no limit]. Discovery sends about 60 before it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    pub(crate) max_requests: Option<u64>,
    /// The same seed gives the same requests [default: 1].
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// A limit for the run, for example p95<200ms, error-rate<1%, wrong-rate<=0% or rps>=500, also with `for journey`. Repeatable.
    /// rps is answers per second; reached-rate is the reached part of --rate, which counts arrivals.
    #[arg(short, long = "threshold", value_name = "RULE", help_heading = "Verdict")]
    pub(crate) thresholds: Vec<Threshold>,
    /// A threshold that also ends the load, as soon as the figures so far break it: checked once a second, from 100 requests on. Repeatable.
    /// It replaces no default.
    #[arg(long, value_name = "RULE", help_heading = "Verdict")]
    pub(crate) abort_on: Vec<Threshold>,
    /// Compare with the JSON report of an earlier run. A figure that became worse fails the run.
    #[arg(long, value_name = "FILE", help_heading = "Verdict")]
    pub(crate) compare: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,

    #[command(flatten)]
    pub(crate) sending: SendingArgs,

    /// Write a report. Its format is its ending (.json, .html, .md, .xml, .csv) or named: json, html, markdown, junit, csv. PATH may be
    /// `-` for standard output; missing folders are made. Repeatable.
    #[arg(short = 'o', long = "report", value_name = "[FORMAT=]PATH", help_heading = "Reports")]
    pub(crate) reports: Vec<String>,
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

/// Which answers are judged, and how strictly.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JudgingArgs {
    /// The answers to judge: all, none, or a share, for example 10%.
    #[arg(long, value_name = "SHARE", default_value = "all", value_parser = JudgedShare::parse, help_heading = "Verdict")]
    pub(crate) judge: JudgedShare,
    /// Rules that only warn in a conformance run (json-rpc, interoperability) count too.
    #[arg(long, help_heading = "Verdict")]
    pub(crate) strict: bool,
}

/// How the target is reached and treated.
#[derive(Debug, Args)]
pub(crate) struct SendingArgs {
    #[command(flatten, next_help_heading = "Target")]
    pub(crate) target: TargetArgs,
    /// Total time of one exchange, for example 500ms or 10s [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Target")]
    pub(crate) timeout: Option<Duration>,
    /// Pause as the target requests with 429 or 503 and Retry-After. Arrivals that are due in a pause are not sent, and counted.
    #[arg(long, help_heading = "Target")]
    pub(crate) respect_retry_after: bool,
    /// You may load the target although it is not on a private network.
    #[arg(long, help_heading = "Target")]
    pub(crate) i_own_this_target: bool,
}

impl SendingArgs {
    /// The arguments from which the target is read.
    pub(crate) fn of_run(&self, seed: Option<u64>) -> RunArgs {
        RunArgs { target: self.target.clone(), timeout: self.timeout, seed, ..RunArgs::default() }
    }

    /// The command line of this process, without the secrets of its target.
    pub(crate) fn shown_command(&self, url: Option<&str>, setup: &TargetSetup) -> String {
        command_line::of_process(Some(&GivenTarget {
            url,
            shown_url: &setup.settings.shown_target,
            headers: &self.target.headers,
            redactor: &setup.redactor,
        }))
    }
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
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The earlier JSON report.
    pub(crate) before: PathBuf,
    /// The later JSON report.
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Tolerance {
    /// Differences of rate and latency below this share do not count.
    #[arg(long = "tolerance", value_name = "SHARE", default_value = "5%", value_parser = tolerance, help_heading = "Verdict")]
    pub(crate) share: f64,
}

/// A text is not a tolerance.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a share: write 5%")]
struct ToleranceError(String);

fn tolerance(text: &str) -> Result<f64, ToleranceError> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=1_000.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| ToleranceError(text.to_owned()))
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
    fn the_help_shows_the_default_tolerance() {
        let cli = Cli::try_parse_from(["p"]).unwrap();
        assert!((cli.load.tolerance.share - crate::results::compare::DEFAULT_TOLERANCE).abs() < 1e-12);
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
