//! Why a command fails.

use std::{io, path::PathBuf};

use paymaster_cli::{exit, output::OutputError, setup::SetupError};

use super::embedded::EmbeddedError;
use crate::{
    report::ReportError,
    results::{compare::CompareError, merge::MergeError, summary::SummaryError, threshold::ThresholdError},
    run::error::RunError,
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
    #[error("load.thresholds: {0}")]
    ThresholdOfProfile(#[source] ThresholdError),
    #[error("--fault and --variant are for the embedded server: give no URL")]
    DeviationsWithUrl,
    #[error("the runtime: {0}")]
    Runtime(#[source] io::Error),
    #[error("cannot write the man pages into {}: {cause}", folder.display())]
    ManPages { folder: PathBuf, cause: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl CommandError {
    /// The exit code: could not test, or usage.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Run(RunError::NoAnswer { .. }) | Self::Interrupted => exit::COULD_NOT_TEST,
            _ => exit::USAGE,
        }
    }
}
