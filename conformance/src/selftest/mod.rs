//! The selftest: whole runs against reference servers that break one clause on purpose, or use one option that the specification
//! allows, to check the verdicts.
//!
//! The kill matrix shows that each fault is caught by a rule of its clause and by no rule of an unrelated clause, and that each rule
//! catches a fault. Lawful variants may break only what they are known to be warned of.

mod matrix;
mod trial;

pub use matrix::{Causes, Matrix, NamedDefect, Row};
pub use trial::{Deviation, ProfilePart, ProfileParts, Trial, deviations_on_chain, every_deviation};

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use crate::run::{self, Chain, PlanCache, ReplayOutcome, Reporters, RunOutcome, Suite};
use crate::selftest::matrix::named_defects;
use crate::selftest::trial::{serve, server_error};
use paymaster_client::stop::Stop;
use paymaster_engine::cases::{DEFAULT_CASES, SHORT_TO};
use paymaster_engine::session::Original;
use paymaster_engine::specification::Specification;
use paymaster_reference_server::{Config, Fault, InjectedService, Service, faults_of, needs_signatures};
use paymaster_settings::{Settings, embedded::profile_of};

/// Some faults delay answers: while their trials wait, other threads use the core.
const THREADS_PER_CORE: usize = 4;

/// The trials that may run at a time, of all selftests of the process: in the tests of this crate, several are made at once, and many trials wait.
static RUNNING: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(2 * trials_at_a_time()));

fn trials_at_a_time() -> usize {
    THREADS_PER_CORE * thread::available_parallelism().map_or(1, NonZero::get)
}

/// How many calls of each pair the runs of a selftest send.
#[derive(Clone, Copy, Debug)]
pub enum Cases {
    /// The same number in every run.
    Fixed(u32),
    /// The default number against a lawful variant, and a short run against a fault. A fault that a short run does not catch gets a
    /// second run with the default number. This takes half of the time: most faults show in every answer, or in every answer to one
    /// kind of request.
    ShortFirst,
}

impl Cases {
    /// The number for the first run, and for a second run when the first one does not catch the deviation.
    fn of(self, deviation: Deviation) -> (u32, Option<u32>) {
        match (self, deviation) {
            (Self::Fixed(cases), _) => (cases, None),
            (Self::ShortFirst, Deviation::Variant(..)) => (DEFAULT_CASES, None),
            (Self::ShortFirst, Deviation::Fault(..)) => (SHORT_TO, Some(DEFAULT_CASES)),
        }
    }
}

/// What a selftest runs: a trial of each deviation with each seed and each part of the profile.
#[derive(Clone, Copy, Debug)]
pub struct Trials<'a> {
    /// The faults and variants.
    pub deviations: &'a [Deviation],
    /// The seeds of the runs.
    pub seeds: &'a [u64],
    /// How much of its profile a run states.
    pub profile_parts: ProfileParts,
    /// How many of these parts each deviation has at most: other ones for each deviation and seed.
    pub most_parts: usize,
    /// How many calls of each pair a run sends.
    pub cases: Cases,
    /// Whether the causes of the findings are looked for.
    pub causes: bool,
    /// The chain on which what is returned is simulated, where there is one.
    pub chain: Option<&'a OnChain>,
}

/// A chain with the contracts of a reference server.
#[derive(Clone, Debug)]
pub struct OnChain {
    /// The node.
    pub chain: Chain,
    /// The configuration of the reference server with the addresses of the contracts and the key of their signer.
    pub config: Config,
}

impl Trials<'_> {
    /// The number of trials.
    pub fn count(&self) -> usize {
        self.all().len()
    }

    /// Every trial: what is broken, its seed, and what its profile states.
    pub fn all(&self) -> Vec<(Deviation, u64, ProfilePart)> {
        let mut all = Vec::new();
        for seed in self.seeds {
            for (place, deviation) in (*seed..).zip(self.deviations) {
                let parts = (self.profile_parts)(*deviation);
                let first = usize::try_from(place).unwrap_or_default() % parts.len();
                let rotated = parts.iter().cycle().skip(first).take(self.most_parts.min(parts.len()));
                all.extend(rotated.map(|part| (*deviation, *seed, *part)));
            }
        }
        all
    }
}

/// Runs the trials on every core, and calls `on_trial` for each that ends. Trials that `stop` cuts short are left out.
///
/// # Errors
///
/// When a runtime or a reference server cannot be started.
pub fn run(trials: &Trials<'_>, stop: &Stop, on_trial: &(dyn Fn(&Trial) + Sync)) -> Result<Matrix, String> {
    let work = trials.all();
    let plans = Arc::default();
    // From the end, where the variants with long pauses are: other trials use the cores meanwhile.
    let one = |runtime: &Runtime, taken: usize| {
        let planned @ (deviation, ..) = work[work.len() - taken - 1];
        let (first, second) = trials.cases.of(deviation);
        let mut suite = suite(deviation.specification(), &plans);
        suite.chain = trials.chain.map(|on_chain| on_chain.chain.clone());
        let run = |cases| {
            // What ends one trial early, such as its time limit, does not end the others.
            let stop = stop.for_part();
            runtime.block_on(Trial::run(planned, cases, trials, &suite, &stop))
        };
        let trial = run(first)?;
        match second {
            Some(cases) if trial.caught_by().next().is_none() => run(cases),
            _ => Ok(trial),
        }
    };
    let mut done = on_every_core(work.len(), stop, &one, on_trial)?;
    done.reverse();
    Ok(Matrix { trials: done, is_on_chain: trials.chain.is_some() })
}

/// The whole suite of a specification, with the plans of all trials.
fn suite(specification: &'static Specification, plans: &Arc<PlanCache>) -> Suite {
    Suite { plan_cache: Some(Arc::clone(plans)), ..Suite::of(specification) }
}

/// Calls `work` for every number below `count` on every core, and `on_done` for each result. Returns the results by their numbers; what
/// `stop` cuts short is left out.
fn on_every_core<T: Send>(
    count: usize,
    stop: &Stop,
    work: &(dyn Fn(&Runtime, usize) -> Result<T, String> + Sync),
    on_done: &(dyn Fn(&T) + Sync),
) -> Result<Vec<T>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let one_thread = || {
        // Each thread has a runtime of its own, so that server and client of a trial share a core.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|cause| format!("the runtime: {cause}"))?;
        loop {
            let taken = next.fetch_add(1, Ordering::Relaxed);
            if taken >= count || stop.reason().is_some() {
                return Ok(());
            }
            let _running = runtime.block_on(RUNNING.acquire()).map_err(|cause| cause.to_string())?;
            let result = work(&runtime, taken)?;
            if stop.reason().is_some() {
                return Ok(());
            }
            on_done(&result);
            done.lock().insert(taken, result);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..trials_at_a_time()).map(|_| scope.spawn(one_thread)).collect();
        let failed = |_| Err("a thread of the selftest failed".to_owned());
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(failed))
    })?;
    Ok(done.into_inner().into_values().collect())
}

// Pairs of unrelated faults in one server: each is a defect of its own, and mending one leaves the other.

/// How many of 100 pairs are two faults that one rule catches.
const OF_ONE_RULE: usize = 40;

/// Two faults that depend on different members of the request.
#[derive(Clone, Copy, Debug)]
pub struct FaultPair {
    /// The specification that the server is judged by.
    pub specification: &'static Specification,
    /// The faults.
    pub faults: [&'static Fault; 2],
    /// Whether one rule catches both.
    pub is_of_one_rule: bool,
}

/// The result of one run against a server with two faults.
#[derive(Clone, Debug)]
pub struct PairTrial {
    /// The faults.
    pub pair: FaultPair,
    /// The defects that the run found.
    pub defects: Vec<NamedDefect>,
    /// For each fault, whether the cause of a defect names the member on which it depends.
    pub is_named: [bool; 2],
    /// For each fault, whether the replay of all findings against a server without it reports as fixed exactly the defects whose cause
    /// names its member, of those that name one of the two members.
    pub is_fixed: [bool; 2],
    /// Whether one of the faults hides the other one, so that no run can see both.
    pub is_hidden: bool,
}

/// So many pairs of faults that show by a specification, drawn with a seed. Of each 100, 40 are two faults that one rule catches.
pub fn fault_pairs(specification: &'static Specification, count: usize, seed: u64) -> Vec<FaultPair> {
    let all: Vec<&'static Fault> =
        faults_of(specification.name).filter(|fault| fault.member.is_some()).collect();
    let mut random = seed;
    let mut pairs: Vec<FaultPair> = Vec::with_capacity(count);
    // Pairs of one rule are rare: a bound ends the search where fewer exist than are asked for.
    for _ in 0..count * 10_000 {
        if pairs.len() == count {
            break;
        }
        let of_one_rule = pairs.iter().filter(|pair| pair.is_of_one_rule).count();
        let wants_one_rule = of_one_rule * 100 < OF_ONE_RULE * (pairs.len() + 1);
        let mut draw = || {
            random = next_random(random);
            all[usize::try_from(random >> 33).unwrap_or_default() % all.len()]
        };
        let drawn = [draw(), draw()];
        let is_new = |pair: &FaultPair| {
            !drawn.iter().all(|fault| pair.faults.iter().any(|other| other.name == fault.name))
        };
        if is_unrelated(drawn)
            && wants_one_rule == (drawn[0].clause == drawn[1].clause)
            && pairs.iter().all(is_new)
        {
            pairs.push(FaultPair { specification, faults: drawn, is_of_one_rule: wants_one_rule });
        }
    }
    pairs
}

/// Knuth's linear congruential generator; its upper bits are used.
fn next_random(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Whether two faults depend on two members, none of which is in the other. A fault of a whole method is in every request in which another
/// one may show: neither can be seen there without the other.
fn is_unrelated([one, two]: [&Fault; 2]) -> bool {
    let [one, two] = [one, two].map(|fault| fault.member.unwrap_or_default());
    let is_of_method = [one, two].iter().any(|member| member.ends_with("/method"));
    !is_of_method && !one.starts_with(two) && !two.starts_with(one)
}

/// Runs the suite against each pair on every core, and calls `on_trial` for each trial that ends. Trials that `stop` cuts short are left
/// out.
///
/// # Errors
///
/// When a runtime or a reference server cannot be started.
pub fn run_pairs(
    pairs: &[FaultPair],
    seed: u64,
    stop: &Stop,
    on_trial: &(dyn Fn(&PairTrial) + Sync),
) -> Result<Vec<PairTrial>, String> {
    let plans = Arc::default();
    let one = |runtime: &Runtime, place: usize| {
        let suite = suite(pairs[place].specification, &plans);
        runtime.block_on(PairTrial::run(pairs[place], seed, &suite, &stop.for_part()))
    };
    on_every_core(pairs.len(), stop, &one, on_trial)
}

impl PairTrial {
    async fn run(pair: FaultPair, seed: u64, suite: &Suite, stop: &Stop) -> Result<Self, String> {
        let run = (seed, DEFAULT_CASES);
        let settings = serve_with(&pair.faults, pair.specification, run, true).await?;
        let outcome = run::check(&settings, suite, stop, &mut Reporters(Vec::new())).await;
        let defects = named_defects(&outcome.summary);
        let names =
            |fault: &Fault, defect: &NamedDefect| fault.member.is_some_and(|member| defect.names(member));
        let mut is_fixed = [false; 2];
        for (place, fault) in pair.faults.into_iter().enumerate() {
            let left = replays_of(&[pair.faults[1 - place]], &pair, seed).await?;
            // A defect without a cause may be of either fault.
            let is_of_any = |defect: &NamedDefect| pair.faults.iter().any(|fault| names(fault, defect));
            is_fixed[place] = true;
            for (defect, own) in defects.iter().zip(&outcome.summary.defects) {
                if !is_of_any(defect) {
                    continue;
                }
                let mut is_whole = true;
                for number in &own.findings {
                    is_whole =
                        matches!(replay(&outcome, *number, &left, stop).await, ReplayOutcome::Fixed(_));
                    if !is_whole {
                        break;
                    }
                }
                is_fixed[place] &= names(fault, defect) == is_whole;
            }
        }
        let is_named = pair.faults.map(|fault| defects.iter().any(|defect| names(fault, defect)));
        let mut trial = Self { pair, is_named, is_fixed, defects, is_hidden: false };
        if !trial.is_as_wanted() {
            let [one, two] = pair.faults;
            trial.is_hidden = is_hidden(one, two, &pair, (seed, suite), stop).await?
                || is_hidden(two, one, &pair, (seed, suite), stop).await?;
        }
        Ok(trial)
    }

    /// Whether both faults are defects with causes that name them, and the replays are right.
    pub fn is_as_wanted(&self) -> bool {
        self.has_two_defects() && self.names_both() && self.is_replayed()
    }

    /// Whether it gives at least two defects.
    pub fn has_two_defects(&self) -> bool {
        self.defects.len() >= 2
    }

    /// Whether the causes name both faults.
    pub fn names_both(&self) -> bool {
        self.is_named == [true; 2]
    }

    /// Whether the replay is right for both faults.
    pub fn is_replayed(&self) -> bool {
        self.is_fixed == [true; 2]
    }
}

/// Whether one fault cannot be seen beside another one: of what a run finds against a server with it alone, nothing is there on one with both that
/// is not there on one with the other alone.
async fn is_hidden(
    fault: &'static Fault,
    other: &'static Fault,
    pair: &FaultPair,
    (seed, suite): (u64, &Suite),
    stop: &Stop,
) -> Result<bool, String> {
    let settings = serve_with(&[fault], pair.specification, (seed, DEFAULT_CASES), false).await?;
    let alone = run::check(&settings, suite, stop, &mut Reporters(Vec::new())).await;
    let (both, without) =
        (replays_of(&pair.faults, pair, seed).await?, replays_of(&[other], pair, seed).await?);
    for number in 0..alone.summary.findings.len() {
        let is_there = async |settings| {
            matches!(replay(&alone, number, settings, stop).await, ReplayOutcome::StillThere(_))
        };
        if is_there(&both).await && !is_there(&without).await {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The settings of replays against a server with these faults.
async fn replays_of(faults: &[&'static Fault], pair: &FaultPair, seed: u64) -> Result<Settings, String> {
    serve_with(faults, pair.specification, (seed, 1), false).await
}

/// The replay of a finding of a run.
async fn replay(outcome: &RunOutcome, number: usize, settings: &Settings, stop: &Stop) -> ReplayOutcome {
    let finding = &outcome.summary.findings[number];
    let original = Original::of(finding, &outcome.summary, outcome.context.specification());
    run::replay(settings, None, finding.rule, &finding.group, &original, &*outcome.context, stop).await
}

/// Serves a service with these faults, and makes the settings of a run against it.
async fn serve_with(
    faults: &[&'static Fault],
    specification: &Specification,
    run: (u64, u32),
    causes: bool,
) -> Result<Settings, String> {
    let mut config = Config::default();
    // Signing takes a sixth of the time of a run, and rules of some specifications judge the signature.
    config.signing.enabled = needs_signatures(specification.name);
    let service = InjectedService::from(Service::new(&config).map_err(server_error)?);
    let service = service.with_faults(faults.iter().copied());
    let profile = profile_of(specification, &config, &[]);
    let (_, settings) = serve((&config, service, false), profile, run, causes).await?;
    Ok(settings)
}
