//! What a load has counted so far.

use std::collections::BTreeMap;

use super::{Load, epoch};
use crate::{
    number::whole,
    results::{
        summary::{LoadModel, RunSummary},
        threshold::judge_all,
        workers::WorkerShare,
    },
    worker::protocol::message::{FromWorker, Stats},
};

impl Load {
    /// Notes the requests of the last second.
    pub(in crate::worker) fn sample(&mut self) {
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
    pub(in crate::worker) fn report(&mut self, summary: &RunSummary) -> FromWorker {
        FromWorker::Stats(Box::new(Stats {
            users: self.users(),
            exact: self.exact.encode(summary),
            ..self.stats.next(&summary.figures, self.began, epoch())
        }))
    }

    /// Notes that a signal ends the worker, which the summary then has as the reason of an early end.
    pub(in crate::worker) fn interrupt(&mut self) {
        self.worker.interrupted = true;
    }

    /// The summary so far. `complete` says that the load is over; `cut_short` why, if that was not the end of the run.
    pub(in crate::worker) fn summary(&self, complete: bool, cut_short: Option<String>) -> RunSummary {
        let ran_for = self.stopped.unwrap_or_else(|| self.run.clock.elapsed());
        let mut figures = self.run.figures_over_time(ran_for);
        let timeout = self.run.settings.transport.limits.timeout;
        let stopped_answering = self.run.liveness.has_stopped(ran_for, timeout);
        let length = self.run.measured_until(ran_for, stopped_answering);
        figures.series.cover(length);
        let results = judge_all(&self.asked.thresholds, &figures, length);
        let worker = WorkerShare {
            users: self.most_users,
            requests: figures.total(None).counts.all(),
            seconds: length.as_secs_f64(),
            complete,
            ..self.worker.clone()
        };
        let stopped = || format!("worker {}: {}", worker.name, self.run.liveness.outage(ran_for));
        let cut_short = cut_short
            .or_else(|| worker.problem().filter(|_| worker.interrupted))
            .or_else(|| stopped_answering.then(stopped));
        let of_figures = RunSummary::new(figures, length);
        let summary = RunSummary {
            began: whole(self.began),
            model: LoadModel {
                users: self.most_users,
                arrivals_asked: self.asked.rate.is_some().then_some(of_figures.figures.arrivals.due),
                ..self.facts.model.clone()
            },
            stopped_answering,
            cut_short,
            generators: vec![self.cpu.since()],
            workers: vec![worker],
            seconds: of_figures.seconds,
            figures: of_figures.figures,
            ..self.facts.clone()
        };
        summary.judged(results)
    }
}
