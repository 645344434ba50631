//! A worker of a Locust master (PyPI `locust` 2.x), which distributes a load test over machines.
//!
//! goose 0.19 has no distributed mode. Locust has one that engineers know: a master with a web page divides users over workers. So this
//! module speaks the protocol of its workers, and sends and judges as `run` does. [`connection`] speaks ZMTP ([`zmtp`]), `message` has
//! the messages, `session` the conversation with a master, `load` a run, and `exact` the figures that `merge` needs.
//!
//! The master decides how many users there are, when, and at which rate. It never decides about the target, its headers, or files:
//! Locust has no authentication, so these come from the command line of the worker alone.

pub mod connection;
mod corpus;
mod exact;
mod load;
mod locust_stats;
pub mod locustfile;
mod message;
mod process;
mod session;
mod shares;
pub mod zmtp;

use std::{
    collections::BTreeSet,
    future::Future,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use paymaster_cli::{output as out, settings::Settings as TargetSettings, target::TargetSetup};
use paymaster_client::redact::Redactor;
use paymaster_judge::target::context::Context;

use self::{
    connection::{Connection, ConnectionError},
    corpus::Corpus,
    load::{Load, LoadSettings},
    message::MasterOptions,
    session::{Leaving, Session},
};
use crate::{
    judging::{AnswerJudge, JudgedShare},
    report,
    results::{summary::RunSummary, threshold::Threshold},
    run::{self, error::RunError, options::Rate},
    scenarios::{MIXED, error::ScenarioError},
    text::{count, seconds},
};

/// The port of a Locust master.
const PORT: u16 = 5557;
/// The pause before a connection is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long requests in progress may take at the end of a run, unless their timeout is shorter.
const GRACE: Duration = Duration::from_secs(5);

/// The options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The master: `HOST:PORT`, or `HOST` for port 5557.
    pub master: String,
    /// How long the master may be away.
    pub patience: Duration,
    /// The only scenario that is sent, or `mixed` for that of each user's class.
    pub scenario: String,
    /// The share of answers to judge.
    pub judge: JudgedShare,
    /// Whether rules that only warn in a conformance run count.
    pub strict: bool,
    /// Whether to pause as Retry-After requests.
    pub respect_retry_after: bool,
    /// Whether the user may load the target although it is public.
    pub own_target: bool,
    /// Where the worker writes its own report at the end of each run.
    pub reports: Vec<PathBuf>,
}

/// Why a worker ends with an error.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The target cannot be loaded.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The requests cannot be drawn.
    #[error(transparent)]
    Scenario(ScenarioError),
    /// The master was away for too long.
    #[error("no Locust master at {master} for {} s: {cause}", patience.as_secs())]
    NoMaster {
        /// Its address.
        master: String,
        /// How long the worker tried.
        patience: Duration,
        /// The last failure.
        cause: ConnectionError,
    },
    /// The master has too many workers.
    #[error(
        "the master has given {0} indexes to workers, and the ids of requests suffice for no more: restart the master"
    )]
    TooManyWorkers(u64),
}

/// A worker, from its start to its end.
struct Worker {
    options: WorkerOptions,
    target: TargetSettings,
    redactor: Redactor,
    context: Arc<Context>,
    /// The number of the next request within the part of this worker, so that later runs repeat no id.
    next_number: u64,
    /// Why the worker must end, noted by the session.
    failed: Option<WorkerError>,
    /// What was noted already.
    noted: BTreeSet<String>,
}

/// Serves a master until it says `quit` or `signal` ends. A lost master ends the load; the worker then waits for it under a new name.
pub async fn serve(
    options: WorkerOptions,
    setup: TargetSetup,
    signal: impl Future<Output = ()> + Send,
) -> Result<(), WorkerError> {
    let TargetSetup {
        settings: target,
        redactor,
        ..
    } = setup;
    let master = with_port(&options.master);
    run::check_load(&target, target.rate, options.own_target).await?;
    let context = Arc::new(run::discover::discover(&target).await?);
    let mut worker = Worker {
        options,
        target,
        redactor,
        context,
        next_number: 0,
        failed: None,
        noted: BTreeSet::new(),
    };
    let mut signal = pin!(signal);
    let mut away_since = Instant::now();
    loop {
        // A new name each time: a master ignores a second connection with a name that it knows.
        let node_id = worker.node_id();
        let opened = tokio::select! {
            opened = Connection::open(&master, &node_id) => opened,
            () = signal.as_mut() => return Ok(()),
        };
        match opened {
            Ok(connection) => {
                let session = Session::new(&mut worker, connection, node_id);
                match session.serve(signal.as_mut()).await? {
                    Leaving::Quit | Leaving::Interrupted => return Ok(()),
                    Leaving::Lost(cause) => worker.say(&format!("the master at {master} was lost: {cause}")),
                }
                away_since = Instant::now();
            }
            Err(cause) if away_since.elapsed() >= worker.options.patience => {
                return Err(WorkerError::NoMaster {
                    master,
                    patience: worker.options.patience,
                    cause,
                });
            }
            Err(cause) => worker.note_once(&format!(
                "no Locust master at {master} yet: {cause}; trying again"
            )),
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = signal.as_mut() => return Ok(()),
        }
    }
}

impl Worker {
    /// The load of a run that begins with these options of the master; or why it cannot begin.
    fn begin(&self, options: &MasterOptions, corpus: &Arc<Corpus>, name: &str) -> Result<Load, String> {
        let rate = options
            .rate()
            .map(Rate::parse)
            .transpose()
            .map_err(|cause| format!("--rate: {cause}"))?;
        let limit = self.target.rate;
        if let (Some(rate), Some(limit)) = (&rate, limit) {
            let requests = rate.highest() * corpus.mix.requests_per_iteration();
            if requests > limit {
                return Err(RunError::AboveLimit {
                    limit,
                    rate: rate.to_string(),
                    requests,
                }
                .to_string());
            }
        }
        let texts = options.paymaster_thresholds.iter().flatten();
        let thresholds: Result<Vec<Threshold>, _> = texts.map(|text| text.parse()).collect();
        let first_number = corpus.shard.first_number();
        let settings = LoadSettings {
            judge: AnswerJudge::new((*self.context).clone(), self.options.judge, self.options.strict),
            transport: self.target.transport.clone(),
            redactor: self.redactor.clone(),
            shown_target: self.target.shown_target.clone(),
            respect_retry_after: self.options.respect_retry_after,
            judge_share: self.options.judge.value(),
            seed: self.target.seed,
            limit,
            rate,
            thresholds: thresholds.map_err(|cause| cause.to_string())?,
            name: name.to_owned(),
            // The counter goes on over the runs of one master. Another index begins its own part.
            first_number: if self.next_number > first_number
                && self.next_number - first_number < corpus::REQUESTS
            {
                self.next_number
            } else {
                first_number
            },
        };
        Load::new(settings, corpus).map_err(|cause| format!("the pacer: {cause}"))
    }

    /// Writes the reports of the worker and one line to standard error.
    fn publish(&mut self, summary: &RunSummary) {
        let counts = summary.figures.total(None).counts;
        let wrong = counts.of(crate::figures::outcome::Outcome::Wrong);
        self.say(&format!(
            "a run ended: {} in {}, {wrong} wrong",
            count(counts.all(), "request"),
            seconds(summary.seconds)
        ));
        for path in &self.options.reports {
            if let Err(cause) = report::write(path, summary, None) {
                out::error(&format!("a report could not be written: {cause}"));
            }
        }
    }

    fn say(&self, text: &str) {
        out::eprint(&format!("{}\n", paymaster_cli::terminal::escape_controls(text)));
    }

    fn note_once(&mut self, text: &str) {
        if self.noted.len() < 100 && self.noted.insert(text.to_owned()) {
            self.say(text);
        }
    }

    fn grace(&self) -> Duration {
        self.target.transport.limits.timeout.min(GRACE)
    }

    /// A random number. The standard library draws the keys of its hash maps from the random numbers of the system.
    fn random() -> u64 {
        RandomState::new().build_hasher().finish()
    }

    /// Host and a random number, as workers of Locust call themselves.
    fn node_id(&self) -> String {
        let uname = rustix::system::uname();
        let host = uname.nodename().to_string_lossy();
        let host: String = host
            .chars()
            .filter(|letter| letter.is_ascii_graphic())
            .take(100)
            .collect();
        format!("{host}_{:016x}{:016x}", Self::random(), Self::random())
    }
}

/// The address with the port of Locust, if it has none.
fn with_port(master: &str) -> String {
    let has_port = master.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
    });
    if has_port {
        master.to_owned()
    } else if master.contains(':') && !master.starts_with('[') {
        format!("[{master}]:{PORT}")
    } else {
        format!("{master}:{PORT}")
    }
}

impl MasterOptions {
    /// The rate, if the master has one.
    fn rate(&self) -> Option<&str> {
        self.paymaster_rate
            .as_deref()
            .map(str::trim)
            .filter(|rate| !rate.is_empty())
    }

    /// Whether arrivals follow a rate.
    fn has_rate(&self) -> bool {
        self.rate().is_some()
    }
}

/// The scenario that stands for the class of each user.
pub const BY_CLASS: &str = MIXED;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_port_gets_that_of_locust() {
        for (master, expected) in [
            ("locust", "locust:5557"),
            ("10.0.0.1:6000", "10.0.0.1:6000"),
            ("::1", "[::1]:5557"),
            ("[::1]", "[::1]:5557"),
            ("[::1]:6000", "[::1]:6000"),
        ] {
            assert_eq!(with_port(master), expected);
        }
    }
}
