//! The state that all users of a run share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use paymaster_client::http::Transport;
use paymaster_client::redact::Redactor;
use tokio::sync::Semaphore;

use super::liveness::Liveness;
use crate::engine::{Schedule, Timetable, arrivals::pacer::LatePermits, users::user::UserState};
use crate::figures::{Figures, TimeSeries};
use crate::judging::AnswerJudge;
use crate::number::nanoseconds;
use crate::scenarios::Mix;

/// Separate figures. Users count in different ones, so that they seldom wait for a lock.
const SHARDS: usize = 8;

/// When users send.
#[derive(Debug)]
pub enum Pacing {
    /// Closed model: each user sends its next request after the previous answer.
    Closed,
    /// Closed model with a limit: no request before the schedule allows it. Latency counts from sending.
    Capped(Timetable),
    /// Open model: requests are due by the schedule, independent of answers. Latency counts from the due time.
    Open(Timetable),
}

impl Pacing {
    pub(crate) fn timetable(&self) -> Option<&Timetable> {
        match self {
            Self::Closed => None,
            Self::Capped(timetable) | Self::Open(timetable) => Some(timetable),
        }
    }

    /// The schedule of the open model.
    pub(crate) fn open(&self) -> Option<Arc<Schedule>> {
        match self {
            Self::Open(timetable) => Some(timetable.current()),
            Self::Closed | Self::Capped(_) => None,
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    TimeElapsed,
    /// The request budget was spent.
    RequestBudget,
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// The target stopped answering.
    TargetStopped,
    /// A threshold of `--abort-on` was broken.
    ThresholdBroken,
}

/// The times of a run. It starts with the first user, warms up, measures and ends.
#[derive(Debug)]
pub struct RunClock {
    started: OnceLock<Instant>,
    /// The length of the warm-up.
    pub(crate) warm_up: Duration,
    /// The length of the run, with the warm-up.
    pub(crate) length: Duration,
}

impl RunClock {
    /// A clock that is not started. `length` includes the warm-up.
    pub fn new(warm_up: Duration, length: Duration) -> Self {
        Self { started: OnceLock::new(), warm_up, length }
    }

    /// The start of the run. The first call starts it.
    pub fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// When the run started; `None` before.
    pub fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// The time since the start; 0 before.
    pub fn elapsed(&self) -> Duration {
        self.started().map(|start| start.elapsed()).unwrap_or_default()
    }

    /// When the last iteration may start.
    pub fn ends(&self) -> Instant {
        self.start() + self.length
    }

    /// The time from the end of the warm-up to `moment`; `None` in the warm-up.
    pub fn measured(&self, moment: Instant) -> Option<Duration> {
        moment.saturating_duration_since(self.start()).checked_sub(self.warm_up)
    }
}

#[derive(Debug)]
pub struct RunSettings {
    /// How requests are sent to the target.
    pub transport: Transport,
    /// What is sent.
    pub mix: Mix,
    pub judge: AnswerJudge,
    /// When users send.
    pub pacing: Pacing,
    /// Most requests of the run.
    pub max_requests: Option<u64>,
    /// Whether to pause as Retry-After requests.
    pub respect_retry_after: bool,
    /// Removes secrets from what is kept of exchanges.
    pub redactor: Redactor,
}

/// The state that all users of a run share.
#[derive(Debug)]
pub struct RunState {
    pub(crate) settings: RunSettings,
    pub(crate) clock: RunClock,
    shards: [Mutex<Figures>; SHARDS],
    /// The state of users between two slices of their work, by the index of the user.
    pub(crate) idle_users: Mutex<HashMap<usize, UserState>>,
    /// Requests sent.
    pub(crate) sent: AtomicU64,
    /// Iterations that users have taken.
    pub(crate) iterations: AtomicU64,
    /// One permit for each iteration that is due and that no user has taken.
    pub(crate) due: Semaphore,
    /// Iterations whose permits the pacer added late.
    pub(crate) late_permits: LatePermits,
    /// Users now and before.
    pub(crate) users: UsersOverTime,
    /// Users with an iteration in progress.
    pub(crate) busy: AtomicUsize,
    /// The end of the pause that the target requested, in nanoseconds after the start.
    pub(crate) paused_until: AtomicU64,
    /// When draining began, after the start, and why: from then on, no new iteration is started.
    drained: OnceLock<(Duration, EndReason)>,
    /// What broke the run off, perhaps after draining began.
    broken_off: OnceLock<EndReason>,
    /// When the last answer to a measured request arrived, in nanoseconds after the start.
    last_answer: AtomicU64,
    /// Whether the target still responds.
    pub(crate) liveness: Liveness,
}

impl RunState {
    /// The state before the start.
    pub fn new(settings: RunSettings, clock: RunClock) -> Self {
        Self {
            settings,
            clock,
            shards: Default::default(),
            idle_users: Mutex::default(),
            sent: AtomicU64::new(0),
            iterations: AtomicU64::new(0),
            due: Semaphore::new(0),
            late_permits: LatePermits::default(),
            users: UsersOverTime::default(),
            busy: AtomicUsize::new(0),
            paused_until: AtomicU64::new(0),
            drained: OnceLock::new(),
            broken_off: OnceLock::new(),
            last_answer: AtomicU64::new(0),
            liveness: Liveness::default(),
        }
    }

    /// The figures in which a user counts.
    pub(crate) fn figures_of(&self, user: usize) -> MutexGuard<'_, Figures> {
        self.shards[user % SHARDS].lock()
    }

    /// The separate figures, locked one after the other.
    pub(crate) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Figures>> {
        self.shards.iter().map(Mutex::lock)
    }

    /// The figures of all users, with users and arrivals by second, if the last arrival was due `ran_for` after the start. Arrivals that no
    /// user has taken until then count as unsent.
    pub(crate) fn figures_until(&self, ran_for: Duration) -> Figures {
        let mut figures = Figures::default();
        self.shards().for_each(|shard| figures.merge(&shard));
        let warm_up = self.clock.warm_up;
        let end = ran_for.max(self.last_answer()).saturating_sub(warm_up);
        figures.series.merge(&self.users.until(end));
        if let Some(schedule) = self.settings.pacing.open() {
            let before = schedule.due_before(warm_up);
            // With a request budget, arrivals end with the last one that was within the budget.
            let budget = self.ended() == Some(EndReason::RequestBudget);
            let last = schedule.due(before + figures.arrivals.due).filter(|_| budget);
            let until = last.unwrap_or(ran_for);
            let requested = schedule.due_before(until).saturating_sub(before);
            figures.arrivals.unsent = requested.saturating_sub(figures.arrivals.due);
            figures.arrivals.due = figures.arrivals.due.max(requested);
            figures.arrivals.seconds = until.saturating_sub(warm_up).as_secs_f64();
            add_arrivals(&mut figures.series, &schedule, warm_up, until);
        }
        figures
    }

    /// Requests sent so far.
    pub fn sent(&self) -> u64 {
        let sent = self.sent.load(Ordering::Relaxed);
        self.settings.max_requests.map_or(sent, |most| sent.min(most))
    }

    /// Notes an answer to a measured request. `elapsed` is the time since the start.
    pub(crate) fn note_answer(&self, elapsed: Duration) {
        self.last_answer.fetch_max(nanoseconds(elapsed), Ordering::Relaxed);
    }

    /// When the last answer to a measured request arrived, after the start.
    pub fn last_answer(&self) -> Duration {
        Duration::from_nanos(self.last_answer.load(Ordering::Relaxed))
    }

    /// Lets no new iteration start. Those in progress may finish.
    pub(crate) fn drain(&self, reason: EndReason) {
        if matches!(reason, EndReason::Interrupted | EndReason::TargetStopped) {
            let _ = self.broken_off.set(reason);
        }
        let _ = self.drained.set((self.clock.elapsed(), reason));
    }

    /// Ends the run now. Iterations in progress are dropped.
    pub(crate) fn end_now(&self, reason: EndReason) {
        self.drain(reason);
        self.due.close();
    }

    /// Whether no new iteration is started.
    pub(crate) fn is_draining(&self) -> bool {
        self.drained.get().is_some()
    }

    /// Whether iterations in progress are dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.due.is_closed()
    }

    /// Why the run ended; `None` while it goes on.
    pub fn ended(&self) -> Option<EndReason> {
        let drained = self.drained.get().map(|(_, reason)| reason);
        self.broken_off.get().or(drained).copied()
    }

    /// How long new iterations were started.
    pub fn ran_for(&self) -> Duration {
        let early = self.drained.get().filter(|_| self.ended() != Some(EndReason::TimeElapsed));
        early.map_or(self.clock.length, |(at, _)| self.clock.length.min(*at))
    }

    /// Whether every iteration that was started, or was due in the open model, is finished.
    pub(crate) fn is_drained(&self) -> bool {
        let taken = self.iterations.load(Ordering::Acquire);
        let is_due = |schedule: Arc<Schedule>| taken < schedule.total;
        let open =
            self.ended() == Some(EndReason::TimeElapsed) && self.settings.pacing.open().is_some_and(is_due);
        self.is_draining() && !open && self.busy.load(Ordering::Acquire) == 0
    }

    /// Sends nothing for this long.
    pub(crate) fn pause(&self, pause: Duration) {
        let until = self.clock.elapsed().saturating_add(pause);
        self.paused_until.fetch_max(nanoseconds(until), Ordering::AcqRel);
    }

    /// The end of the pause that the target requested; `None` if it is over.
    pub(crate) fn paused(&self) -> Option<Instant> {
        let until = self.paused_until.load(Ordering::Acquire);
        // Most targets never request a pause: then nobody reads the clock.
        if until == 0 {
            return None;
        }
        let until = Duration::from_nanos(until);
        (until > self.clock.elapsed()).then(|| self.clock.start() + until)
    }
}

/// The users of a run over time: their number from each change on, relative to the end of the warm-up. Its lock is taken when a user
/// starts or ends, and never for a request.
#[derive(Debug, Default)]
pub(crate) struct UsersOverTime(Mutex<Vec<(Duration, usize)>>);

impl UsersOverTime {
    /// The number of users now.
    pub(crate) fn now(&self) -> usize {
        self.0.lock().last().map_or(0, |(_, users)| *users)
    }

    /// Changes the number of users.
    pub(super) fn change(&self, clock: &RunClock, change: impl FnOnce(usize) -> usize) {
        let mut changes = self.0.lock();
        let users = change(changes.last().map_or(0, |(_, users)| *users));
        changes.push((clock.elapsed().saturating_sub(clock.warm_up), users));
    }

    /// The users by second, until this time after the end of the warm-up. Users may stay a little longer than the run.
    fn until(&self, end: Duration) -> TimeSeries {
        let mut series = TimeSeries::default();
        let changes = self.0.lock().clone();
        let ends = changes.iter().skip(1).map(|(from, _)| *from).chain([end]);
        for ((from, users), to) in changes.iter().zip(ends) {
            series.add_users(*users, *from, to.min(end));
        }
        series
    }
}

/// Adds the arrivals of a schedule that were due before `until`, a time after the start.
fn add_arrivals(series: &mut TimeSeries, schedule: &Schedule, warm_up: Duration, until: Duration) {
    series.cover(until.saturating_sub(warm_up));
    let mut before = schedule.due_before(warm_up);
    let mut slot_ends = warm_up;
    for slot in &mut series.slots {
        slot_ends += Duration::from_secs(u64::from(series.seconds));
        let due = schedule.due_before(slot_ends.min(until)).max(before);
        slot.arrivals += due - before;
        before = due;
        if slot_ends >= until {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn arrivals_by_second_add_up_to_those_of_the_measured_time() {
        let ramp = [(100.0, SECOND * 4), (100.0, SECOND * 3)];
        for schedule in [Schedule::new(0.0, &ramp), Schedule::new(0.0, &ramp).poisson(3)] {
            let mut series = TimeSeries::default();
            add_arrivals(&mut series, &schedule, SECOND * 2, SECOND * 7);
            let arrivals: Vec<u64> = series.slots.iter().map(|slot| slot.arrivals).collect();
            assert_eq!(arrivals.len(), 5);
            let measured = schedule.total - schedule.due_before(SECOND * 2);
            assert_eq!(arrivals.iter().sum::<u64>(), measured, "{arrivals:?}");
            // The ramp goes on in the first two measured seconds.
            assert!(arrivals[0] < arrivals[1] && arrivals[1] < arrivals[3] + 40, "{arrivals:?}");
        }
    }

    #[test]
    fn a_run_that_ends_early_asks_for_no_arrivals_after_its_end() {
        let schedule = Schedule::constant(100.0, SECOND * 10);
        let mut series = TimeSeries::default();
        add_arrivals(&mut series, &schedule, Duration::ZERO, SECOND * 5 / 2);
        let arrivals: Vec<u64> = series.slots.iter().map(|slot| slot.arrivals).collect();
        assert_eq!(arrivals, [100, 100, 50]);
    }

    #[test]
    fn users_count_until_the_end_that_is_asked_for() {
        let clock = RunClock::new(SECOND, SECOND * 10);
        let users = UsersOverTime::default();
        // Before the start, the clock stands at 0.
        users.change(&clock, |users| users + 3);
        users.change(&clock, |users| users + 2);
        assert_eq!(users.now(), 5);
        let series = users.until(SECOND * 3);
        let of: Vec<f64> = series.slots.iter().map(|slot| series.users(slot)).collect();
        assert_eq!(of, [5.0, 5.0, 5.0]);
        users.change(&clock, |users| users.saturating_sub(9));
        assert_eq!(users.now(), 0);
    }
}
