//! What a session does as its master says: it draws requests, begins runs, changes users, and ends runs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{Ending, Leaving, QUIT_GRACE, Session, Then};
use crate::worker::{
    WorkerError,
    corpus::{Corpus, MOST_WORKERS, Shard},
    protocol::{
        connection::ConnectionError,
        message::{FromMaster, FromWorker, Spawn, UserCounts},
    },
    state::{random, say},
};

impl Session<'_> {
    pub(super) async fn handle(&mut self, message: FromMaster) -> Result<(), ConnectionError> {
        match message {
            FromMaster::Ack(index) => self.acknowledge(index),
            // Without an index, the requests of two workers could be the same.
            FromMaster::Spawn(_) if self.acknowledged.is_none() => {
                self.worker.failed = Some(WorkerError::MasterTooOld);
            }
            FromMaster::Spawn(spawn) => {
                self.send(&FromWorker::Spawning).await?;
                if spawn.timestamp <= self.last_spawn || self.ending.is_some() {
                    return Ok(());
                }
                self.last_spawn = spawn.timestamp;
                if self.corpus.is_some() {
                    self.spawn(&spawn).await?;
                } else {
                    self.waiting = Some(spawn);
                }
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
            FromMaster::Reconnect => return Err(ConnectionError::Reconnect),
            FromMaster::Heartbeat => {}
            FromMaster::Other(kind) => {
                let kind = kind.escape_default();
                self.worker.note_once(&format!("the master sent a message `{kind}`, which a worker ignores"));
            }
        }
        Ok(())
    }

    /// Takes the index that the master gave, and draws the requests of that index.
    fn acknowledge(&mut self, index: Option<u64>) {
        if self.acknowledged.is_some() {
            return;
        }
        self.acknowledged = Some(Instant::now());
        let shard = match index {
            Some(index) => Shard::new(index),
            None => Some(Shard::by_chance(random())),
        };
        let Some(shard) = shard else {
            self.worker.failed = Some(WorkerError::TooManyWorkers(MOST_WORKERS));
            return;
        };
        let (known, scenario, seed) =
            (Arc::clone(&self.worker.known), self.worker.options.scenario.clone(), self.worker.target.seed);
        self.drawing =
            Some(tokio::task::spawn_blocking(move || Corpus::draw(&*known, &scenario, seed, shard)));
    }

    /// Starts and stops users as the master says. The first `spawn` of a run begins it.
    pub(super) async fn spawn(&mut self, spawn: &Spawn) -> Result<(), ConnectionError> {
        let options = spawn.parsed_options.clone().unwrap_or_default();
        let seconds = spawn.stop_timeout.unwrap_or_default().clamp(0.0, 3_600.0);
        self.stop_timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        self.spawned = Instant::now();
        if !self.announced {
            self.all_users = options.num_users.unwrap_or(self.all_users);
        }
        let is_new = self.load.is_none() && self.refused.is_none();
        if is_new {
            let begun = match &self.corpus {
                Some(corpus) => self.worker.begin(&options, corpus, &self.node_id),
                None => return Ok(()),
            };
            match begun {
                Ok(load) => self.load = Some(load),
                Err(cause) => self.refuse(cause.to_string()).await?,
            }
        }
        let refusal = self.load.as_mut().and_then(|load| {
            let set = load.set_users(&spawn.user_classes_count);
            if load.is_started() {
                // The limit of a profile is divided at once; a rate that runs is divided when all users are up.
                if self.worker.target.rate.is_some() && !options.has_rate() {
                    load.set_share(self.all_users);
                }
            }
            set.err()
        });
        if let Some(refusal) = refusal {
            self.refuse(refusal.to_string()).await?;
        }
        if let Some(load) = self.load.as_mut().filter(|_| self.announced) {
            load.announce(self.all_users);
            self.announced = false;
        }
        let users = self.users(&spawn.user_classes_count);
        self.send(&FromWorker::SpawningComplete(users)).await?;
        match self.load.as_mut().filter(|_| is_new) {
            // So the master knows from the beginning that figures of this worker must come.
            Some(load) => {
                let stats = load.report(&load.summary(false, None));
                self.send(&stats).await
            }
            None => Ok(()),
        }
    }

    /// Shows a problem on standard error and on the web page of the master, once for each run.
    async fn refuse(&mut self, why: String) -> Result<(), ConnectionError> {
        if self.refused.as_ref() == Some(&why) {
            return Ok(());
        }
        say(&why);
        let sent = self.send(&FromWorker::Exception(why.clone())).await;
        self.refused = Some(why);
        sent
    }

    /// The users of the worker; `named` are the classes that the master named, for a worker without a load.
    fn users(&self, named: &BTreeMap<String, u64>) -> UserCounts {
        match &self.load {
            Some(load) => load.users(),
            None => UserCounts {
                user_classes_count: named.keys().map(|class| (class.clone(), 0)).collect(),
                user_count: 0,
            },
        }
    }

    pub(super) fn begin_end(&mut self, then: Then, grace: Duration) {
        if let Some(load) = &mut self.load {
            load.stop();
        }
        (self.waiting, self.announced) = (None, false);
        let deadline = Instant::now() + grace;
        let sooner = self.ending.map_or(deadline, |ending| ending.deadline.min(deadline));
        self.ending = Some(Ending { then, deadline: sooner });
    }

    /// Reports the end of a load when its requests are answered or out of time.
    pub(super) async fn check_end(&mut self) -> Result<Option<Leaving>, ConnectionError> {
        let Some(Ending { then, deadline }) = self.ending else {
            return Ok(None);
        };
        if self.load.as_ref().is_some_and(|load| !load.is_idle()) && Instant::now() < deadline {
            return Ok(None);
        }
        self.ending = None;
        self.refused = None;
        if let Some(mut load) = self.load.take() {
            load.close().await;
            if then == Then::Interrupted {
                load.interrupt();
            }
            let summary = load.summary(true, None);
            self.worker.next_number = load.next_number();
            let stats = load.report(&summary);
            let sent = self.send(&stats).await;
            self.worker.publish(&summary);
            sent?;
        }
        match then {
            Then::Wait => Ok(None),
            Then::Quit => Ok(Some(Leaving::Quit)),
            Then::Ready => {
                self.send(&FromWorker::Stopped).await?;
                // `client_stopped` removes the worker at the master, and `client_ready` adds it again under the same index.
                self.send(&FromWorker::Ready).await?;
                Ok(None)
            }
            Then::Interrupted => {
                self.send(&FromWorker::Quit).await?;
                Ok(Some(Leaving::Interrupted))
            }
        }
    }
}
