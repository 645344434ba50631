//! Arguments that several commands share.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{duration, settings::file::RunTable};
use paymaster_client::network::tls::Trust;
use paymaster_engine::verdict::strictness::Strictness;

/// What every command takes that sends requests, of whichever program.
#[derive(Clone, Debug, Default, Args)]
pub struct CommonArgs {
    /// The configuration file [default: paymaster.toml, when it is there].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The specification that the target is judged by [default: the one of the configuration file, else the one that the target serves].
    #[arg(long, value_name = "NAME")]
    pub spec: Option<String>,
    /// A request header, `Name: value`; ${NAME} in the value is read from the environment. Repeatable.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// Which certificates are trusted.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Total time of one exchange, as 500ms or 10s [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// The same seed gives the same requests [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// The settings of a run: those of the command line, or, once they are merged, those of all sources.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// The URL of the target, which each command takes in its own way.
    #[arg(skip)]
    pub url: Option<String>,
    /// What the programs share.
    #[command(flatten)]
    pub common: CommonArgs,
    /// How many requests of each method and mode are sent at least [default: 250].
    #[arg(long, value_name = "N")]
    pub cases: Option<u32>,
    /// How many exchanges run at the same time [default: 100].
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// At most that many requests a second [default: no limit].
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Total time of the run [default: 5m].
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub time_limit: Option<Duration>,
    /// At most that many requests in all [default: no limit].
    #[arg(long, value_name = "N")]
    pub max_requests: Option<usize>,
    /// Also send requests on connections that were idle for that long; without it, the clause about them is not tried.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub idle: Option<Duration>,
    /// At most that many requests to make one failure small [default: 60].
    #[arg(long, value_name = "N")]
    pub shrink_requests: Option<u32>,
    /// Leave failures as large as they were found.
    #[arg(long, conflicts_with = "shrink_requests")]
    pub no_shrink: bool,
    /// How strictly the run is concluded.
    #[command(flatten)]
    pub strictness: StrictnessArgs,
}

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

    /// The same for a run.
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
    /// The same for a connector.
    pub fn trust(&self) -> Trust {
        Trust { cacert: self.cacert.clone(), insecure: self.insecure }
    }
}
