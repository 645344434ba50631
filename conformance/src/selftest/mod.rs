//! The selftest: whole runs against reference servers that break one clause on purpose, or use one option that the specification
//! allows, to check the verdicts.
//!
//! The kill matrix shows that each fault is caught by a rule of its clause and by no rule of an unrelated clause, and that each rule
//! catches a fault. Lawful variants may break only what they are known to be warned of.

mod matrix;
mod pairs;
mod trial;

pub use matrix::{Causes, Matrix, NamedDefect, Row};
pub use pairs::{FaultPair, PairTrial, fault_pairs, run_pairs};
pub use trial::{Deviation, ProfilePart, ProfileParts, Trial, deviations_on_chain, every_deviation};

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};

use crate::run::{Chain, PlanCache, Suite};
use paymaster_client::stop::Stop;
use paymaster_engine::{
    cases::{case::SHORT_TO, plan::DEFAULT_CASES},
    specification::Specification,
};
use paymaster_reference_server::Config;

/// Some faults delay answers: while their trials wait, other threads use the core.
const THREADS_PER_CORE: usize = 4;

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
            let result = work(&runtime, taken)?;
            if stop.reason().is_some() {
                return Ok(());
            }
            on_done(&result);
            done.lock().insert(taken, result);
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores * THREADS_PER_CORE).map(|_| scope.spawn(one_thread)).collect();
        let failed = |_| Err("a thread of the selftest failed".to_owned());
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(failed))
    })?;
    Ok(done.into_inner().into_values().collect())
}
