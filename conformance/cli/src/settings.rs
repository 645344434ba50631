//! What file, environment and flags come to: how a run goes, and what of the target may stand in reports.

use std::time::Duration;

use paymaster_client::transport::Transport;
use paymaster_judge::{session::tally::Strictness, target::profile::Profile};

/// The target as it may stand in reports.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The URL, secrets replaced.
    pub shown: String,
    /// The URL as it is, when nothing in it is secret.
    pub literal: Option<String>,
    /// Whether it was the embedded reference server, which is gone when the run is over.
    pub embedded: bool,
    /// Request headers beside our own: the name, and what a shell can make the value from without us printing it.
    pub headers: Vec<(String, String)>,
    /// Options that cURL needs to reach it as we did, ready for a shell: a blank before each.
    pub curl_options: String,
    /// Options that `replay` needs beside those of cURL, ready for a shell: a blank before each.
    pub replay_options: String,
    /// Options that `replay` needs to ask the same chain, ready for a shell: a blank before each.
    pub chain_options: String,
    /// What a reader of any report has to know of how the target was asked.
    pub warnings: Vec<String>,
}

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the target is asked.
    pub transport: Transport,
    /// The target as it may stand in reports.
    pub shown_target: String,
    /// What the user says of the target.
    pub profile: Profile,
    /// The seed: the same one gives the same cases.
    pub seed: u64,
    /// How many requests of each pair are sent at least.
    pub cases: u32,
    /// How many exchanges run at the same time.
    pub jobs: usize,
    /// At most that many requests a second.
    pub rate: Option<f64>,
    /// At most that many requests in all.
    pub max_requests: Option<usize>,
    /// The run is over after that long.
    pub time_limit: Duration,
    /// At most that many requests to make one failure small; 0 leaves it as it was found.
    pub shrink_requests: u32,
    /// Whether findings are sent again and made small. Without, a run tells which rules were broken, and no more.
    pub closer_look: bool,
    /// How strictly the run is concluded.
    pub strictness: Strictness,
}
