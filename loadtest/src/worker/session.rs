//! One connection of a worker to its master, from `client_ready` to the end of the connection.

mod orders;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use tokio::{task::JoinHandle, time::Instant};

use super::{
    WorkerError,
    corpus::Corpus,
    load::Load,
    process::ProcessMeter,
    state::{Worker, say},
};
use crate::worker::protocol::{
    connection::{Connection, ConnectionError, Incoming},
    message::{self, FromWorker, Heartbeat, Spawn, Stats, WorkerState},
};
use crate::{results::summary::RunSummary, scenarios::error::ScenarioError};

/// How often heartbeats are sent.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Heartbeats from one `stats` message to the next.
const STATS_EVERY: u32 = 3;
/// How often `client_ready` is repeated until the master answers.
const READY_AGAIN: Duration = Duration::from_secs(5);
/// A master that sends nothing for this long is lost.
const SILENCE: Duration = Duration::from_secs(10);
/// A master that does not tell when all users are up (an older Locust without our locustfile): arrivals begin this long after the last
/// `spawn`.
const UNANNOUNCED: Duration = Duration::from_secs(15);
/// How often the end of a load is checked.
const POLL: Duration = Duration::from_millis(5);
/// How long requests in progress may take at `quit`: the master listens for half a second more.
const QUIT_GRACE: Duration = Duration::from_millis(250);

/// How a connection ended.
#[derive(Debug)]
pub(super) enum Leaving {
    /// The master said `quit`.
    Quit,
    /// A signal ended the worker.
    Interrupted,
    /// The connection or the master was lost.
    Lost(LostError),
}

/// Why the master is lost.
#[derive(Debug, thiserror::Error)]
pub(super) enum LostError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error("it sent no heartbeat for {} s", SILENCE.as_secs())]
    Silent,
    #[error("it asked to connect anew")]
    Reconnect,
}

/// What follows when a load has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Report, and be ready for another run.
    Ready,
    /// Report, and wait for `quit`.
    Wait,
    /// Report and leave.
    Quit,
    /// Report, say `quit` and leave.
    Interrupted,
}

/// A load whose requests in progress may finish.
#[derive(Clone, Copy, Debug)]
struct Ending {
    then: Then,
    deadline: Instant,
}

/// A future that ends when the worker is told to by a signal.
pub(super) type Signal<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// A connection to a master and the load that it asked for.
pub(super) struct Session<'a> {
    worker: &'a mut Worker,
    connection: Connection,
    node_id: String,
    acknowledged: bool,
    ready_sent: Instant,
    heard: Instant,
    corpus: Option<Arc<Corpus>>,
    drawing: Option<JoinHandle<Result<Corpus, ScenarioError>>>,
    /// The users that must be started as soon as the requests are drawn.
    waiting: Option<Box<Spawn>>,
    last_spawn: f64,
    spawned: Instant,
    all_users: f64,
    /// Whether the master told that all users are up while the requests of this worker were still drawn.
    announced: bool,
    stop_timeout: Duration,
    load: Option<Load>,
    /// A run that was refused: its users are not started.
    refused: Option<String>,
    ending: Option<Ending>,
    ticks: u32,
    meter: ProcessMeter,
}

impl<'a> Session<'a> {
    pub(super) fn new(worker: &'a mut Worker, connection: Connection, node_id: String) -> Self {
        let now = Instant::now();
        Self {
            worker,
            connection,
            node_id,
            acknowledged: false,
            ready_sent: now,
            heard: now,
            corpus: None,
            drawing: None,
            waiting: None,
            last_spawn: 0.0,
            spawned: now,
            all_users: 0.0,
            announced: false,
            stop_timeout: Duration::ZERO,
            load: None,
            refused: None,
            ending: None,
            ticks: 0,
            meter: ProcessMeter::default(),
        }
    }

    /// Serves the master until the connection ends. A load that still runs then is ended and reported to the files of the worker.
    pub(super) async fn serve(mut self, signal: Signal<'_>) -> Result<Leaving, WorkerError> {
        let leaving = self.exchange(signal).await;
        if let Some(drawing) = self.drawing.take() {
            drawing.abort();
        }
        if let Some(mut load) = self.load.take() {
            load.close().await;
            let why = match &leaving {
                Ok(Leaving::Lost(cause)) => format!("the Locust master was lost: {cause}"),
                _ => "interrupted".to_owned(),
            };
            self.worker.next_number = load.next_number();
            self.worker.publish(&load.summary(true, Some(why)));
        }
        leaving
    }

    async fn exchange(&mut self, mut signal: Signal<'_>) -> Result<Leaving, WorkerError> {
        if let Err(cause) = self.send(&FromWorker::Ready).await {
            return Ok(Leaving::Lost(cause));
        }
        let mut tick = tokio::time::interval(HEARTBEAT);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut signalled = false;
        loop {
            let ending = self.ending.is_some();
            let step = tokio::select! {
                incoming = self.connection.receive() => match incoming {
                    Ok(incoming) => self.receive(incoming).await,
                    Err(cause) => Err(cause.into()),
                },
                _ = tick.tick() => self.tick().await,
                drawn = drawn(&mut self.drawing) => {
                    let corpus = drawn.map_err(WorkerError::Scenario)?;
                    say(&format!("worker {} (index {}) is ready", self.node_id, corpus.shard.index()));
                    self.corpus = Some(Arc::new(corpus));
                    match self.waiting.take() {
                        Some(spawn) => self.spawn(&spawn).await,
                        None => Ok(()),
                    }
                },
                () = tokio::time::sleep(POLL), if ending => Ok(()),
                () = signal.as_mut(), if !signalled => {
                    signalled = true;
                    self.begin_end(Then::Interrupted, self.worker.grace());
                    Ok(())
                },
            };
            let step = match step {
                Ok(()) => self.check_end().await,
                Err(cause) => Err(cause),
            };
            match step {
                Ok(None) => {}
                Ok(Some(leaving)) => return Ok(leaving),
                // The future of the signal must not be polled again.
                Err(_) if signalled => return Ok(Leaving::Interrupted),
                Err(cause) => return Ok(Leaving::Lost(cause)),
            }
            if let Some(error) = self.worker.failed.take() {
                return Err(error);
            }
        }
    }

    async fn send(&mut self, message: &FromWorker) -> Result<(), LostError> {
        Ok(self.connection.send(&message.to_bytes(&self.node_id)).await?)
    }

    async fn receive(&mut self, incoming: Incoming) -> Result<(), LostError> {
        self.heard = Instant::now();
        match incoming {
            Incoming::Ping(context) => Ok(self.connection.pong(&context).await?),
            Incoming::Ignored => {
                self.worker
                    .note_once("the master sent a frame that Locust does not use; it is ignored");
                Ok(())
            }
            Incoming::Message(bytes) => match message::read(&bytes) {
                Ok(message) => self.handle(message).await,
                Err(cause) => {
                    self.worker
                        .note_once(&format!("the master sent {cause}; it is ignored"));
                    Ok(())
                }
            },
        }
    }

    /// What happens every second.
    async fn tick(&mut self) -> Result<(), LostError> {
        if !self.acknowledged {
            if self.ready_sent.elapsed() >= READY_AGAIN {
                self.ready_sent = Instant::now();
                self.send(&FromWorker::Ready).await?;
            }
            return Ok(());
        }
        if self.heard.elapsed() >= SILENCE {
            return Err(LostError::Silent);
        }
        self.ticks += 1;
        let (current_cpu_usage, current_memory_usage) = self.meter.read();
        let state = match &self.load {
            None if self.waiting.is_some() => WorkerState::Spawning,
            // A refused run is one too: the master must miss its figures.
            None if self.refused.is_none() => WorkerState::Ready,
            _ => WorkerState::Running,
        };
        let heartbeat = Heartbeat {
            state,
            current_cpu_usage,
            current_memory_usage,
        };
        self.send(&FromWorker::Heartbeat(heartbeat)).await?;
        let Some(load) = &mut self.load else {
            return Ok(());
        };
        load.sample();
        if !load.is_started() && self.spawned.elapsed() >= UNANNOUNCED {
            load.set_share(self.all_users);
        }
        if self.ticks.is_multiple_of(STATS_EVERY) && self.ending.is_none() {
            let summary = load.summary(false, None);
            let stats = stats_of(load, &summary);
            self.send(&stats).await?;
        }
        Ok(())
    }
}

fn stats_of(load: &mut Load, summary: &RunSummary) -> FromWorker {
    let users = load.users();
    let (difference, exact) = load.report(summary);
    FromWorker::Stats(Box::new(Stats {
        stats: difference.stats,
        stats_total: difference.total,
        errors: difference.errors,
        users,
        exact,
    }))
}

/// The drawn requests. Without a task it waits forever; with a finished one it empties the place of the task.
async fn drawn(
    drawing: &mut Option<JoinHandle<Result<Corpus, ScenarioError>>>,
) -> Result<Corpus, ScenarioError> {
    let Some(task) = drawing else {
        return std::future::pending().await;
    };
    let done = task.await;
    *drawing = None;
    // A panic has printed its own message.
    done.unwrap_or_else(|_| Err(ScenarioError::NoneUsable(Vec::new())))
}
