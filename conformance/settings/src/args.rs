//! Arguments that several commands share.

use std::path::PathBuf;

use clap::Args;

pub use crate::table::{CommonArgs, RunArgs, RunTable};
use paymaster_client::network::Trust;
use paymaster_engine::verdict::Strictness;

/// How strictly a run is concluded.
#[derive(Clone, Debug, Default, Args)]
pub struct StrictnessArgs {
    /// What only warns (json-rpc, interoperability) fails the run too.
    #[arg(long)]
    pub strict: bool,
    /// Stated rules that stayed inconclusive do not fail the run, as long as any request got a result.
    #[arg(long)]
    pub allow_incomplete: bool,
}

impl StrictnessArgs {
    /// The strictness of these flags and of `[run]`.
    #[must_use]
    pub fn or(&self, run: &RunTable) -> Self {
        Self {
            strict: self.strict || run.strict,
            allow_incomplete: self.allow_incomplete || run.allow_incomplete,
        }
    }

    /// As the engine takes it.
    pub fn of_run(&self) -> Strictness {
        Strictness { strict: self.strict, allow_incomplete: self.allow_incomplete }
    }
}

/// Which certificates of https:// targets are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct TrustArgs {
    /// Trust the certificates in this PEM file instead of the platform's [default: the platform's, or SSL_CERT_FILE].
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Trust any certificate of an https:// target. The report contains a warning.
    #[arg(short = 'k', long, conflicts_with = "cacert")]
    pub insecure: bool,
}

impl TrustArgs {
    /// As a connector takes it.
    pub fn trust(&self) -> Trust {
        Trust { cacert: self.cacert.clone(), insecure: self.insecure }
    }
}
