//! What the users of a run share.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use paymaster_client::{redact::Redactor, transport::Transport};
use tokio::sync::Semaphore;

use super::{clock::Clock, liveness::Liveness, user::State};
use crate::{figures::Figures, judging::Judging, scenarios::Mix, schedule::Schedule};

/// Figures are kept in so many parts, so that users seldom wait for each other.
const PARTS: usize = 8;

/// When users send.
#[derive(Debug)]
pub enum Pace {
    /// Closed model: each user sends when it has its answer.
    Closed,
    /// Closed model, but no more than the schedule allows: latency counts from sending.
    Capped(Schedule),
    /// Open model: arrivals come when they are due, whatever the target does; latency counts from then.
    Open(Schedule),
}

impl Pace {
    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Closed => None,
            Self::Capped(schedule) | Self::Open(schedule) => Some(schedule),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    InTime,
    /// The request budget was spent.
    Budget,
    /// Ctrl-C, or the system asked this process to end.
    Interrupted,
    /// The target had stopped answering.
    GaveUp,
}

/// How a run goes.
#[derive(Debug)]
pub struct Settings {
    /// How the target is asked.
    pub transport: Transport,
    /// What is sent.
    pub mix: Mix,
    /// Who judges.
    pub judging: Judging,
    /// When users send.
    pub pace: Pace,
    /// Most users at a time.
    pub users: usize,
    /// goose's test plan.
    pub plan: String,
    /// At most that many requests.
    pub max_requests: Option<u64>,
    /// Whether to wait as Retry-After says.
    pub respect_retry_after: bool,
    /// Hides the secrets in what is kept of answers.
    pub redactor: Redactor,
    /// Where the target is, as goose may show it: scheme, host and port.
    pub shown_host: String,
    /// Options for goose: dashboard and reports of its own. Without any, goose is not told of the exchanges.
    pub goose: Vec<String>,
}

/// What the users of a run share.
#[derive(Debug)]
pub struct Shared {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    parts: Vec<Mutex<Figures>>,
    /// Users between two slices of their work.
    pub(crate) resting: Mutex<HashMap<usize, State>>,
    /// Requests sent.
    pub(crate) sent: AtomicU64,
    /// Chains begun (closed model), arrivals taken (open model).
    pub(crate) turns: AtomicU64,
    /// One permit for each arrival that is due and not taken.
    pub(crate) due: Semaphore,
    /// Users that are in the middle of a chain.
    pub(crate) busy: AtomicUsize,
    /// Nothing is sent until then, in nanoseconds after the start.
    pub(crate) paused_until: AtomicU64,
    /// Nothing new is begun.
    draining: AtomicBool,
    ended: AtomicU8,
    /// When nothing new was begun any more.
    ended_at: OnceLock<Duration>,
    /// When the last answer came to a measured request, in nanoseconds after the start.
    last_answer: AtomicU64,
    /// Whether the target still responds.
    pub(crate) liveness: Liveness,
}

impl Shared {
    /// Everything at its beginning.
    pub fn new(settings: Settings, clock: Clock) -> Self {
        let parts = settings.users.clamp(1, PARTS);
        Self {
            settings,
            clock,
            parts: (0..parts).map(|_| Mutex::default()).collect(),
            resting: Mutex::default(),
            sent: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            due: Semaphore::new(0),
            busy: AtomicUsize::new(0),
            paused_until: AtomicU64::new(0),
            draining: AtomicBool::new(false),
            ended: AtomicU8::new(0),
            ended_at: OnceLock::new(),
            last_answer: AtomicU64::new(0),
            liveness: Liveness::default(),
        }
    }

    /// The part of the figures that belongs to a user.
    pub(crate) fn part(&self, user: usize) -> MutexGuard<'_, Figures> {
        let part = &self.parts[user % self.parts.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every part of the figures, one after the other.
    pub(crate) fn parts(&self) -> impl Iterator<Item = MutexGuard<'_, Figures>> {
        (0..self.parts.len()).map(|user| self.part(user))
    }

    /// All figures together.
    pub fn figures(&self) -> Figures {
        let mut whole = Figures::default();
        for part in self.parts() {
            whole.merge(&part);
        }
        whole
    }

    /// Requests sent so far.
    pub fn sent(&self) -> u64 {
        let sent = self.sent.load(Ordering::Relaxed);
        self.settings.max_requests.map_or(sent, |most| sent.min(most))
    }

    /// Notes an answer to a measured request.
    pub(crate) fn answered(&self, elapsed: Duration) {
        let now = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.last_answer.fetch_max(now, Ordering::Relaxed);
    }

    /// When the last answer came to a measured request, after the start.
    pub fn last_answer(&self) -> Duration {
        Duration::from_nanos(self.last_answer.load(Ordering::Relaxed))
    }

    /// The clock of the run.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Nothing new is begun; what is under way may end.
    pub(crate) fn drain(&self, why: Ended) {
        let first = self
            .ended
            .compare_exchange(0, code(why), Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() || matches!(why, Ended::Interrupted | Ended::GaveUp) {
            self.ended.store(code(why), Ordering::Release);
        }
        let _ = self.ended_at.set(self.clock.elapsed());
        self.draining.store(true, Ordering::Release);
    }

    /// The run is over now; what is under way is dropped.
    pub(crate) fn end_now(&self, why: Ended) {
        self.drain(why);
        self.due.close();
    }

    /// Whether nothing new is begun.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Whether what is under way is dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.due.is_closed()
    }

    /// How the run ended; none while it goes on.
    pub fn ended(&self) -> Option<Ended> {
        match self.ended.load(Ordering::Acquire) {
            1 => Some(Ended::InTime),
            2 => Some(Ended::Budget),
            3 => Some(Ended::Interrupted),
            4 => Some(Ended::GaveUp),
            _ => None,
        }
    }

    /// How long new requests were begun.
    pub fn ran_for(&self) -> Duration {
        let length = self.clock.length();
        match (self.ended_at.get(), self.ended()) {
            (Some(at), Some(Ended::Budget | Ended::Interrupted | Ended::GaveUp)) => length.min(*at),
            _ => length,
        }
    }

    /// Whether everything that was begun, or was due in the open model, has come to its end.
    pub(crate) fn is_drained(&self) -> bool {
        let open = match &self.settings.pace {
            Pace::Open(schedule) => {
                self.ended() == Some(Ended::InTime) && self.turns.load(Ordering::Acquire) < schedule.total()
            }
            Pace::Closed | Pace::Capped(_) => false,
        };
        self.is_draining() && !open && self.busy.load(Ordering::Acquire) == 0
    }

    /// Nothing is sent for that long.
    pub(crate) fn pause(&self, pause: Duration) {
        let until = self.clock.elapsed().saturating_add(pause);
        self.paused_until.fetch_max(
            u64::try_from(until.as_nanos()).unwrap_or(u64::MAX),
            Ordering::AcqRel,
        );
    }

    /// Until when nothing is sent, when that is in the future.
    pub(crate) fn paused(&self) -> Option<Instant> {
        let until = Duration::from_nanos(self.paused_until.load(Ordering::Acquire));
        (until > self.clock.elapsed()).then(|| self.clock.start() + until)
    }
}

const fn code(why: Ended) -> u8 {
    match why {
        Ended::InTime => 1,
        Ended::Budget => 2,
        Ended::Interrupted => 3,
        Ended::GaveUp => 4,
    }
}
