//! What a worker keeps over all its connections and runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::Arc,
    time::Duration,
};

use clap::ValueEnum as _;
use paymaster_client::redact::Redactor;
use paymaster_engine::knowledge::Knowledge;
use paymaster_settings::{
    output::{self as out, curl::CurlCommand, terminal::escape_controls},
    settings::Settings as TargetSettings,
};
use tokio::time::Instant;

use super::{
    WorkerOptions,
    corpus::{self, Corpus, Shard},
    load::{AskedLoad, Load},
};
use crate::worker::protocol::message::MasterOptions;
use crate::{
    figures::outcome::Outcome,
    metrics::LiveFigures,
    report::RequestedReport,
    results::{summary::RunSummary, threshold::Threshold},
    run::{
        check_limit,
        options::{Arrivals, Rate},
    },
    text::{count, duration, percent, seconds},
};

/// How long requests in progress may take at the end of a run, unless their timeout is shorter.
const GRACE: Duration = Duration::from_secs(5);

/// A worker, from its start to its end.
pub(super) struct Worker {
    pub(super) options: WorkerOptions,
    /// The command line of the worker, without secrets: its reports name it.
    pub(super) command: String,
    /// What sends a request to the target again, for its reports.
    pub(super) curl: CurlCommand,
    /// Where the worker writes its own report at the end of each run.
    pub(super) reports: Vec<RequestedReport>,
    pub(super) target: TargetSettings,
    pub(super) redactor: Redactor,
    pub(super) known: Arc<dyn Knowledge>,
    /// Gets the figures of each run while it goes on.
    pub(super) live: LiveFigures,
    /// The number of the next request within the part of this worker, so that later runs repeat no id.
    pub(super) next_number: u64,
    /// The runs that have ended.
    pub(super) runs: u64,
    /// When a master last served the worker: it sent a message of Locust in a run, or 10 s or more after it acknowledged the worker. At first, the start of the worker. A master that only accepts connections, or fails soon after it acknowledged the
    /// worker, does not serve it.
    pub(super) served: Instant,
    /// What was noted already.
    pub(super) noted: BTreeSet<String>,
}

impl Worker {
    /// The load of a run that begins with these options of the master; or why it cannot begin.
    pub(super) fn begin(
        &self,
        options: &MasterOptions,
        corpus: &Arc<Corpus>,
        name: &str,
    ) -> Result<Load, Box<dyn Error + Send + Sync>> {
        let rate = options.rate().map(Rate::parse).transpose().map_err(|cause| format!("--rate: {cause}"))?;
        let arrivals = match options.paymaster_arrivals.as_deref().unwrap_or_default() {
            "" => Arrivals::default(),
            name => Arrivals::from_str(name, false).map_err(|cause| format!("--arrivals: {cause}"))?,
        };
        if arrivals == Arrivals::Poisson && rate.is_none() {
            return Err("--arrivals poisson is for the arrivals of --rate: give a rate".into());
        }
        check_limit(rate.as_ref(), self.target.rate, &corpus.mix)?;
        let texts = options.paymaster_thresholds.iter().flatten();
        let thresholds: Result<Vec<Threshold>, String> = texts.map(|text| text.parse()).collect();
        let asked = AskedLoad { rate, arrivals, thresholds: thresholds? };
        Ok(Load::new(self, name, asked, corpus).map_err(|cause| format!("the pacer: {cause}"))?)
    }

    /// The number of the first request of a run. The counter goes on over the runs of one master. Another index begins its own part.
    pub(super) fn first_number(&self, shard: Shard) -> u64 {
        let first = shard.first_number();
        if (first..first + corpus::REQUESTS).contains(&self.next_number) { self.next_number } else { first }
    }

    /// What must be equal for all workers of a run, because it decides what their figures mean.
    pub(super) fn setup(&self) -> BTreeMap<String, String> {
        // Headers may differ, and the URL is compared as reports show it.
        let profile = (self.target.profile.saved(), self.target.rate);
        let mut sum = flate2::Crc::new();
        sum.update(serde_json::to_string(&profile).unwrap_or_default().as_bytes());
        let options = &self.options;
        [
            ("target", self.target.shown_target.clone()),
            ("profile", format!("{:08x}", sum.sum())),
            ("--judge", percent(options.judging.judge.value() * 100.0)),
            ("--strict", options.judging.strict.to_string()),
            ("--timeout", duration(self.target.transport.limits.timeout)),
            ("--respect-retry-after", options.sending.respect_retry_after.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Writes the reports of the worker about a run that ended, each run into files of its own, and one line to standard error.
    /// `next_number` is the number of the next request.
    pub(super) fn publish(&mut self, summary: &RunSummary, next_number: u64) {
        self.next_number = next_number;
        self.live.end(summary);
        self.runs += 1;
        let counts = summary.figures.total(None).counts;
        let wrong = counts.of(Outcome::Wrong);
        say(&format!(
            "a run ended: {} in {}, {wrong} wrong",
            count(counts.all(), "request"),
            seconds(summary.seconds)
        ));
        for report in &self.reports {
            if let Err(cause) = report.of_run(self.runs).write(summary, None) {
                out::error(&format!("a report could not be written: {cause}"));
            }
        }
    }

    /// How long the worker still waits for a master that serves it.
    pub(super) fn patience_left(&self) -> Duration {
        self.options.patience.saturating_sub(self.served.elapsed())
    }

    pub(super) fn note_once(&mut self, text: &str) {
        if self.noted.len() < 100 && self.noted.insert(text.to_owned()) {
            say(text);
        }
    }

    pub(super) fn grace(&self) -> Duration {
        self.target.transport.limits.timeout.min(GRACE)
    }
}

/// Writes a line to standard error.
pub(super) fn say(text: &str) {
    out::eprint(&format!("{}\n", escape_controls(text)));
}

/// A random number. The standard library draws the keys of its hash maps from the random numbers of the system.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Host and a random number, as workers of Locust call themselves.
pub(super) fn node_id() -> String {
    let host: String = host().chars().filter(char::is_ascii_graphic).take(100).collect();
    format!("{host}_{:016x}{:016x}", random(), random())
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "worker".to_owned())
}

impl MasterOptions {
    fn rate(&self) -> Option<&str> {
        self.paymaster_rate.as_deref().map(str::trim).filter(|rate| !rate.is_empty())
    }

    /// Whether arrivals follow a rate.
    pub(super) fn has_rate(&self) -> bool {
        self.rate().is_some()
    }
}
