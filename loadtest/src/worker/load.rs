//! The load of a worker in one run: its users, its share of the rate, and the summary of what it sent.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use flate2::{Compression, write::ZlibEncoder};
use paymaster_engine::knowledge::Knowledge;
use serde_json::Value;

use super::{Worker, shares::Shares};
use crate::engine::arrivals::pacer;
use crate::engine::{Lane, MOST_USERS, Pacing, RunClock, RunSettings, RunState, Timetable, UserTasks};
use crate::figures::{CpuTimes, TimeSeries, TimeSlot};
use crate::judging::AnswerJudge;
use crate::number::{epoch, float, whole};
use crate::results::{LoadModel, RunSummary, Threshold, WorkerShare, judge_all};
use crate::run::{Arrivals, Rate, SEQUENCES, facts, measured, model};
use crate::scenarios::{MIXED, Mix, RequestGenerator, Weights};
use crate::worker::protocol::{LocustStats, Stats, UserCounts};

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
    /// What the users of each class send; in the open model, what all users send, under an empty name.
    lanes: BTreeMap<String, Arc<Lane>>,
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
        let (target, options) = (&worker.setup.settings, &worker.options);
        let divided = asked.rate.clone().or(target.args.rate.map(Rate::Constant));
        let pacing = match (&asked.rate, &divided) {
            (Some(_), _) => Pacing::Open(Timetable::default()),
            (None, Some(_)) => Pacing::Capped(Timetable::default()),
            (None, None) => Pacing::Closed,
        };
        let model = model(asked.rate.as_ref(), target.args.rate, asked.arrivals);
        let model = LoadModel { plan: "by the Locust master".to_owned(), ..model };
        let began = epoch();
        let facts = facts(&worker.setup, worker.command.clone(), Some(&corpus.mix), options.judging, model);
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
                redactor: worker.setup.redactor.clone(),
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
                setup: worker.equal_setup(),
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
        for (class, count) in &counts {
            let lane = self.lane(class, &counts);
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

    /// What the users of a class send: the sequences of their scenario or, in the open model, arrivals of the scenarios in the proportion of
    /// the users; none if there is no such scenario.
    fn lane(&mut self, class: &str, counts: &BTreeMap<String, usize>) -> Option<Arc<Lane>> {
        let is_open = self.asked.rate.is_some();
        let users =
            |name: &str| counts.get(name).map_or(0, |count| u32::try_from(*count).unwrap_or(u32::MAX));
        let weight = |name: &str| if is_open { users(name) } else { u32::from(name == class) };
        let key = if is_open { "" } else { class };
        if let Some(mix) = self.corpus.mix.reweighted(weight) {
            match self.lanes.get(key) {
                Some(lane) => lane.replace(mix),
                None => _ = self.lanes.insert(key.to_owned(), Arc::new(Lane::new(mix, is_open))),
            }
        }
        self.lanes.get(key).cloned()
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
                *sum = (sum.0 + of.counts.all(), sum.1 + of.counts.wrong_or_failed());
            }
        }
        self.stats.sample(counts, epoch());
    }

    /// What happened since the last report: the rows of Locust, and the exact figures so far.
    pub(super) fn report(&mut self, summary: &RunSummary) -> Stats {
        Stats {
            users: self.users(),
            exact: encode(summary, &mut self.sent),
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

// The exact figures that a worker sends beside the statistics of Locust, as the member `bin` of `stats`.
//
// They are the JSON report of the worker so far, deflated (zlib). So a lost message loses nothing that the next one does not bring, and
// the master keeps one report for each worker, which `merge` reads. Only the figures by second would grow with the run: of these, a
// message has the slots that changed since the last one, and the member `slots_from` is the index of the first of them.

/// The next report. `known` are the figures by second that the master has.
fn encode(summary: &RunSummary, known: &mut TimeSeries) -> Option<Bytes> {
    let series = &summary.figures.series;
    let pairs = series.slots.iter().zip(&known.slots);
    let is_unchanged = |(now, sent): &(&TimeSlot, &TimeSlot)| series.seconds == known.seconds && now == sent;
    let from = pairs.take_while(is_unchanged).count();
    let mut report = serde_json::to_value(summary).ok()?;
    if let Some(slots) = report["series"]["slots"].as_array_mut() {
        slots.drain(..from);
    }
    report["slots_from"] = Value::from(from);
    known.clone_from(series);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(report.to_string().as_bytes()).ok()?;
    zlib.finish().ok().map(Bytes::from)
}

// What a worker sends, so that no two workers of a master send the same: the index that the master gives to a worker decides about
// the ids and the drawn requests.

/// Requests of each worker: the ids of two workers differ until one has sent so many, which takes 27 hours at 20,000 a second.
pub(super) const REQUESTS: u64 = 2_000_000_000;
/// Most workers of a master. Ids have 13 digits, and begin at 10^12.
pub(super) const MOST_WORKERS: u64 = 4_500;

/// The part of the requests that belongs to one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard(u64);

impl Shard {
    /// The part of the worker with this index; none if there are too many workers. A master that numbers no workers (before Locust 2.10.2)
    /// gives no index: the part is then one by chance.
    pub(super) fn new(index: Option<u64>) -> Option<Self> {
        let index = index.unwrap_or_else(|| fastrand::u64(..MOST_WORKERS));
        (index < MOST_WORKERS).then_some(Self(index))
    }

    pub(super) fn index(self) -> u64 {
        self.0
    }

    /// The number of its first request.
    pub(super) fn first_number(self) -> u64 {
        self.0 * REQUESTS
    }

    /// Its seed, if `seed` is that of the whole run. The first worker has the seed itself.
    pub(super) fn seed(self, seed: u64) -> u64 {
        // An odd number: so every index gives another seed.
        seed.wrapping_add(self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Where its first arrival lies between two of its arrivals, from 0 to 1. The parts of any number of workers are spread evenly.
    pub(super) fn part(self) -> f64 {
        (float(self.0) * 0.618_033_988_749_895).fract()
    }
}

/// The requests of a worker.
#[derive(Debug)]
pub(super) struct Corpus {
    /// The part of the worker.
    pub(super) shard: Shard,
    /// Every scenario that the worker can send.
    pub(super) mix: Mix,
}

impl Corpus {
    /// Draws the requests of one scenario, or of all that the profile allows for the name `mixed`.
    pub(super) fn draw(
        known: &dyn Knowledge,
        scenario: &str,
        seed: u64,
        shard: Shard,
    ) -> Result<Self, String> {
        let mut generator = RequestGenerator::new(known, shard.seed(seed), SEQUENCES);
        let scenario = if scenario.is_empty() { MIXED } else { scenario };
        let mix = Mix::new(scenario, &Weights::new(), &mut generator)?;
        Ok(Self { shard, mix })
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, io::Read as _, time::Duration};

    use super::*;
    use crate::{
        figures::{Outcome, Sample},
        report::fixtures,
        scenarios::FIRST_ID,
    };
    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_reference_server::Config;
    use paymaster_settings::embedded::profile_of;
    use serde_json::Value;

    fn decode(binary: &Bytes) -> Value {
        let mut text = String::new();
        let mut zlib = flate2::read::ZlibDecoder::new(&binary[..]);
        zlib.read_to_string(&mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// What the locustfile does with the reports of a worker.
    fn joined(known: &mut Vec<Value>, mut report: Value) -> Value {
        let from = usize::try_from(report["slots_from"].as_u64().unwrap()).unwrap();
        known.truncate(from);
        known.extend(report["series"]["slots"].as_array().unwrap().iter().cloned());
        report["series"]["slots"] = Value::from(known.clone());
        report
    }

    #[test]
    fn the_parts_join_to_the_report() {
        let mut summary = fixtures::failed();
        let (mut sent, mut known) = (TimeSeries::default(), Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker.json");
        for round in 0..900_u64 {
            summary.figures.record(&Sample {
                label: "journey/quote",
                // The last ones make slots of two seconds.
                at: Some(Duration::from_secs(round)),
                latency: Duration::from_millis(round),
                outcome: Outcome::Good,
                judged: true,
            });
            let part = decode(&encode(&summary, &mut sent).unwrap());
            if (100..590).contains(&round) {
                assert!(part["series"]["slots"].as_array().unwrap().len() < 4, "{round}");
            }
            let whole = joined(&mut known, part);
            if round % 299 == 0 {
                std::fs::write(&path, whole.to_string()).unwrap();
                assert_eq!(RunSummary::read(&path).unwrap().figures, summary.figures, "{round}");
            }
        }
        assert_eq!(summary.figures.series.seconds, 2);
    }

    /// Ids and operations of the first requests of two workers, and of one worker at its last number.
    #[test]
    fn workers_send_no_request_twice() {
        let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
        let (mut ids, mut operations) = (BTreeSet::new(), BTreeSet::new());
        let mut templates = BTreeSet::new();
        for index in [0, 1, MOST_WORKERS - 1] {
            let shard = Shard::new(Some(index)).unwrap();
            let corpus = Corpus::draw(&*known, "sponsor-sponsored", 1, shard).unwrap();
            for number in [0, 1, 2, REQUESTS - 1] {
                let number = shard.first_number() + number;
                assert!((FIRST_ID + number).to_string().len() == 13, "{number}");
                let template = &corpus.mix.sequence(number)[0];
                let body: Value = serde_json::from_slice(&template.body(number, None)).unwrap();
                assert!(ids.insert(body["id"].to_string()), "{index}: {number}");
                assert!(operations.insert(body["params"][0].to_string()), "{index}: {number}");
                templates.insert(template.body(0, None));
            }
        }
        // With the same number, the requests of the workers differ as well, because they are drawn with other seeds.
        assert!(templates.len() > 8, "{}", templates.len());
        assert_eq!(Shard::new(Some(MOST_WORKERS)), None);
        assert_eq!(Shard::new(Some(0)).unwrap().seed(7), 7);
    }

    #[test]
    fn the_arrivals_of_workers_are_spread() {
        let mut parts: Vec<f64> = (0..10).map(|index| Shard(index).part()).collect();
        parts.sort_by(f64::total_cmp);
        assert!(parts.windows(2).all(|pair| pair[1] - pair[0] > 0.03), "{parts:?}");
    }
}
