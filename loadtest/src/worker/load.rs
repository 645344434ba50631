//! The load of a worker in one run: its users, its share of the rate, and the summary of what it sent.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{Worker, corpus::Corpus, exact, shares::Shares};
use crate::{
    engine::{
        Lane, MOST_USERS, Pacing, RunClock, RunSettings, RunState, Timetable, UserTasks, arrivals::pacer,
    },
    figures::{CpuTimes, TimeSeries},
    judging::AnswerJudge,
    number::{epoch, float, whole},
    results::{LoadModel, RunSummary, Threshold, WorkerShare, judge_all},
    run::{Arrivals, Rate, facts, measured, model},
    worker::protocol::{LocustStats, Stats, UserCounts},
};

/// The length of a run whose end only the master knows.
pub(super) const FOREVER: Duration = Duration::from_hours(24 * 365);

/// What the master asks for in a run.
#[derive(Debug)]
pub(super) struct AskedLoad {
    /// Open model: arrivals per second of all workers together.
    pub(super) rate: Option<Rate>,
    pub(super) arrivals: Arrivals,
    /// For the worker's own report.
    pub(super) thresholds: Vec<Threshold>,
}

/// A running load.
#[derive(Debug)]
pub(super) struct Load {
    run: Arc<RunState>,
    corpus: Arc<Corpus>,
    tasks: UserTasks,
    /// Closed model: what the users of each class send.
    lanes: BTreeMap<String, Arc<Lane>>,
    /// Open model: what all users send.
    arrivals: Option<Arc<Lane>>,
    asked: AskedLoad,
    /// What all workers together send in a second: arrivals, or in the closed model the requests that the profile allows.
    divided: Option<Rate>,
    shares: Shares,
    most_users: usize,
    /// When it was stopped, after its start.
    stopped: Option<Duration>,
    cpu: CpuTimes,
    began: f64,
    /// The members of the summary that do not change.
    facts: RunSummary,
    /// The worker, without its figures.
    worker: WorkerShare,
    stats: LocustStats,
    /// The figures by second that the master has.
    sent: TimeSeries,
}

impl Load {
    /// A load of the worker under this name, without users.
    pub(super) fn new(
        worker: &Worker,
        name: &str,
        asked: AskedLoad,
        corpus: &Arc<Corpus>,
    ) -> std::io::Result<Self> {
        let (target, options) = (&worker.target, &worker.options);
        let is_open = asked.rate.is_some();
        let divided = asked.rate.clone().or(target.args.rate.map(Rate::Constant));
        let pacing = match (is_open, &divided) {
            (true, _) => Pacing::Open(Timetable::default()),
            (false, Some(_)) => Pacing::Capped(Timetable::default()),
            (false, None) => Pacing::Closed,
        };
        let model = model(asked.rate.as_ref(), target.args.rate, asked.arrivals);
        let model = LoadModel { plan: "by the Locust master".to_owned(), ..model };
        let began = epoch();
        let facts = RunSummary {
            began: whole(began),
            command: worker.command.clone(),
            curl: worker.curl.clone(),
            ..facts(target, &corpus.mix, options.judging, model)
        };
        // The settings have a mix for users of goose. Here every user has a lane.
        let mix = corpus.mix.reweighted(|_| 1).unwrap_or_else(|| unreachable!("a corpus has a scenario"));
        let run = Arc::new(RunState::new(
            RunSettings {
                transport: target.transport.clone(),
                mix,
                judge: AnswerJudge::new(&worker.known, options.judging),
                pacing,
                max_requests: None,
                respect_retry_after: options.sending.respect_retry_after,
                redactor: worker.redactor.clone(),
            },
            RunClock::new(Duration::ZERO, FOREVER),
        ));
        run.sent.store(worker.first_number(corpus.shard), Ordering::Release);
        pacer::start(&run)?;
        let cpu = CpuTimes::now();
        worker.live.begin(&run, cpu);
        Ok(Self {
            tasks: UserTasks::new(&run),
            run,
            corpus: Arc::clone(corpus),
            lanes: BTreeMap::new(),
            arrivals: None,
            asked,
            divided,
            shares: Shares::default(),
            most_users: 0,
            stopped: None,
            cpu,
            began,
            facts,
            worker: WorkerShare {
                index: Some(corpus.shard.index()),
                setup: worker.setup(),
                ..WorkerShare::missing(name)
            },
            stats: LocustStats::new(began),
            sent: TimeSeries::default(),
        })
    }

    /// Starts and stops users until every class has its number. Classes that cannot be started stay without users, and are an error
    /// after the others are started.
    pub(super) fn set_users(&mut self, classes: &BTreeMap<String, u64>) -> Result<(), String> {
        let total: u64 = classes.values().sum();
        if total > MOST_USERS as u64 {
            let most = format!("a worker has at most {MOST_USERS} users");
            return Err(format!("{most}, and the master asked for {total}: start more workers"));
        }
        let mut unknown = None;
        // A class that the master names no longer has no users.
        let mut counts: BTreeMap<_, _> = self.tasks.by_class().into_keys().map(|class| (class, 0)).collect();
        for (class, count) in classes {
            let count = usize::try_from(*count).unwrap_or_default();
            let is_known = self.corpus.mix.names().contains(&class.as_str());
            if !is_known && count > 0 {
                unknown.get_or_insert_with(|| class.clone());
            }
            counts.insert(class.clone(), if is_known { count } else { 0 });
        }
        self.set_arrivals(&counts);
        for (class, count) in &counts {
            let lane = self.lane(class);
            self.tasks.set(class, lane.as_ref(), *count);
        }
        self.most_users = self.most_users.max(self.tasks.total());
        if self.asked.rate.is_none() {
            self.run.clock.start();
        }
        let Some(class) = unknown else { return Ok(()) };
        let sends = self.corpus.mix.names().join(", ");
        Err(format!("this worker has no scenario for users of the class `{class}`: it sends {sends}"))
    }

    /// Open model: arrivals are of the scenarios in the proportion of the users.
    fn set_arrivals(&mut self, counts: &BTreeMap<String, usize>) {
        if self.asked.rate.is_none() {
            return;
        }
        let weight =
            |name: &str| counts.get(name).map_or(0, |count| u32::try_from(*count).unwrap_or(u32::MAX));
        let Some(mix) = self.corpus.mix.reweighted(weight) else { return };
        match &self.arrivals {
            Some(lane) => lane.replace(mix),
            None => self.arrivals = Some(Arc::new(Lane::new(mix, true))),
        }
    }

    fn lane(&mut self, class: &str) -> Option<Arc<Lane>> {
        if self.asked.rate.is_some() {
            return self.arrivals.clone();
        }
        if !self.lanes.contains_key(class) {
            let mix = self.corpus.mix.reweighted(|name| u32::from(name == class))?;
            self.lanes.insert(class.to_owned(), Arc::new(Lane::new(mix, false)));
        }
        self.lanes.get(class).cloned()
    }

    /// Notes that the master reports so many users of all workers together, and sets the share.
    pub(super) fn announce(&mut self, all_users: f64) {
        let users = usize::try_from(whole(all_users)).unwrap_or(usize::MAX);
        self.worker.all_users = self.worker.all_users.max(Some(users).filter(|users| *users > 0));
        self.set_share(all_users);
    }

    /// Sets the share of the rate, or of the limit of the profile: own users of so many. In the open model, the first call starts
    /// the arrivals.
    pub(super) fn set_share(&mut self, all_users: f64) {
        let Some(rate) = &self.divided else { return };
        let own = float(self.tasks.total() as u64);
        let share = if own > 0.0 { own / all_users.max(own) } else { 0.0 };
        if self.run.clock.started().is_some() && (share - self.shares.last()).abs() < 1e-12 {
            return;
        }
        self.shares.set(self.run.clock.elapsed(), share);
        if let Some(timetable) = self.run.settings.pacing.timetable() {
            let shard = self.corpus.shard;
            let schedule = self.shares.schedule(rate);
            timetable.replace(match self.asked.arrivals {
                // The arrivals of two workers do not coincide.
                Arrivals::Regular => schedule.shifted(shard.part()),
                // Independent Poisson processes add up to one with the sum of their rates.
                Arrivals::Poisson => schedule.endless_poisson(shard.seed(self.facts.seed)),
            });
        }
        self.run.clock.start();
    }

    /// Whether arrivals or requests have begun.
    pub(super) fn is_started(&self) -> bool {
        self.run.clock.started().is_some()
    }

    /// The users of each class.
    pub(super) fn users(&self) -> UserCounts {
        UserCounts::of(self.tasks.by_class())
    }

    /// The number of the next request.
    pub(super) fn next_number(&self) -> u64 {
        self.run.sent.load(Ordering::Acquire)
    }

    /// Lets no new iteration start.
    pub(super) fn stop(&mut self) {
        self.stopped.get_or_insert_with(|| self.run.clock.elapsed());
        self.run.end_now(crate::engine::EndReason::TimeElapsed);
    }

    /// Whether no request is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.run.busy.load(Ordering::Acquire) == 0
    }

    /// Drops the requests in progress and ends every user. If a signal ends the worker, the summary has that as the reason of an early end.
    pub(super) async fn close(&mut self, by_signal: bool) {
        self.worker.interrupted = by_signal;
        self.stop();
        self.tasks.shut_down().await;
    }

    /// Notes the requests of the last second.
    pub(super) fn sample(&mut self) {
        let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for shard in self.run.shards() {
            for (label, of) in &shard.labels {
                let sum = counts.entry(label.clone()).or_default();
                *sum = (sum.0 + of.counts.all(), sum.1 + of.counts.failed());
            }
        }
        self.stats.sample(counts, epoch());
    }

    /// What happened since the last report: the rows of Locust, and the exact figures so far.
    pub(super) fn report(&mut self, summary: &RunSummary) -> Stats {
        Stats {
            users: self.users(),
            exact: exact::encode(summary, &mut self.sent),
            ..self.stats.next(&summary.figures, self.began, epoch())
        }
    }

    /// The summary so far. `complete` says that the load is over; `cut_short` why, if that was not the end of the run.
    pub(super) fn summary(&self, complete: bool, cut_short: Option<String>) -> RunSummary {
        let ran_for = self.stopped.unwrap_or_else(|| self.run.clock.elapsed());
        let timeout = self.run.settings.transport.limits.timeout;
        let stopped_answering = self.run.liveness.has_stopped(ran_for, timeout);
        let measured = measured(&self.run, ran_for, stopped_answering, self.facts.clone());
        let results = judge_all(&self.asked.thresholds, &measured.figures, measured.length());
        let worker = WorkerShare {
            users: self.most_users,
            requests: measured.figures.total(None).counts.all(),
            seconds: measured.seconds,
            complete,
            ..self.worker.clone()
        };
        let stopped = || format!("worker {}: {}", worker.name, self.run.liveness.outage(ran_for));
        let cut_short = cut_short
            .or_else(|| worker.problem().filter(|_| worker.interrupted))
            .or_else(|| stopped_answering.then(stopped));
        let model = LoadModel {
            users: self.most_users,
            arrivals_asked: self.asked.rate.is_some().then_some(measured.figures.arrivals.due),
            ..measured.model
        };
        let (generators, workers) = (vec![self.cpu.since()], vec![worker]);
        RunSummary { model, cut_short, generators, workers, ..measured }.judged(results)
    }
}
