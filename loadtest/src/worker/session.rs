//! One connection of a worker to its master, from `client_ready` to the end of the connection.

mod orders;

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use tokio::{task::JoinHandle, time::Instant};

use super::{
    WorkerError,
    corpus::Corpus,
    load::Load,
    process::ProcessMeter,
    state::{Worker, say},
};
use crate::scenarios::error::ScenarioError;
use crate::worker::protocol::{
    connection::{Connection, ConnectionError, Incoming, SILENCE},
    message::{self, FromMaster, FromWorker, Heartbeat, Spawn, WorkerState},
    zmtp,
};

/// How often heartbeats are sent.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Heartbeats from one `stats` message to the next.
const STATS_EVERY: u32 = 3;
/// How often `client_ready` is repeated until the master answers.
const READY_AGAIN: Duration = Duration::from_secs(5);
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
    Lost(ConnectionError),
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
    /// When the master acknowledged the worker.
    acknowledged: Option<Instant>,
    ready_sent: Instant,
    /// When the last message of Locust arrived.
    received: Instant,
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
            acknowledged: None,
            ready_sent: now,
            received: now,
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
            let why = if let Ok(Leaving::Lost(cause)) = &leaving {
                Some(format!("the Locust master was lost: {cause}"))
            } else {
                load.interrupt();
                None
            };
            self.worker.next_number = load.next_number();
            self.worker.publish(&load.summary(true, why));
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
        let mut out_of_patience = pin!(tokio::time::sleep(self.worker.patience_left()));
        loop {
            let ending = self.ending.is_some();
            let step = tokio::select! {
                () = out_of_patience.as_mut(), if self.acknowledged.is_none() => Err(ConnectionError::Unacknowledged),
                incoming = self.connection.receive() => match incoming {
                    Ok(incoming) => self.receive(incoming).await,
                    Err(cause) => Err(cause),
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

    async fn send(&mut self, message: &FromWorker) -> Result<(), ConnectionError> {
        self.connection.send(&zmtp::message(&message.to_bytes(&self.node_id))).await
    }

    async fn receive(&mut self, incoming: Incoming) -> Result<(), ConnectionError> {
        match incoming {
            Incoming::Ping(context) => self.connection.send(&zmtp::pong(&context)).await,
            Incoming::Ignored => {
                self.worker.note_once("the master sent a frame that Locust does not use; it is ignored");
                Ok(())
            }
            Incoming::Message(bytes) => match message::read(&bytes) {
                Ok(message) => {
                    if !matches!(message, FromMaster::Other(_)) {
                        self.note_received();
                    }
                    self.handle(message).await
                }
                Err(cause) => {
                    self.worker.note_once(&format!("the master sent {cause}; it is ignored"));
                    Ok(())
                }
            },
        }
    }

    /// Notes that the master sent a message of Locust.
    fn note_received(&mut self) {
        self.received = Instant::now();
        let long = SILENCE.min(self.worker.options.patience);
        let is_served = |at: Instant| self.load.is_some() || at.elapsed() >= long;
        if self.acknowledged.is_some_and(is_served) {
            self.worker.served = self.received;
        }
    }

    /// What happens every second.
    async fn tick(&mut self) -> Result<(), ConnectionError> {
        if self.acknowledged.is_none() {
            if self.ready_sent.elapsed() >= READY_AGAIN {
                self.ready_sent = Instant::now();
                self.send(&FromWorker::Ready).await?;
            }
            return Ok(());
        }
        if self.received.elapsed() >= SILENCE {
            return Err(ConnectionError::Silent);
        }
        self.ticks += 1;
        let (current_cpu_usage, current_memory_usage) = self.meter.read();
        let state = match &self.load {
            None if self.waiting.is_some() => WorkerState::Spawning,
            // A refused run is one too: the master must miss its figures.
            None if self.refused.is_none() => WorkerState::Ready,
            _ => WorkerState::Running,
        };
        let heartbeat = Heartbeat { state, current_cpu_usage, current_memory_usage };
        self.send(&FromWorker::Heartbeat(heartbeat)).await?;
        let Some(load) = &mut self.load else {
            return Ok(());
        };
        load.sample();
        if !load.is_started() && self.spawned.elapsed() >= UNANNOUNCED {
            load.set_share(self.all_users);
        }
        if self.ticks.is_multiple_of(STATS_EVERY) && self.ending.is_none() {
            let stats = load.report(&load.summary(false, None));
            self.send(&stats).await?;
        }
        Ok(())
    }
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
