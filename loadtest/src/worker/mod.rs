//! A worker of a Locust master (PyPI `locust` 2.x), which distributes a load test over machines.
//!
//! goose 0.19 has no distributed mode. Locust has one that engineers know: a master with a web page divides users over workers. So this
//! module speaks the protocol of its workers, and sends and judges as `run` does. [`protocol`] has ZMTP and the
//! messages, `session` the conversation with a master, and `load` a run, with the figures that `merge` needs.
//!
//! The master decides how many users there are, when, and at which rate. It never decides about the target, its headers, or files:
//! Locust has no authentication, so these come from the command line of the worker alone.

mod load;
pub mod locustfile;
pub mod protocol;
mod session;
mod shares;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum as _};
use paymaster_engine::knowledge::Knowledge;
use paymaster_settings::output as out;
use paymaster_settings::process::CommandError;
use paymaster_settings::{RunSetup, duration, escape_controls};
use tokio::time::Instant;

use self::load::{AskedLoad, Corpus, Load, REQUESTS, Shard};
use self::protocol::{Connection, MasterOptions};
use self::session::{Leaving, Session};
use crate::figures::Outcome;
use crate::metrics::LiveFigures;
use crate::report::RequestedReport;
use crate::results::RunSummary;
use crate::run::{Arrivals, JudgingOptions, Rate, SendingOptions, check_limit, discover};
use crate::scenarios::MIXED;
use crate::text::{self, count, seconds};

/// The port of a Locust master.
const PORT: u16 = 5557;
/// The pause before a connection is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long requests in progress may take at the end of a run, unless their timeout is shorter.
const GRACE: Duration = Duration::from_secs(5);

/// The options of a worker as the command line has them. Users, their number and the rate are those of the master.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("seed", |arg| arg.help("The same seed gives the same requests to a worker with the same index [default: 1]")))]
pub struct WorkerOptions {
    /// The Locust master [default port: 5557].
    #[arg(long, value_name = "HOST:PORT", help_heading = "Master")]
    pub master: String,
    /// How long the worker waits for a master that acknowledges and serves it, before it gives up [default: 5m].
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Master", default_value = "5m", hide_default_value = true)]
    pub patience: Duration,

    /// The only scenario to send. By default every user sends the scenario of its class.
    #[arg(short, long, value_name = "NAME", default_value = MIXED, help_heading = "Load")]
    pub scenario: String,

    #[command(flatten)]
    pub judging: JudgingOptions,
    #[command(flatten)]
    pub sending: SendingOptions,
}

/// Serves a master until it says `quit` or `signal` ends. A lost master ends the load; the worker then waits for it under a new name.
/// It ends with an error after [`WorkerOptions::patience`] without a master that serves it: one that acknowledges the worker and sends whole frames.
/// `live` gets the figures of each run while it goes on. At the end of each run it writes `reports`, which name its `command` line (without
/// secrets).
pub async fn serve(
    options: WorkerOptions,
    command: String,
    reports: Vec<RequestedReport>,
    setup: RunSetup,
    live: &LiveFigures,
    signal: impl Future<Output = ()> + Send,
) -> Result<(), CommandError> {
    let (target, master) = (&setup.settings, with_port(&options.master));
    let mut signal = pin!(signal);
    let discovered = tokio::select! {
        discovered = discover(target, target.args.rate, options.sending.i_own_this_target) => discovered?,
        () = signal.as_mut() => return Ok(()),
    };
    let (known, _) = discovered.map_err(|cause| untested(&format!("{}: {cause}", target.shown_target)))?;
    let mut worker = Worker {
        options,
        command,
        reports,
        setup,
        known,
        live: live.clone(),
        next_number: 0,
        runs: 0,
        served: Instant::now(),
        noted: BTreeSet::new(),
    };
    loop {
        let served = worker.served;
        // A new name each time: a master ignores a second connection with a name that it knows.
        let node_id = node_id();
        let opened = tokio::select! {
            opened = Connection::open(&master, &node_id) => opened,
            () = signal.as_mut() => return Ok(()),
        };
        let cause = match opened {
            Ok(connection) => {
                match Session::new(&mut worker, connection, node_id).serve(signal.as_mut()).await {
                    Leaving::Done => return Ok(()),
                    Leaving::Lost(cause) => cause,
                    Leaving::Failed(error) => return Err(error),
                }
            }
            Err(cause) => cause,
        };
        if worker.patience_left().is_zero() {
            let patience = seconds(worker.options.patience.as_secs_f64());
            return Err(untested(&format!("no Locust master at {master} for {patience}: {cause}")));
        }
        if worker.served == served {
            worker.note_once(&format!("no Locust master at {master} yet: {cause}; trying again"));
        } else {
            say(&format!("the master at {master} was lost: {cause}"));
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = signal.as_mut() => return Ok(()),
        }
    }
}

/// A worker, from its start to its end.
struct Worker {
    options: WorkerOptions,
    /// The command line of the worker, without secrets: its reports name it.
    command: String,
    /// Where the worker writes its own report at the end of each run.
    reports: Vec<RequestedReport>,
    setup: RunSetup,
    known: Arc<dyn Knowledge>,
    /// Gets the figures of each run while it goes on.
    live: LiveFigures,
    /// The number of the next request within the part of this worker, so that later runs repeat no id.
    next_number: u64,
    /// The runs that have ended.
    runs: u64,
    /// When a master last served the worker: it sent a message of Locust in a run, or 10 s or more after it acknowledged the worker. At first, the start of the worker. A master that only accepts connections, or fails soon after it acknowledged the
    /// worker, does not serve it.
    served: Instant,
    /// What was noted already.
    noted: BTreeSet<String>,
}

impl Worker {
    /// The load of a run that begins with these options of the master; or why it cannot begin.
    fn begin(&self, options: &MasterOptions, corpus: &Arc<Corpus>, name: &str) -> Result<Load, String> {
        let rate = options.rate().map(Rate::parse).transpose().map_err(|cause| format!("--rate: {cause}"))?;
        let arrivals = match options.paymaster_arrivals.as_deref().unwrap_or_default() {
            "" => Arrivals::default(),
            name => Arrivals::from_str(name, false).map_err(|cause| format!("--arrivals: {cause}"))?,
        };
        if arrivals == Arrivals::Poisson && rate.is_none() {
            return Err("--arrivals poisson is for the arrivals of --rate: give a rate".to_owned());
        }
        check_limit(rate.as_ref(), self.setup.settings.args.rate, &corpus.mix)?;
        let thresholds = options.paymaster_thresholds.iter().flatten().map(|text| text.parse());
        let asked = AskedLoad { rate, arrivals, thresholds: thresholds.collect::<Result<_, _>>()? };
        Load::new(self, name, asked, corpus).map_err(|cause| format!("the pacer: {cause}"))
    }

    /// The number of the first request of a run. The counter goes on over the runs of one master. Another index begins its own part.
    fn first_number(&self, shard: Shard) -> u64 {
        let first = shard.first_number();
        if (first..first + REQUESTS).contains(&self.next_number) { self.next_number } else { first }
    }

    /// What must be equal for all workers of a run, because it decides what their figures mean.
    fn equal_setup(&self) -> BTreeMap<String, String> {
        let (target, options) = (&self.setup.settings, &self.options);
        // Headers may differ, and the URL is compared as reports show it.
        let profile = (target.profile.saved(), target.args.rate);
        let mut sum = flate2::Crc::new();
        sum.update(serde_json::to_string(&profile).unwrap_or_default().as_bytes());
        [
            ("target", target.shown_target.clone()),
            ("profile", format!("{:08x}", sum.sum())),
            ("--judge", text::percent(options.judging.judge.0 * 100.0)),
            ("--strict", options.judging.strict.to_string()),
            ("--timeout", text::duration(target.transport.limits.timeout)),
            ("--respect-retry-after", options.sending.respect_retry_after.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Writes the reports of the worker about a run that ended, each run into files of its own, and one line to standard error.
    /// `next_number` is the number of the next request.
    fn publish(&mut self, summary: &RunSummary, next_number: u64) {
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
    fn patience_left(&self) -> Duration {
        self.options.patience.saturating_sub(self.served.elapsed())
    }

    fn note_once(&mut self, text: &str) {
        if self.noted.len() < 100 && self.noted.insert(text.to_owned()) {
            say(text);
        }
    }

    fn grace(&self) -> Duration {
        self.setup.settings.transport.limits.timeout.min(GRACE)
    }
}

/// The target or the master did not answer, or is another service.
fn untested(cause: &str) -> CommandError {
    CommandError::could_not_test(format!("could not test: {cause}"))
}

/// Writes a line to standard error.
fn say(text: &str) {
    out::eprint(&format!("{}\n", escape_controls(text)));
}

/// Host and a random number, as workers of Locust call themselves.
fn node_id() -> String {
    let host: String = host().chars().filter(char::is_ascii_graphic).take(100).collect();
    format!("{host}_{:032x}", fastrand::u128(..))
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "worker".to_owned())
}

/// The address with the port of Locust, if it has none.
fn with_port(master: &str) -> String {
    // An IPv6 address has colons of its own.
    let is_bare = master.matches(':').count() > 1 && !master.starts_with('[');
    let address = if is_bare { format!("[{master}]") } else { master.to_owned() };
    let has_port = address.rsplit(']').next().is_some_and(|end| end.contains(':'));
    if has_port { address } else { format!("{address}:{PORT}") }
}

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
