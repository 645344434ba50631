//! Counters and latencies of requests, as OpenMetrics text.

mod page;

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

pub use self::page::{metrics_address, serve_metrics};
use crate::observation::calls::{Call, NONE};

/// The metrics of one server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
}

/// The labels have few values each: no client can make their number grow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    mode: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    method: &'static str,
    mode: &'static str,
}

/// The buckets of latencies: 20, from 50 microseconds to 26 seconds, each twice the one before.
fn buckets() -> impl Iterator<Item = f64> {
    exponential_buckets(0.000_05, 2.0, 20)
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("paymaster_server");
        let requests = Family::default();
        registry.register(
            "requests",
            "JSON-RPC requests by method, mode and outcome; each request of a batch counts",
            requests.clone(),
        );
        let durations = Family::new_with_constructor((|| Histogram::new(buckets())) as fn() -> Histogram);
        registry.register(
            "request_duration_seconds",
            "Time from the head of an HTTP request to its response, by method and mode",
            durations.clone(),
        );
        Self { registry, requests, durations }
    }
}

impl Metrics {
    /// Counts the calls of one HTTP request.
    pub(crate) fn count(&self, calls: &[Call], took: Duration) {
        for call in calls {
            let labels = RequestLabels { method: call.label, mode: call.mode, outcome: call.outcome };
            self.requests.get_or_create(&labels).inc();
        }
        let labels = match calls {
            [call] => DurationLabels { method: call.label, mode: call.mode },
            _ => DurationLabels { method: "batch", mode: NONE },
        };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// The metrics as OpenMetrics text. The error is one of formatting.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
