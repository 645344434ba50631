//! The options of a run.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use paymaster_settings::args::{CommonArgs, RunArgs};
use paymaster_settings::duration;

use crate::engine::{Schedule, StepPlan};
use crate::judging::JudgedShare;
use crate::results::{Threshold, Tolerance};
use crate::scenarios::{self, parse_weight};

/// Highest rate, in arrivals per second.
const HIGHEST_RATE: f64 = 1e6;

/// The options of a run as the command line has them.
#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    /// The scenario to send: one of the list below, or all of them by their weights.
    #[arg(short, long, value_name = "NAME", default_value = scenarios::MIXED, help_heading = "Load")]
    pub scenario: String,
    /// The weight of a scenario in `mixed`, for example journey=3. Repeatable. Scenarios without a weight are then not sent.
    #[arg(long = "weight", value_name = "NAME=N", value_parser = parse_weight, help_heading = "Load")]
    pub weights: Vec<(String, u32)>,
    /// Users at a time, each with its own connection [default: 10, or 100 with --rate].
    #[arg(short, long, value_name = "N", help_heading = "Load")]
    pub users: Option<usize>,
    /// Open model: this many arrivals per second, independent of answers. Latency counts from the intended start. In steps:
    /// 500,30s;500,5m goes to 500 in 30 s and stays there for 5 min. A journey is one arrival with two requests. An arrival that begins
    /// more than 1 ms after its time is late. If the target is too slow, the run waits for its answers. Less than 95 % of the rate fails
    /// the run (reached-rate>=95%), or leaves it incomplete if the generator was too slow.
    #[arg(short, long, value_name = "RATE", value_parser = Rate::parse, help_heading = "Load")]
    pub rate: Option<Rate>,
    /// How the arrivals of --rate are spread: at regular distances, or at random as those of many clients.
    #[arg(long, value_name = "HOW", value_enum, default_value_t, requires = "rate", help_heading = "Load")]
    pub arrivals: Arrivals,
    /// The measured time, for example 30s or 5m [default: 10s].
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan", default_value = "10s", hide_default_value = true)]
    pub duration: Duration,
    /// The time over which users are started. It is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load", conflicts_with = "test_plan")]
    pub ramp: Option<Duration>,
    /// The time after the ramp that is not measured.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Load")]
    pub warm_up: Option<Duration>,
    /// Users over time, in the notation of goose: 10,10s;10,1m;100,5s;100,30s;0,10s is a ramp, a hold, a spike, a hold and an end.
    #[arg(long, value_name = "PLAN", value_parser = StepPlan::parse, help_heading = "Load", conflicts_with = "users")]
    pub test_plan: Option<StepPlan>,
    /// Most requests of the load [default: no limit]. Discovery sends about 60 before it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Load")]
    pub max_requests: Option<u64>,

    #[command(flatten)]
    pub judging: JudgingOptions,
    /// A limit for the run, for example p95<200ms, error-rate<1%, wrong-rate<=0% or rps>=500, also with `for journey`. Repeatable.
    /// rps is answers per second; reached-rate is the reached part of --rate, which counts arrivals.
    #[arg(short, long = "threshold", value_name = "RULE", help_heading = "Verdict")]
    pub thresholds: Vec<Threshold>,
    /// A threshold that also ends the load, as soon as the figures so far break it: checked once a second, from 100 requests on. Repeatable.
    /// It replaces no default.
    #[arg(long, value_name = "RULE", help_heading = "Verdict")]
    pub abort_on: Vec<Threshold>,
    /// Compare with the JSON report of an earlier run. A figure that became worse fails the run.
    #[arg(long, value_name = "FILE", help_heading = "Verdict")]
    pub compare: Option<PathBuf>,
    #[command(flatten)]
    pub tolerance: Tolerance,
    #[command(flatten)]
    pub sending: SendingOptions,
    /// Command line options for goose.
    #[arg(skip)]
    pub goose_options: Vec<String>,
}

/// Which answers are judged, and how strictly.
#[derive(Clone, Copy, Debug, Args)]
pub struct JudgingOptions {
    /// The answers to judge: all, none, or a share, for example 10%.
    #[arg(long, value_name = "SHARE", default_value = "all", value_parser = JudgedShare::parse, help_heading = "Verdict")]
    pub judge: JudgedShare,
    /// Rules that only warn in a conformance run (json-rpc, interoperability) count too.
    #[arg(long, help_heading = "Verdict")]
    pub strict: bool,
}

/// How the target is reached and treated.
// Unlike the report of a conformance run, that of a load test does not mention --insecure.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("insecure", |arg| arg.help("Believe any certificate of an https:// target")))]
#[command(mut_arg("seed", |arg| arg.help_heading("Load")))]
pub struct SendingOptions {
    #[command(flatten, next_help_heading = "Target")]
    pub common: CommonArgs,
    /// Pause as the target requests with 429 or 503 and Retry-After. Arrivals that are due in a pause are not sent, and counted.
    #[arg(long, help_heading = "Target")]
    pub respect_retry_after: bool,
    /// You may load the target although it is not on a private network.
    #[arg(long, help_heading = "Target")]
    pub i_own_this_target: bool,
}

impl SendingOptions {
    /// The arguments from which the target is read.
    pub(crate) fn of_run(&self) -> RunArgs {
        RunArgs { common: self.common.clone(), ..RunArgs::default() }
    }
}

/// How the arrivals of the open model are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Arrivals {
    /// At regular distances.
    #[default]
    Regular,
    /// At random, as those of many clients that do not know each other (a Poisson process of the seed).
    Poisson,
}

/// Arrivals per second.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    Constant(f64),
    /// Each step reaches its rate linearly; the first one begins at 0.
    Steps(StepPlan),
}

impl Rate {
    /// Reads a rate: `500` or `500,30s;500,5m`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rate = if text.contains(',') {
            Self::Steps(StepPlan::parse(text)?)
        } else {
            let what = "neither a number of arrivals per second nor steps (500,30s;500,5m)";
            Self::Constant(text.trim().parse().map_err(|_| format!("`{text}` is {what}"))?)
        };
        let lowest = if matches!(rate, Self::Constant(_)) { 0.001 } else { 0.0 };
        if (lowest..=HIGHEST_RATE).contains(&rate.highest()) {
            Ok(rate)
        } else {
            Err("the rate must be from 0.001 to 1000000 arrivals per second".to_owned())
        }
    }

    /// When arrivals are due. `length` is the time of a constant rate.
    pub fn schedule(&self, length: Duration) -> Schedule {
        match self {
            Self::Constant(rate) => Schedule::constant(*rate, length),
            Self::Steps(steps) => Schedule::new(0.0, &steps.0),
        }
    }

    /// The highest rate, in arrivals per second.
    pub fn highest(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.highest(),
        }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(rate) => write!(f, "{rate}"),
            Self::Steps(steps) => write!(f, "{steps}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_or_steps() {
        assert_eq!(Rate::parse("500"), Ok(Rate::Constant(500.0)));
        let steps = Rate::parse("0,0s;500,30s").unwrap();
        assert!((steps.highest() - 500.0).abs() < 1e-9);
        assert_eq!(steps.to_string(), "0,0s;500,30s");
        for text in ["0", "-1", "many", "NaN", "1e9", "2000000,3s"] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
    }
}
