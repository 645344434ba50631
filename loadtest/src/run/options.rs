//! The options of a run.

use std::time::Duration;

use crate::{
    engine::plan::{PlanError, StepPlan},
    judging::JudgedShare,
    results::threshold::Threshold,
    scenarios::mix::Weights,
};

/// Highest rate, in arrivals per second.
const HIGHEST_RATE: f64 = 1e6;

#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The scenario to send, or `mixed`.
    pub scenario: String,
    /// The weights of scenarios in `mixed`; empty for the default weights.
    pub weights: Weights,
    /// Most users at a time.
    pub users: Option<usize>,
    /// The measured time.
    pub duration: Duration,
    /// The time over which users are started.
    pub ramp: Duration,
    /// The time after the ramp that is not measured.
    pub warm_up: Duration,
    /// Users over time, instead of `users`, `ramp` and `duration`.
    pub test_plan: Option<StepPlan>,
    /// Arrivals per second: the open model.
    pub rate: Option<Rate>,
    /// How arrivals are spread.
    pub arrivals: Arrivals,
    /// Most requests.
    pub max_requests: Option<u64>,
    /// The share of answers to judge.
    pub judge: JudgedShare,
    /// Whether rules that only warn in a conformance run count.
    pub strict: bool,
    /// The thresholds of the user.
    pub thresholds: Vec<Threshold>,
    /// Thresholds that also end the run when the figures so far break them.
    pub abort_on: Vec<Threshold>,
    /// Whether to pause as Retry-After requests.
    pub respect_retry_after: bool,
    /// Whether the user may load the target although it is public.
    pub own_target: bool,
    /// Command line options for goose.
    pub goose_options: Vec<String>,
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

/// A text is not a rate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RateError {
    /// It is neither a number nor steps.
    #[error("`{0}` is neither a number of arrivals per second nor steps (500,30s;500,5m)")]
    Syntax(String),
    #[error("the rate must be from 0.001 to 1000000 arrivals per second")]
    OutOfRange,
    /// Its steps are not valid.
    #[error(transparent)]
    Steps(#[from] PlanError),
}

impl Rate {
    /// Reads a rate: `500` or `500,30s;500,5m`.
    pub fn parse(text: &str) -> Result<Self, RateError> {
        if text.contains(',') {
            let steps = StepPlan::parse(text)?;
            return if steps.highest() <= HIGHEST_RATE {
                Ok(Self::Steps(steps))
            } else {
                Err(RateError::OutOfRange)
            };
        }
        let rate = text.trim().parse::<f64>().map_err(|_| RateError::Syntax(text.to_owned()))?;
        if (0.001..=HIGHEST_RATE).contains(&rate) {
            Ok(Self::Constant(rate))
        } else {
            Err(RateError::OutOfRange)
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
            Self::Steps(steps) => {
                for (place, (rate, time)) in steps.as_slice().iter().enumerate() {
                    let separator = if place > 0 { ";" } else { "" };
                    write!(f, "{separator}{rate},{}s", time.as_secs())?;
                }
                Ok(())
            }
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
