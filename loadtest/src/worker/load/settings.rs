//! What a load is made of, and why users cannot be started.

use paymaster_client::{http::transport::Transport, redact::Redactor};

use crate::{
    engine::plan::MOST_USERS,
    judging::AnswerJudge,
    results::{threshold::Threshold, workers::WorkerShare},
    run::options::{Arrivals, Rate},
};

/// What the master asked for in a run, and what the command line of the worker decides.
#[derive(Debug)]
pub(in crate::worker) struct LoadSettings {
    /// Judges the answers.
    pub(in crate::worker) judge: AnswerJudge,
    /// How requests are sent to the target.
    pub(in crate::worker) transport: Transport,
    /// Removes secrets from what is kept of exchanges.
    pub(in crate::worker) redactor: Redactor,
    /// The URL of the target, with secrets redacted.
    pub(in crate::worker) shown_target: String,
    /// Whether to pause as Retry-After requests.
    pub(in crate::worker) respect_retry_after: bool,
    /// The share of answers to be judged, from 0 to 1.
    pub(in crate::worker) judge_share: f64,
    /// The seed of the whole run.
    pub(in crate::worker) seed: u64,
    /// The limit of the profile in requests per second, for all workers together.
    pub(in crate::worker) limit: Option<f64>,
    /// Open model: arrivals per second of all workers together.
    pub(in crate::worker) rate: Option<Rate>,
    /// How these arrivals are spread.
    pub(in crate::worker) arrivals: Arrivals,
    /// The thresholds of the master, for the worker's own report.
    pub(in crate::worker) thresholds: Vec<Threshold>,
    /// The worker: its name, index and setup.
    pub(in crate::worker) worker: WorkerShare,
    /// The command line of the worker, without secrets.
    pub(in crate::worker) command: String,
    /// The number of its first request.
    pub(in crate::worker) first_number: u64,
}

/// The users of the master cannot be started.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::worker) enum UsersError {
    /// A class is not a scenario that this worker sends.
    #[error("this worker has no scenario for users of the class `{class}`: it sends {known}")]
    UnknownClass {
        /// The class.
        class: String,
        /// What exists, separated by commas.
        known: String,
    },
    /// Too many users.
    #[error("a worker has at most {MOST_USERS} users, and the master asked for {0}: start more workers")]
    TooMany(u64),
}
