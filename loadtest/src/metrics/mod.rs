//! The figures of a run while it goes on, as OpenMetrics text for Prometheus (`--metrics`).
//!
//! The path of a request knows nothing of it: each scrape adds up the figures that the users count anyway. At the end of a run the page
//! has the figures of the JSON report. Counters are those of the process, as Prometheus expects: a worker adds its runs.

mod server;
mod text;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
};

use tokio::sync::watch;

pub use self::server::MetricsServer;
use crate::{
    engine::RunState,
    figures::{
        Figures,
        cpu::{CpuTimes, GeneratorUsage},
        series::TimeSeries,
    },
    results::summary::RunSummary,
};

/// What the page shows. Clones share it.
#[derive(Clone, Debug)]
pub struct LiveFigures(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Whether the page was made after the last run of the process.
    final_page: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    /// The sums of the runs that ended, and the CPU use in the last of them.
    ended: Snapshot,
    running: Option<Running>,
    /// Whether no run follows.
    closed: bool,
}

/// A run that goes on.
#[derive(Clone, Debug)]
struct Running {
    run: Arc<RunState>,
    cpu: CpuTimes,
}

/// The figures at one moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    figures: Figures,
    /// CPU seconds in all runs.
    cpu_seconds: f64,
    /// CPU use in the present run, or in the last one.
    usage: GeneratorUsage,
    is_running: bool,
    users: usize,
    /// Users with an iteration in progress.
    busy: usize,
    /// Arrivals that are due and that no user has taken.
    waiting: u64,
}

impl Default for LiveFigures {
    fn default() -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), final_page: watch::Sender::new(false) }))
    }
}

impl LiveFigures {
    pub(crate) fn begin(&self, run: &Arc<RunState>, cpu: CpuTimes) {
        self.state().running = Some(Running { run: Arc::clone(run), cpu });
    }

    pub(crate) fn end(&self, summary: &RunSummary) {
        let mut state = self.state();
        state.running = None;
        let ended = &mut state.ended;
        ended.figures.merge(&summary.figures);
        // The page has no figures by second.
        ended.figures.series = TimeSeries::default();
        for usage in &summary.generators {
            ended.cpu_seconds += usage.cpu_seconds.unwrap_or_default();
            ended.usage = *usage;
        }
    }

    /// Says that no run follows. The next page is the final one.
    pub(crate) fn close(&self) {
        self.state().closed = true;
    }

    /// Waits until the final page was made.
    async fn final_page(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.final_page.subscribe().wait_for(|made| *made).await;
    }

    /// The page.
    fn text(&self) -> Result<String, fmt::Error> {
        let state = self.state();
        let (mut snapshot, closed) = (state.ended.clone(), state.closed);
        if let Some(running) = &state.running {
            running.add_to(&mut snapshot);
        }
        drop(state);
        let text = text::render(snapshot)?;
        if closed {
            self.0.final_page.send_replace(true);
        }
        Ok(text)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn add_to(&self, snapshot: &mut Snapshot) {
        let elapsed = self.run.clock.elapsed().min(self.run.ran_for());
        let mut figures = self.run.figures_until(elapsed);
        snapshot.waiting = std::mem::take(&mut figures.arrivals.unsent);
        snapshot.figures.merge(&figures);
        snapshot.usage = self.cpu.since();
        snapshot.cpu_seconds += snapshot.usage.cpu_seconds.unwrap_or_default();
        snapshot.is_running = true;
        snapshot.users = self.run.users.now();
        snapshot.busy = self.run.busy.load(Ordering::Relaxed);
    }
}
