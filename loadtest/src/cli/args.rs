//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use paymaster_cli::{args::TargetArgs, duration};

use crate::{
    embedded::Deviations,
    engine::plan::Steps,
    judging::Share,
    run::Rate,
    scenarios,
    threshold::{self, Threshold},
};

/// Load tests a paymaster JSON-RPC service (ERC-4337) and judges its answers: one that is fast and wrong counts as a failure.
///
/// Without a URL, an embedded reference server is started in a process of its own and loaded.
#[derive(Debug, Parser)]
#[command(name = "paymaster-loadtest", version, args_conflicts_with_subcommands = true)]
#[command(after_help = super::exit::help(), after_long_help = super::long_help())]
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
    /// Judge JSON reports of several machines as one run.
    Merge(MergeArgs),
    /// Compare a JSON report with an earlier one, noise taken into account.
    Compare(CompareArgs),
    /// The reference server that a run without a URL loads.
    #[command(hide = true, name = crate::embedded::SUBCOMMAND)]
    EmbeddedServer(Deviations),
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The paymaster URL, as http://127.0.0.1:3000/rpc.
    pub(crate) url: Option<String>,
    /// What is sent: a scenario of the list below, or all of them by their weights.
    #[arg(short, long, value_name = "NAME", default_value = scenarios::MIXED, help_heading = "Load")]
    pub(crate) scenario: String,
    /// How often a scenario is part of `mixed`, as journey=3; repeatable. Scenarios without one are left out then.
    #[arg(long = "weight", value_name = "NAME=N", value_parser = scenarios::parse_weight, help_heading = "Load")]
    pub(crate) weights: Vec<(String, u32)>,
    /// Users at a time, each with a connection of its own [default: 10, or 100 with --rate].
    #[arg(short, long, value_name = "N", help_heading = "Load")]
    pub(crate) users: Option<usize>,
    /// Open model: that many arrivals a second, whatever the target does; latency counts from the intended start. In steps:
    /// 500,30s;500,5m goes to 500 in 30 s and stays there for 5 min. A journey is one arrival. One that
    /// begins more than 1 ms after its time is late. Where the target does not keep up, its answers are waited for, and the verdict
    /// states the rate that was reached; only a threshold (rps>=500) makes that a failure.
    #[arg(short, long, value_name = "RATE", value_parser = Rate::parse, help_heading = "Load")]
    pub(crate) rate: Option<Rate>,
    /// The measured time, as 30s or 5m [default: 10s].
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan")]
    pub(crate) duration: Option<Duration>,
    /// Users are started over this time; it is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan")]
    pub(crate) ramp: Option<Duration>,
    /// This long nothing is measured at first.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load")]
    pub(crate) warm_up: Option<Duration>,
    /// Users over time, in goose's notation: 10,10s;10,1m;100,5s;100,30s;0,10s is a step, a hold, a spike, a hold, an end.
    #[arg(long, value_name = "PLAN", value_parser = Steps::parse, help_heading = "Load", conflicts_with = "users")]
    pub(crate) test_plan: Option<Steps>,
    /// At most that many requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    pub(crate) max_requests: Option<u64>,
    /// The same seed makes the same requests [default: 1].
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) seed: Option<u64>,

    /// Which answers are judged: all, none, or a share as 10%.
    #[arg(long, value_name = "SHARE", default_value = "all", value_parser = Share::parse, help_heading = "Verdict")]
    pub(crate) judge: Share,
    /// What only warns in a conformance run (json-rpc, interoperability) is wrong too.
    #[arg(long, help_heading = "Verdict")]
    pub(crate) strict: bool,
    /// What the run must keep to, as p95<200ms, error-rate<1%, wrong-rate<=0%, rps>=500, each also `... for journey`; repeatable.
    /// rps is the number of answers divided by the time until the last one.
    #[arg(short, long = "threshold", value_name = "RULE", help_heading = "Verdict")]
    pub(crate) thresholds: Vec<Threshold>,
    /// Compare with an earlier run's JSON report; what became worse fails the run.
    #[arg(long, value_name = "FILE", help_heading = "Verdict")]
    pub(crate) compare: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,

    #[command(flatten, next_help_heading = "Target")]
    pub(crate) target: TargetArgs,
    /// Total time of one exchange, as 500ms or 10s [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Target")]
    pub(crate) timeout: Option<Duration>,
    /// Wait as long as the target says with 429 or 503 and Retry-After; open arrivals of that time are held back and counted.
    #[arg(long, help_heading = "Target")]
    pub(crate) respect_retry_after: bool,
    /// The target is yours to load, although it is not on a private network.
    #[arg(long, help_heading = "Target")]
    pub(crate) i_own_this_target: bool,

    /// Write a report; its ending says which: .json, .html, .md, .xml (JUnit). Repeatable.
    #[arg(short = 'o', long = "report", value_name = "FILE", help_heading = "Reports")]
    pub(crate) reports: Vec<PathBuf>,
    /// Serve goose's live dashboard on this port of 127.0.0.1 [default port: 5118].
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "5118", require_equals = true, help_heading = "Reports")]
    pub(crate) dashboard: Option<u16>,
    /// Have goose write its own report too, .html, .md or .json; repeatable.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) goose_report: Vec<PathBuf>,
    /// An earlier JSON report of goose for its own report to compare with.
    #[arg(
        long,
        value_name = "FILE",
        requires = "goose_report",
        help_heading = "Reports"
    )]
    pub(crate) goose_baseline: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) deviations: Deviations,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// JSON reports of runs that went at the same time.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Thresholds in place of those of the runs; repeatable.
    #[arg(short, long = "threshold", value_name = "RULE")]
    pub(crate) thresholds: Vec<Threshold>,
    /// Write a report; its ending says which: .json, .html, .md, .xml (JUnit). Repeatable.
    #[arg(short = 'o', long = "report", value_name = "FILE")]
    pub(crate) reports: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The earlier JSON report.
    pub(crate) before: PathBuf,
    /// The later one.
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Tolerance {
    /// Differences of rate and latency below this do not matter, however certain they are.
    #[arg(long = "tolerance", value_name = "SHARE", default_value = "5%", value_parser = tolerance, help_heading = "Verdict")]
    pub(crate) share: f64,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=1_000.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("`{text}` is no share: write 5%"))
}

/// What thresholds can be about, for the help.
pub(crate) fn metrics() -> String {
    format!("Thresholds are about {}.", threshold::metrics())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_in_order() {
        Cli::command().debug_assert();
        let help = Cli::command().render_long_help().to_string();
        for scenario in scenarios::names() {
            assert!(help.contains(scenario), "{scenario}");
        }
        assert!(!help.contains("--fault"));
    }

    #[test]
    fn the_default_tolerance_is_the_one_that_is_used() {
        let cli = Cli::try_parse_from(["p"]).unwrap();
        assert!((cli.load.tolerance.share - crate::compare::DEFAULT_TOLERANCE).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            &["p", "--rate", "0"][..],
            &["p", "--judge", "11"],
            &["p", "--threshold", "p95"],
            &["p", "--max-requests", "0"],
            &["p", "--test-plan", "5,5s", "--users", "3"],
            &["p", "--weight", "nobody=3"],
            &["p", "--tolerance", "x"],
            &["p", "merge"],
        ] {
            assert!(Cli::try_parse_from(line).is_err(), "{line:?}");
        }
    }
}
