//! The settings of a run, and the target as reports may show it.

pub mod environment;
pub mod file;
pub mod profile_file;
pub mod setup;

pub use {environment::*, file::*, profile_file::*, setup::*};

use std::{sync::Arc, time::Duration};

use crate::args::RunArgs;
use crate::embedded::EMBEDDED_WARNING;
use paymaster_client::http::Transport;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::verdict::Strictness;

/// The target as reports may show it: without secrets.
#[derive(Clone, Debug, Default)]
pub struct ShownTarget {
    /// The URL, with secrets replaced.
    pub shown: String,
    /// The URL as it is; none where a part of it is secret.
    pub literal: Option<String>,
    /// Whether it is the embedded server, which stops at the end of the run.
    pub embedded: bool,
    /// The request headers of the user: name, and value as a shell expression that shows no secret.
    pub headers: Vec<(String, String)>,
    /// The options with which cURL reaches the target, quoted for a shell, each with a blank before it.
    pub curl_options: String,
    /// The further options of `replay`, quoted for a shell, each with a blank before it.
    pub replay_options: String,
    /// The options with which `replay` uses the same chain, quoted for a shell, each with a blank before it.
    pub chain_options: String,
    /// The configuration file that describes the target; none without one.
    pub profile: Option<ProfileFile>,
    /// Warnings about the connection to the target, such as a certificate that was not verified.
    pub connection_warnings: Vec<String>,
}

impl ShownTarget {
    /// The warnings that every report shows.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let embedded = self.embedded.then_some(EMBEDDED_WARNING);
        embedded.into_iter().chain(self.connection_warnings.iter().map(String::as_str))
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How requests reach the target.
    pub transport: Transport,
    /// The URL of the target, with secrets replaced.
    pub shown_target: String,
    /// What the profile says of the target.
    pub profile: Arc<dyn Knowledge>,
    /// What flags, environment and configuration file set.
    pub args: RunArgs,
    /// How many requests asked the target which specification it serves. They count as requests of the run.
    pub asked: usize,
    /// The time for the plan and what follows it: every rule first, then depth. None where it is the time limit, unless the plan takes more
    /// than two minutes at the rate of the target: then it is that of a quick run.
    pub budget: Option<Duration>,
    /// Whether findings are sent again and shrunk. Without this, a run reports only which rules are broken.
    pub closer_look: bool,
}

impl Settings {
    /// A run with these arguments.
    pub fn new(
        transport: Transport,
        shown_target: String,
        profile: Arc<dyn Knowledge>,
        args: RunArgs,
    ) -> Self {
        let budget = args.budget();
        Self { transport, shown_target, profile, args, asked: 0, budget, closer_look: true }
    }

    /// The seed. The same seed gives the same cases.
    pub fn seed(&self) -> u64 {
        self.args.common.seed()
    }

    /// How strictly the run is concluded.
    pub fn strictness(&self) -> Strictness {
        self.args.strictness.of_run()
    }
}
