//! Reads recorded traffic, from HAR files (`har`) or lines of JSON (`lines`).
//!
//! Recorded exchanges are judged one by one. Rules over several exchanges stay inconclusive: whether two recorded requests are
//! related as such a rule requires is unknown, and a policy, a balance or a price may lawfully have changed between them.

mod har;
mod headers;
mod lines;
mod selection;

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use indexmap::IndexMap;

pub use headers::secrets;
pub use selection::{called_specification, request_skip_reason, response_skip_reason};

pub use paymaster_engine::session::recorded::Skipped;
use paymaster_engine::specification::Specification;
use paymaster_exchange::Exchange;
use paymaster_settings::SPECIFICATIONS;

/// Why calls of another specification are left out.
pub const OTHER_SPECIFICATION: &str = "a call of another specification: --spec judges those";

/// One exchange of a recording.
#[derive(Clone, Debug)]
pub struct RecordedExchange {
    /// Its place in the file, for people: `entry 3`, `line 7`.
    pub place: String,
    /// The URL, where the recording has it.
    pub url: Option<String>,
    /// The request and the response.
    pub exchange: Exchange,
    /// When it ended, where the recording has it.
    pub ended: Option<SystemTime>,
    /// Header values that must not appear in any output.
    pub secrets: Vec<String>,
}

/// The content of a recording.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Exchanges with the paymaster, in the order of the file.
    pub exchanges: Vec<RecordedExchange>,
    /// How many entries were left out, by reason.
    pub skipped: Skipped,
}

impl Recording {
    /// Adds an exchange, or counts a reason for leaving one out.
    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Exchange(exchange) => self.exchanges.push(*exchange),
            Entry::Skipped(reason) => *self.skipped.entry(reason).or_default() += 1,
        }
    }

    /// The specification whose methods most exchanges call; the first one where two are called as often.
    pub fn most_called(&self) -> Option<&'static Specification> {
        let calls = |of: &Specification| {
            let called = self.exchanges.iter().map(|one| called_specification(&one.exchange.request));
            called.filter(|specification| specification.is_some_and(|own| own == of)).count()
        };
        SPECIFICATIONS.iter().copied().rev().max_by_key(|of| calls(of)).filter(|of| calls(of) > 0)
    }

    /// Leaves out the calls of other specifications, and counts them.
    pub fn keep_calls_of(&mut self, specification: &Specification) {
        let before = self.exchanges.len();
        self.exchanges
            .retain(|one| called_specification(&one.exchange.request).is_none_or(|own| own == specification));
        let others = (before - self.exchanges.len()) as u64;
        self.skipped.insert(OTHER_SPECIFICATION.to_owned(), others);
    }

    /// Every URL of the recording with its number of exchanges, in the order of the file.
    pub fn endpoints(&self) -> IndexMap<Option<&str>, usize> {
        let mut endpoints = IndexMap::new();
        for exchange in &self.exchanges {
            *endpoints.entry(exchange.url.as_deref()).or_default() += 1;
        }
        endpoints
    }
}

/// Reads a recording in either format.
///
/// # Errors
///
/// When the text is neither a HAR file nor lines of JSON, or an exchange is malformed.
pub fn read(text: &str) -> Result<Recording, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(format!("the recording is empty: {EXPECTED}"));
    }
    if har::is_har(text) { har::read(text) } else { lines::read(text) }
}

/// An entry of a recording that is not malformed.
enum Entry {
    Exchange(Box<RecordedExchange>),
    /// Left out for this reason.
    Skipped(String),
}

impl Entry {
    /// An exchange that was recorded whole, unless its response is none to judge.
    fn exchange(
        (place, url): (String, Option<String>),
        sent_headers: &[(String, String)],
        ended: Option<SystemTime>,
        exchange: Exchange,
    ) -> Self {
        if let Some(reason) = exchange.outcome.as_ref().ok().and_then(response_skip_reason) {
            return Self::skipped(reason);
        }
        let secrets = secrets(sent_headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let exchange = Exchange { received: ended, ..exchange };
        Self::Exchange(Box::new(RecordedExchange { place, url, exchange, ended, secrets }))
    }

    fn skipped(reason: impl Into<String>) -> Self {
        Self::Skipped(reason.into())
    }
}

/// A header, as HAR and lines of JSON write it.
#[derive(serde::Deserialize)]
struct Header {
    name: String,
    value: String,
}

/// Names in lower case, and values.
fn pairs(headers: Vec<Header>) -> Vec<(String, String)> {
    headers.into_iter().map(|header| (header.name.to_ascii_lowercase(), header.value)).collect()
}

/// The bytes that a member of a recording writes in base64.
fn from_base64(text: &str, member: &str) -> Result<Bytes, String> {
    let decoded = BASE64_STANDARD.decode(text);
    decoded.map(Bytes::from).map_err(|cause| format!("{member} is not base64: {cause}"))
}

/// A duration in milliseconds; an invalid one counts as zero.
fn duration(milliseconds: Option<f64>) -> Duration {
    milliseconds.and_then(|time| Duration::try_from_secs_f64(time / 1000.0).ok()).unwrap_or_default()
}

/// A time such as `2026-01-31T12:00:00.000Z`; none where the text is not such a time.
fn moment(text: Option<&str>) -> Option<SystemTime> {
    let time = chrono::DateTime::parse_from_rfc3339(text?).ok()?;
    Some(time.into())
}

/// What a recording must be.
const EXPECTED: &str = "give a HAR file, or lines of JSON with one exchange each (docs/recorded-traffic.md)";
