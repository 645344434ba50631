//! Why a command fails.

use std::{io, path::PathBuf};

use paymaster_settings::{exit, output::OutputError, settings::setup::SetupError};

use crate::{
    cli::commands::embedded::EmbeddedError,
    metrics::MetricsError,
    report::ReportError,
    results::{compare::CompareError, merge::MergeError, summary::SummaryError, threshold::ThresholdError},
    run::error::RunError,
    scenarios::error::ScenarioError,
    worker::WorkerError,
};

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The configuration of the target: file, environment or arguments.
    #[error(transparent)]
    Target(#[from] SetupError),
    #[error("load.{0}: {1}")]
    ThresholdOfProfile(&'static str, #[source] ThresholdError),
    #[error("{}: {}", .0.display(), .1)]
    List(PathBuf, #[source] io::Error),
    #[error("a worker needs the URL of the target: give it here, in PAYMASTER_URL or in the profile")]
    WorkerWithoutUrl,
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error(transparent)]
    Locustfile(#[from] ScenarioError),
    #[error("{}: {}", .0.display(), .1)]
    LocustfileNotWritten(PathBuf, #[source] io::Error),
    #[error("--fault and --variant are for the embedded server: give no URL")]
    DeviationsWithUrl,
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error("the runtime: {0}")]
    Runtime(#[source] io::Error),
    #[error("cannot write the man pages into {}: {cause}", folder.display())]
    ManPages { folder: PathBuf, cause: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl CommandError {
    /// The exit code: could not test, or usage.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Run(RunError::NoAnswer { .. } | RunError::Interrupted)
            | Self::Worker(WorkerError::Run(RunError::NoAnswer { .. }) | WorkerError::NoMaster { .. }) => {
                exit::COULD_NOT_TEST
            }
            _ => exit::USAGE,
        }
    }
}
