//! Observes the HTTP requests that the server answers: a line of the log for each, and metrics. Off, it costs nothing.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::http::respond::ResponseCopy;
use crate::observation::calls::{Call, NONE, calls};
use crate::observation::metrics::Metrics;

/// What is observed of requests. The default is nothing, as for a server inside another program.
#[derive(Debug, Clone, Default)]
pub struct Observer {
    logs: bool,
    metrics: Option<Arc<Metrics>>,
}

impl Observer {
    /// Logs requests with `tracing` if `logs` is set: a line for each at level info, and the bodies at level debug.
    #[must_use]
    pub fn new(logs: bool, metrics: Option<Arc<Metrics>>) -> Self {
        Self { logs, metrics }
    }

    /// Begins with one HTTP request; none when nothing is observed.
    pub(crate) fn begin(&self) -> Option<Observation> {
        (self.logs || self.metrics.is_some()).then(|| Observation {
            observer: self.clone(),
            started: Instant::now(),
            subject: Subject::Http { method: Cow::Borrowed(""), outcome: "" },
        })
    }
}

/// The observation of one HTTP request.
pub(crate) struct Observation {
    observer: Observer,
    started: Instant,
    pub(crate) subject: Subject,
}

/// What an HTTP request holds.
pub(crate) enum Subject {
    /// JSON-RPC: the body, and a copy of that of the response.
    JsonRpc { request: Bytes, response: ResponseCopy },
    /// Something else, with this HTTP method.
    Http { method: Cow<'static, str>, outcome: &'static str },
}

impl Observation {
    /// Ends with the status of the response; none when the connection is closed without one.
    pub(crate) fn end(self, status: Option<u16>) {
        let took = self.started.elapsed();
        let calls = match &self.subject {
            Subject::JsonRpc { request, response } => calls(request, response.text()),
            Subject::Http { method, outcome } => {
                vec![Call { method: method.clone(), label: NONE, mode: NONE, outcome }]
            }
        };
        if let Some(metrics) = &self.observer.metrics {
            metrics.count(&calls, took);
        }
        if self.observer.logs {
            log(&calls, status, took);
            if let Subject::JsonRpc { request, response } = &self.subject {
                tracing::debug!("request body {}", OneLine(request));
                tracing::debug!("response body {}", OneLine(response.text().unwrap_or_default()));
            }
        }
    }
}

/// Writes a line for each call. None has the URL or a header, which may hold a key.
fn log(calls: &[Call], status: Option<u16>, took: Duration) {
    let status = status.map_or_else(|| "closed".to_owned(), |status| status.to_string());
    let ms = format!("{:.2}", took.as_secs_f64() * 1e3);
    for (index, call) in calls.iter().enumerate() {
        let place = || tracing::field::display(format!("{}/{}", index + 1, calls.len()));
        tracing::info!(
            batch = (calls.len() > 1).then(place),
            method = %call.method,
            mode = %call.mode,
            outcome = %call.outcome,
            %status,
            %ms,
            "request"
        );
    }
}

/// Longest part of a body that is logged, in bytes.
const LONGEST_BODY: usize = 16 * 1024;

/// A body on one line: control characters become spaces, which changes no JSON value.
struct OneLine<'a>(&'a [u8]);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(LONGEST_BODY)];
        let text = String::from_utf8_lossy(shown);
        let text: String =
            text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        match self.0.len() {
            0 => formatter.write_str("(none)"),
            length if length > LONGEST_BODY => write!(formatter, "{text}... ({length} bytes)"),
            _ => formatter.write_str(&text),
        }
    }
}
