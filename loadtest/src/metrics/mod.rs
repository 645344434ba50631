//! The figures of a run while it goes on, as OpenMetrics text for Prometheus (`--metrics`).
//!
//! The path of a request knows nothing of it: each scrape adds up the figures that the users count anyway. At the end of a run the page
//! has the figures of the JSON report. Counters are those of the process, as Prometheus expects: a worker adds its runs.

mod text;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{fmt, io};

use parking_lot::Mutex;
use paymaster_reference_server::{metrics_address, serve_metrics};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::engine::RunState;
use crate::figures::{CpuTimes, Figures, GeneratorUsage, TimeSeries};
use crate::results::RunSummary;

/// What the page shows. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LiveFigures {
    state: Arc<Mutex<State>>,
    /// Tells that the page was made after the last run of the process.
    final_page: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// The sums of the runs that ended, and the CPU use in the last of them.
    ended: Snapshot,
    running: Option<(Arc<RunState>, CpuTimes)>,
    /// Whether no run follows.
    closed: bool,
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

impl LiveFigures {
    pub(crate) fn begin(&self, run: &Arc<RunState>, cpu: CpuTimes) {
        self.state.lock().running = Some((Arc::clone(run), cpu));
    }

    pub(crate) fn end(&self, summary: &RunSummary) {
        let mut state = self.state.lock();
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

    /// The page.
    fn text(&self) -> Result<String, fmt::Error> {
        let state = self.state.lock();
        let (mut snapshot, closed) = (state.ended.clone(), state.closed);
        if let Some((run, cpu)) = &state.running {
            snapshot.add(run, *cpu);
        }
        drop(state);
        let text = text::render(snapshot)?;
        if closed {
            self.final_page.notify_one();
        }
        Ok(text)
    }
}

impl Snapshot {
    fn add(&mut self, run: &RunState, cpu: CpuTimes) {
        let elapsed = run.clock.elapsed().min(run.ran_for());
        let mut figures = run.figures_until(elapsed);
        self.waiting = std::mem::take(&mut figures.arrivals.unsent);
        self.figures.merge(&figures);
        self.usage = cpu.since();
        self.cpu_seconds += self.usage.cpu_seconds.unwrap_or_default();
        self.is_running = true;
        self.users = run.users.now();
        self.busy = run.busy.load(Ordering::Relaxed);
    }
}

/// Serves the figures until it is closed.
#[derive(Debug)]
pub struct MetricsServer {
    /// The URL of the page.
    pub url: String,
    live: LiveFigures,
    shutdown: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl MetricsServer {
    /// Listens at `HOST:PORT`, or at a port of 127.0.0.1.
    pub async fn start(address: &str, live: &LiveFigures) -> io::Result<Self> {
        let address = metrics_address(address);
        let refused = |cause| format!("cannot listen on {address} for --metrics: {cause}");
        let listener = TcpListener::bind(&address).await.map_err(|cause| io::Error::other(refused(cause)))?;
        let url = format!("http://{}/metrics", listener.local_addr()?);
        let (shutdown, shut) = oneshot::channel::<()>();
        let source = live.clone();
        let serving = tokio::spawn(serve_metrics(listener, move || source.text(), async {
            // A dropped sender ends it as well.
            let _ = shut.await;
        }));
        Ok(Self { url, live: live.clone(), shutdown, serving })
    }

    /// Closes the port, at once or when the final figures were read, after `wait` at the latest. Responses in progress are completed.
    pub async fn close(self, wait: Duration) {
        self.live.state.lock().closed = true;
        // With a time of 0 it does not wait.
        let _ = tokio::time::timeout(wait, self.live.final_page.notified()).await;
        let _ = self.shutdown.send(());
        let _ = self.serving.await;
    }
}
