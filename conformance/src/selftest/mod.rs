//! The selftest: whole runs against reference servers that break one clause on purpose, or use one freedom of the
//! specification, to see that the verdicts hold.
//!
//! The kill matrix says that each fault is caught by a rule of its clause and by no rule of an unrelated one, and that each
//! rule is proven by a fault. Lawful variants must break no stated rule.

mod matrix;
mod trial;

pub use matrix::{Matrix, Row};
pub use trial::{Deviation, Trial, every_deviation};

use std::{
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::run::{Shelf, Suite};
use paymaster_client::stop::Stop;

/// Some faults keep answers back: while their trials wait, others have the core.
const THREADS_PER_CORE: usize = 2;

/// Runs a trial of each deviation with each seed, on every core, and tells of each as it ends. Trials that a stop cuts short
/// are left out.
///
/// # Errors
///
/// When a runtime or a server of ours could not be started.
pub fn run(
    deviations: &[Deviation],
    seeds: &[u64],
    cases: u32,
    stop: &Stop,
    told: &(dyn Fn(&Trial) + Sync),
) -> Result<Matrix, String> {
    let work: Vec<(Deviation, u64)> = seeds
        .iter()
        .flat_map(|seed| deviations.iter().map(move |deviation| (*deviation, *seed)))
        .collect();
    let next = AtomicUsize::new(0);
    let suite = Suite {
        shelf: Some(Arc::new(Shelf::default())),
        ..Suite::standard()
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // A runtime for each thread: server and client of a trial then never wait for each other across cores.
    let parts = thread::scope(|scope| {
        let crew: Vec<_> = (0..cores * THREADS_PER_CORE)
            .map(|_| scope.spawn(|| one_core(&work, &next, cases, &suite, stop, told)))
            .collect();
        crew.into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a thread of the selftest failed".to_owned()))
            })
            .collect::<Result<Vec<_>, _>>()
    })?;
    let mut trials: Vec<(usize, Trial)> = parts.into_iter().flatten().collect();
    trials.sort_by_key(|(place, _)| *place);
    Ok(Matrix {
        trials: trials.into_iter().map(|(_, trial)| trial).collect(),
    })
}

fn one_core(
    work: &[(Deviation, u64)],
    next: &AtomicUsize,
    cases: u32,
    suite: &Suite,
    stop: &Stop,
    told: &(dyn Fn(&Trial) + Sync),
) -> Result<Vec<(usize, Trial)>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("the runtime: {cause}"))?;
    let mut done = Vec::new();
    loop {
        // From the end: variants that make a run wait stand there, and whoever waits for them leaves the cores to the others.
        let taken = next.fetch_add(1, Ordering::Relaxed);
        let Some(place) = work
            .len()
            .checked_sub(taken + 1)
            .filter(|_| stop.reason().is_none())
        else {
            return Ok(done);
        };
        let (deviation, seed) = work[place];
        let trial = runtime.block_on(Trial::run(deviation, seed, cases, suite, stop))?;
        if stop.reason().is_some() {
            return Ok(done);
        }
        told(&trial);
        done.push((place, trial));
    }
}
