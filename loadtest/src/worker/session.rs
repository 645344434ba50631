//! One connection of a worker to its master, from `client_ready` to the end of the connection. As the master says, it draws requests, begins
//! runs, changes users, and ends runs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use paymaster_settings::process::CommandError;
use serde::Serialize;
use tokio::{task::JoinHandle, time::Instant};

use super::load::{Corpus, Load, MOST_WORKERS, Shard};
use super::{Worker, say};
use crate::figures::CpuTimes;
use crate::worker::protocol::{
    Connection, ConnectionError, Frame, FromMaster, Heartbeat, READY, Spawn, UserCounts, message, zmtp,
};

/// A master that sends no message of Locust for this long is lost.
const SILENCE: Duration = Duration::from_secs(10);
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

/// Why a peer is lost that completes the handshake and never answers `client_ready`.
const UNACKNOWLEDGED: &str =
    "it accepts the connection and does not acknowledge this worker: is it a Locust master?";
/// Why masters before Locust 2.10 are refused, which do not answer `client_ready`.
const TOO_OLD: &str = "the master starts users of a worker that it did not acknowledge: it is older than Locust 2.10; use 2.15 or newer there";

/// Why a connection ends.
pub(super) enum Leaving {
    /// The master said `quit`, or a signal ended the worker.
    Done,
    /// The connection or the master was lost.
    Lost(ConnectionError),
    /// The worker must end.
    Failed(CommandError),
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

/// A future that ends when the worker is told to by a signal.
pub(super) type Signal<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// A connection to a master and the load that it asked for.
pub(super) struct Session<'a> {
    worker: &'a mut Worker,
    connection: Connection,
    /// Whether the last frame announced that another part of its message follows.
    in_message: bool,
    node_id: String,
    /// When the master acknowledged the worker.
    acknowledged: Option<Instant>,
    ready_sent: Instant,
    /// When the last message of Locust arrived.
    received: Instant,
    corpus: Option<Arc<Corpus>>,
    drawing: Option<JoinHandle<Result<Corpus, String>>>,
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
    /// What follows the end of the load, and until when its requests in progress may finish.
    ending: Option<(Then, Instant)>,
    /// Whether a signal told the worker to end: its future must not be polled again.
    signalled: bool,
    ticks: u32,
    meter: CpuTimes,
}

impl<'a> Session<'a> {
    pub(super) fn new(worker: &'a mut Worker, connection: Connection, node_id: String) -> Self {
        let now = Instant::now();
        Self {
            worker,
            connection,
            in_message: false,
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
            signalled: false,
            ticks: 0,
            meter: CpuTimes::now(),
        }
    }

    /// Serves the master until the connection ends. A load that still runs then is ended and reported to the files of the worker.
    pub(super) async fn serve(mut self, signal: Signal<'_>) -> Leaving {
        let Err(leaving) = self.exchange(signal).await;
        let leaving = match leaving {
            Leaving::Lost(_) if self.signalled => Leaving::Done,
            leaving => leaving,
        };
        if let Some(drawing) = self.drawing.take() {
            drawing.abort();
        }
        if let Some(mut load) = self.load.take() {
            let why = match &leaving {
                Leaving::Lost(cause) => Some(format!("the Locust master was lost: {cause}")),
                Leaving::Done | Leaving::Failed(_) => None,
            };
            load.close(why.is_none()).await;
            self.worker.publish(&load.summary(true, why), load.next_number());
        }
        leaving
    }

    async fn exchange(&mut self, mut signal: Signal<'_>) -> Result<Infallible, Leaving> {
        self.send(READY.0, &READY.1).await?;
        let mut tick = tokio::time::interval(HEARTBEAT);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut out_of_patience = pin!(tokio::time::sleep(self.worker.patience_left()));
        loop {
            tokio::select! {
                () = out_of_patience.as_mut(), if self.acknowledged.is_none() => {
                    return Err(Leaving::Lost(UNACKNOWLEDGED.into()));
                }
                frame = self.connection.frame() => self.receive(frame.map_err(Leaving::Lost)?).await?,
                _ = tick.tick() => self.tick().await?,
                drawn = drawn(&mut self.drawing) => {
                    let corpus = drawn.map_err(|cause| Leaving::Failed(cause.into()))?;
                    say(&format!("worker {} (index {}) is ready", self.node_id, corpus.shard.index()));
                    self.corpus = Some(Arc::new(corpus));
                    self.spawn().await?;
                },
                () = tokio::time::sleep(POLL), if self.ending.is_some() => {}
                () = signal.as_mut(), if !self.signalled => {
                    self.signalled = true;
                    self.begin_end(Then::Interrupted, self.worker.grace());
                },
            }
            self.check_end().await?;
        }
    }

    async fn send(&mut self, kind: &str, data: &impl Serialize) -> Result<(), Leaving> {
        self.send_frame(&zmtp::message(&message::from_worker(kind, data, &self.node_id))).await
    }

    async fn send_frame(&mut self, frame: &[u8]) -> Result<(), Leaving> {
        self.connection.send(frame).await.map_err(Leaving::Lost)
    }

    async fn receive(&mut self, frame: Frame) -> Result<(), Leaving> {
        let bytes = match frame {
            Frame::Command(name, data) if &name[..] == b"PING" => {
                return self.send_frame(&zmtp::pong(&data)).await;
            }
            Frame::Part { body, more } if !std::mem::replace(&mut self.in_message, more) && !more => body,
            // An unknown command, or a part of a message of several frames, which Locust never sends.
            _ => {
                self.worker.note_once("the master sent a frame that Locust does not use; it is ignored");
                return Ok(());
            }
        };
        let message = match message::read(&bytes) {
            Ok(message) => message,
            Err(cause) => {
                let what = format!("the master sent a message that cannot be read: {cause}; it is ignored");
                self.worker.note_once(&what);
                return Ok(());
            }
        };
        if !matches!(message, FromMaster::Other(_)) {
            self.note_received();
        }
        self.handle(message).await
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
    async fn tick(&mut self) -> Result<(), Leaving> {
        if self.acknowledged.is_none() {
            if self.ready_sent.elapsed() >= READY_AGAIN {
                self.ready_sent = Instant::now();
                self.send(READY.0, &READY.1).await?;
            }
            return Ok(());
        }
        if self.received.elapsed() >= SILENCE {
            let silence = format!("it sent no heartbeat for {} s", SILENCE.as_secs());
            return Err(Leaving::Lost(silence.into()));
        }
        self.ticks += 1;
        let usage = std::mem::replace(&mut self.meter, CpuTimes::now()).since();
        let state = match &self.load {
            None if self.waiting.is_some() => "spawning",
            // A refused run is one too: the master must miss its figures.
            None if self.refused.is_none() => "ready",
            _ => "running",
        };
        let heartbeat = Heartbeat {
            state,
            current_cpu_usage: (usage.cpu_share.unwrap_or_default() * 100.0).clamp(0.0, 100.0),
            current_memory_usage: memory().unwrap_or_default(),
        };
        self.send("heartbeat", &heartbeat).await?;
        let Some(load) = &mut self.load else { return Ok(()) };
        load.sample();
        if !load.is_started() && self.spawned.elapsed() >= UNANNOUNCED {
            load.set_share(self.all_users);
        }
        if self.ticks.is_multiple_of(STATS_EVERY) && self.ending.is_none() {
            self.send_stats().await?;
        }
        Ok(())
    }

    /// Reports the load so far.
    async fn send_stats(&mut self) -> Result<(), Leaving> {
        let Some(load) = &mut self.load else { return Ok(()) };
        let stats = load.report(&load.summary(false, None));
        self.send("stats", &stats).await
    }

    async fn handle(&mut self, message: FromMaster) -> Result<(), Leaving> {
        match message {
            FromMaster::Ack(index) => self.acknowledge(index)?,
            // Without an index, the requests of two workers could be the same.
            FromMaster::Spawn(_) if self.acknowledged.is_none() => {
                return Err(Leaving::Failed(TOO_OLD.into()));
            }
            FromMaster::Spawn(spawn) => {
                self.send("spawning", &()).await?;
                if spawn.timestamp <= self.last_spawn || self.ending.is_some() {
                    return Ok(());
                }
                self.last_spawn = spawn.timestamp;
                self.waiting = Some(spawn);
                self.spawn().await?;
            }
            FromMaster::SpawningComplete(users) => {
                self.all_users = users.unwrap_or(self.all_users);
                match &mut self.load {
                    Some(load) => load.announce(self.all_users),
                    None => self.announced = true,
                }
            }
            FromMaster::Stop => self.begin_end(Then::Ready, self.stop_timeout.max(self.worker.grace())),
            FromMaster::Finish => self.begin_end(Then::Wait, self.worker.grace()),
            FromMaster::Quit => self.begin_end(Then::Quit, QUIT_GRACE),
            FromMaster::Reconnect => return Err(Leaving::Lost("it asked to connect anew".into())),
            FromMaster::Heartbeat => {}
            FromMaster::Other(kind) => {
                let kind = kind.escape_default();
                self.worker.note_once(&format!("the master sent a message `{kind}`, which a worker ignores"));
            }
        }
        Ok(())
    }

    /// Takes the index that the master gave, and draws the requests of that index.
    fn acknowledge(&mut self, index: Option<u64>) -> Result<(), Leaving> {
        if self.acknowledged.is_some() {
            return Ok(());
        }
        self.acknowledged = Some(Instant::now());
        let too_many = || {
            let given = format!("the master has given {MOST_WORKERS} indexes to workers");
            let why = format!("{given}, and the ids of requests suffice for no more: restart the master");
            Leaving::Failed(why.into())
        };
        let shard = Shard::new(index).ok_or_else(too_many)?;
        let Worker { known, options, setup, .. } = &*self.worker;
        let (known, scenario, seed) = (Arc::clone(known), options.scenario.clone(), setup.settings.seed());
        self.drawing =
            Some(tokio::task::spawn_blocking(move || Corpus::draw(&*known, &scenario, seed, shard)));
        Ok(())
    }

    /// Starts and stops users as the master said, once the requests are drawn. The first `spawn` of a run begins it.
    async fn spawn(&mut self) -> Result<(), Leaving> {
        let Some(corpus) = &self.corpus else { return Ok(()) };
        let Some(spawn) = self.waiting.take() else { return Ok(()) };
        let options = spawn.parsed_options.unwrap_or_default();
        let seconds = spawn.stop_timeout.unwrap_or_default().clamp(0.0, 3_600.0);
        self.stop_timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        self.spawned = Instant::now();
        if !self.announced {
            self.all_users = options.num_users.unwrap_or(self.all_users);
        }
        let is_new = self.load.is_none() && self.refused.is_none();
        if is_new {
            match self.worker.begin(&options, corpus, &self.node_id) {
                Ok(load) => self.load = Some(load),
                Err(cause) => self.refuse(cause).await?,
            }
        }
        if let Some(load) = &mut self.load {
            let set = load.set_users(&spawn.user_classes_count);
            // The limit of a profile is divided at once; a rate that runs is divided when all users are up.
            let is_limited = self.worker.setup.settings.args.rate.is_some() && options.rate().is_none();
            if load.is_started() && is_limited {
                load.set_share(self.all_users);
            }
            if let Err(refusal) = set {
                self.refuse(refusal).await?;
            }
        }
        if let Some(load) = self.load.as_mut().filter(|_| self.announced) {
            load.announce(self.all_users);
            self.announced = false;
        }
        let users = match &self.load {
            Some(load) => load.users(),
            None => UserCounts::of(spawn.user_classes_count.into_keys().map(|class| (class, 0)).collect()),
        };
        self.send("spawning_complete", &users).await?;
        // So the master knows from the beginning that figures of this worker must come.
        if is_new { self.send_stats().await } else { Ok(()) }
    }

    /// Shows a problem on standard error and on the web page of the master, once for each run.
    async fn refuse(&mut self, why: String) -> Result<(), Leaving> {
        if self.refused.as_ref() == Some(&why) {
            return Ok(());
        }
        say(&why);
        let shown = BTreeMap::from([("msg", &*why), ("traceback", "paymaster-loadtest worker")]);
        let sent = self.send("exception", &shown).await;
        self.refused = Some(why);
        sent
    }

    fn begin_end(&mut self, then: Then, grace: Duration) {
        if let Some(load) = &mut self.load {
            load.stop();
        }
        (self.waiting, self.announced) = (None, false);
        let deadline = Instant::now() + grace;
        let sooner = self.ending.map_or(deadline, |(_, earlier)| earlier.min(deadline));
        self.ending = Some((then, sooner));
    }

    /// Reports the end of a load when its requests are answered or out of time.
    async fn check_end(&mut self) -> Result<(), Leaving> {
        let Some((then, deadline)) = self.ending else { return Ok(()) };
        if self.load.as_ref().is_some_and(|load| !load.is_idle()) && Instant::now() < deadline {
            return Ok(());
        }
        self.ending = None;
        self.refused = None;
        if let Some(mut load) = self.load.take() {
            load.close(then == Then::Interrupted).await;
            let summary = load.summary(true, None);
            let stats = load.report(&summary);
            let sent = self.send("stats", &stats).await;
            self.worker.publish(&summary, load.next_number());
            sent?;
        }
        match then {
            Then::Wait => Ok(()),
            Then::Quit => Err(Leaving::Done),
            Then::Ready => {
                self.send("client_stopped", &()).await?;
                // `client_stopped` removes the worker at the master, and `client_ready` adds it again under the same index.
                self.send(READY.0, &READY.1).await
            }
            Then::Interrupted => {
                self.send("quit", &()).await?;
                Err(Leaving::Done)
            }
        }
    }
}

/// The drawn requests. Without a task it waits forever; with a finished one it empties the place of the task.
async fn drawn(drawing: &mut Option<JoinHandle<Result<Corpus, String>>>) -> Result<Corpus, String> {
    let Some(task) = drawing else { return std::future::pending().await };
    let done = task.await;
    *drawing = None;
    // A panic has printed its own message.
    done.unwrap_or_else(|_| Err(String::new()))
}

/// Bytes of a page of memory.
const PAGE: u64 = 4_096;

fn memory() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = sizes.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(resident * PAGE)
}
