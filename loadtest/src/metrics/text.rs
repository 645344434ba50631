//! The OpenMetrics text of the figures at one moment.

use std::{collections::BTreeMap, fmt};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder as Encoder, EncodeGaugeValue};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::{Registry, Unit};

use super::Snapshot;
use crate::figures::{LabelFigures, Outcome, OutcomeCounts, WrongAnswers};

/// The bounds of the latency histograms, in seconds. One more bucket has no limit.
const BOUNDS: [f64; 36] = [
    0.000_05, 0.000_07, 0.000_1, 0.000_15, 0.000_2, 0.000_3, 0.000_5, 0.000_7, 0.001, 0.001_5, 0.002, 0.003,
    0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0,
    5.0, 7.0, 10.0, 15.0, 20.0, 30.0,
];

type NoLabels = [(&'static str, &'static str); 0];
const NO_EXEMPLAR: Option<&Exemplar<NoLabels, f64>> = None;

pub(super) fn render(snapshot: Snapshot) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("paymaster_load");
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: Encoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        let Self { figures, is_running, users, busy, .. } = self;
        let labels = || figures.labels.iter().map(|(scenario, of)| (("scenario", scenario.as_str()), of));
        let outcomes = |counts: OutcomeCounts| {
            Outcome::all().map(move |outcome| (("outcome", outcome.into_str()), counts.of(outcome)))
        };
        let about = "Requests of the measured time by scenario (or its step) and outcome";
        let requests = labels().flat_map(|(scenario, of)| {
            outcomes(of.counts).map(move |(outcome, times)| ([scenario, outcome], times))
        });
        counters(encoder, "requests", about, requests)?;
        let about = "Requests of the warm-up by outcome; they are in no other metric";
        let warm_up = outcomes(figures.warm_up).map(|(outcome, times)| ([outcome], times));
        counters(encoder, "warm_up_requests", about, warm_up)?;
        let judged = labels().map(|(scenario, of)| ([scenario], of.judged));
        counters(encoder, "judged_answers", "Answers that were judged, by scenario", judged)?;
        let bounds: Vec<f64> = BOUNDS.into_iter().chain([f64::INFINITY]).collect();
        let about = "Time from the intended start of a request to the last byte of its answer, by scenario; answers and timeouts";
        let (unit, kind) = (Unit::Seconds, MetricType::Histogram);
        let mut histograms = encoder.encode_descriptor("request_duration", about, Some(&unit), kind)?;
        for (scenario, LabelFigures { latency, .. }) in labels() {
            let (buckets, sum) = latency.buckets(&bounds);
            let (labels, count) = ([scenario], latency.len());
            histograms.encode_family(&labels)?.encode_histogram::<NoLabels>(sum, count, &buckets, None)?;
        }
        let mut by_rule = BTreeMap::<[(&str, &str); 2], u64>::new();
        for WrongAnswers { key, times, .. } in &figures.wrong {
            *by_rule.entry([("rule", &key.rule), ("scenario", &key.label)]).or_default() += times;
        }
        counters(encoder, "wrong_answers", "Answers that break a rule, by rule and scenario", by_rule)?;
        set(encoder, "running", "1 while a run goes on, 0 before and after", &u64::from(*is_running))?;
        set(encoder, "users", "Users, each with its own connection", &(*users as u64))?;
        set(encoder, "busy_users", "Users that wait for an answer", &(*busy as u64))?;
        self.arrivals(encoder)?;
        self.generator(encoder)
    }
}

impl Snapshot {
    fn arrivals(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let arrivals = &self.figures.arrivals;
        let about = "Open model: arrivals that were due";
        let mut due = encoder.encode_descriptor("arrivals_due", about, None, MetricType::Counter)?;
        due.encode_counter(&arrivals.due, NO_EXEMPLAR)?;
        for (name, about, label, parts) in [
            (
                "arrivals_served",
                "Open model: arrivals whose requests were all answered, by whether they began at most 1 ms late",
                "began",
                [("in-time", arrivals.in_time), ("late", arrivals.late)],
            ),
            (
                "arrivals_late",
                "Open model: arrivals that began more than 1 ms late, because no connection was free or because the generator was slow",
                "cause",
                [("no-free-connection", arrivals.waited), ("slow-generator", arrivals.delayed)],
            ),
            (
                "arrivals_dropped",
                "Open model: arrivals that were never sent, because no connection was free until the end or because the target asked for a pause",
                "cause",
                [("no-free-connection", arrivals.unsent), ("pause", arrivals.held_back)],
            ),
        ] {
            counters(encoder, name, about, parts.map(|(part, times)| ([(label, part)], times)))?;
        }
        let about = "Open model: arrivals that are due and wait for a free connection";
        set(encoder, "arrivals_waiting", about, &self.waiting)
    }

    fn generator(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        let Self { cpu_seconds, usage, .. } = self;
        let about = "CPU time of the generator in its runs";
        let (unit, kind) = (Unit::Seconds, MetricType::Counter);
        let mut cpu = encoder.encode_descriptor("generator_cpu", about, Some(&unit), kind)?;
        cpu.encode_counter(cpu_seconds, NO_EXEMPLAR)?;
        set(encoder, "generator_cores", "Cores that the generator may use", &(usage.cores as u64))?;
        let about = "The part of these cores that the generator used in the run, from 0 to 1";
        set(encoder, "generator_cpu_share", about, &usage.cpu_share.unwrap_or_default())?;
        let about = "The part of all cores that all programs of the machine used in the run, from 0 to 1";
        set(encoder, "machine_cpu_share", about, &usage.machine_share.unwrap_or_default())?;
        let about = "1 if the generator or its machine was the limit of the run, and not the target";
        set(encoder, "generator_is_limit", about, &u64::from(usage.warning().is_some()))
    }
}

/// A counter with a value for each set of labels.
fn counters<'a, const LABELS: usize>(
    encoder: &mut Encoder<'_>,
    name: &str,
    about: &str,
    values: impl IntoIterator<Item = ([(&'a str, &'a str); LABELS], u64)>,
) -> fmt::Result {
    let mut counter = encoder.encode_descriptor(name, about, None, MetricType::Counter)?;
    for (labels, times) in values {
        counter.encode_family(&labels)?.encode_counter(&times, NO_EXEMPLAR)?;
    }
    Ok(())
}

fn set(encoder: &mut Encoder<'_>, name: &str, about: &str, value: &impl EncodeGaugeValue) -> fmt::Result {
    encoder.encode_descriptor(name, about, None, MetricType::Gauge)?.encode_gauge(value)
}
