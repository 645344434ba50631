//! Why a run has no summary.

use super::target_check::PublicTargetError;
use crate::{
    engine::{
        EngineError,
        plan::{MOST_USERS, PlanError},
    },
    scenarios::error::ScenarioError,
};

/// Why a run has no summary. All but [`RunError::NoAnswer`] and [`RunError::Interrupted`] are errors of usage or configuration.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The requests cannot be chosen or made.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The test plan is not a plan of users.
    #[error("--test-plan: {0}")]
    TestPlan(#[from] PlanError),
    /// The number of users is out of range.
    #[error("the number of users must be from 1 to {MOST_USERS}")]
    Users,
    #[error("--ramp needs at least 2 users")]
    RampOfOneUser,
    /// The warm-up is not shorter than the run.
    #[error("the warm-up leaves no time to measure")]
    NoMeasuredTime,
    /// The load is too high for a public target.
    #[error(transparent)]
    PublicTarget(#[from] PublicTargetError),
    /// The requested rate is above the limit of the profile.
    #[error(
        "the profile limits the target to {limit} requests a second (target.requests-per-second), and --rate {rate} means {requests:.1}"
    )]
    AboveLimit {
        /// The limit of the profile, in requests per second.
        limit: f64,
        /// The requested rate as text, in arrivals per second.
        rate: String,
        /// The highest requested rate, in requests per second.
        requests: f64,
    },
    /// goose could not execute the run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The target did not answer the requests of discovery.
    #[error("{target}: {cause}")]
    NoAnswer {
        /// The URL of the target, with secrets redacted.
        target: String,
        /// The last failure, or the HTTP status.
        cause: String,
    },
    /// The signal came before the load.
    #[error("interrupted before anything was measured")]
    Interrupted,
}
