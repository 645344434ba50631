//! A worker of a Locust master (PyPI `locust` 2.x), which distributes a load test over machines.
//!
//! goose 0.19 has no distributed mode. Locust has one that engineers know: a master with a web page divides users over workers. So this
//! module speaks the protocol of its workers, and sends and judges as `run` does. [`protocol`] has ZMTP and the
//! messages, `session` the conversation with a master, `load` a run, and `exact` the figures that `merge` needs.
//!
//! The master decides how many users there are, when, and at which rate. It never decides about the target, its headers, or files:
//! Locust has no authentication, so these come from the command line of the worker alone.

mod corpus;
mod exact;
mod load;
pub mod locustfile;
pub mod protocol;
mod session;
mod shares;
mod state;

use std::{collections::BTreeSet, future::Future, pin::pin, time::Duration};

use clap::Args;
use paymaster_settings::{RunSetup, duration, output::curl::CurlCommand};
use tokio::time::Instant;

use self::{
    protocol::connection::{Connection, ConnectionError},
    session::{Leaving, Session},
    state::{Worker, node_id, say},
};
use crate::{
    metrics::LiveFigures,
    report::RequestedReport,
    run::{
        RunError,
        discover::discover,
        options::{JudgingOptions, SendingOptions},
    },
    scenarios::MIXED,
    text::seconds,
};

/// The port of a Locust master.
const PORT: u16 = 5557;
/// The pause before a connection is tried again.
const PAUSE: Duration = Duration::from_secs(1);

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

/// Why a worker ends with an error.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The target cannot be loaded.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There was no master, or none that serves the worker, for too long.
    #[error("no Locust master at {master} for {}: {cause}", seconds(patience.as_secs_f64()))]
    NoMaster {
        /// Its address.
        master: String,
        /// How long the worker tried.
        patience: Duration,
        /// The last failure.
        cause: ConnectionError,
    },
    /// The master does not answer `client_ready`, as masters before Locust 2.10.
    #[error(
        "the master starts users of a worker that it did not acknowledge: it is older than Locust 2.10; use 2.15 or newer there"
    )]
    MasterTooOld,
    /// The master has too many workers.
    #[error(
        "the master has given {0} indexes to workers, and the ids of requests suffice for no more: restart the master"
    )]
    TooManyWorkers(u64),
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
) -> Result<(), WorkerError> {
    let RunSetup { settings: target, shown_target, redactor, .. } = setup;
    let master = with_port(&options.master);
    let mut signal = pin!(signal);
    let (known, _) = tokio::select! {
        discovered = discover(&target, target.rate, options.sending.i_own_this_target) => discovered?,
        () = signal.as_mut() => return Ok(()),
    };
    let mut worker = Worker {
        options,
        command,
        curl: CurlCommand::of(&shown_target),
        reports,
        target,
        redactor,
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
                let session = Session::new(&mut worker, connection, node_id);
                match session.serve(signal.as_mut()).await {
                    Leaving::Done => return Ok(()),
                    Leaving::Lost(cause) => cause,
                    Leaving::Failed(error) => return Err(error),
                }
            }
            Err(cause) => cause,
        };
        if worker.patience_left().is_zero() {
            return Err(WorkerError::NoMaster { master, patience: worker.options.patience, cause });
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
