//! Reads recorded traffic, from HAR files (`har`) or lines of JSON (`lines`).
//!
//! Recorded exchanges are judged one by one. Rules over several exchanges stay inconclusive: whether two recorded requests are
//! related as such a rule requires is unknown, and a policy, a balance or a price may lawfully have changed between them.

mod har;
mod lines;

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use indexmap::IndexMap;

use paymaster_client::throttling::is_throttled;
pub use paymaster_engine::session::recorded::Skipped;
use paymaster_engine::specification::Specification;
use paymaster_exchange::{Exchange, Response};
use paymaster_settings::SPECIFICATIONS;
use serde_json::Value;

/// Why calls of another specification are left out.
pub const OTHER_SPECIFICATION: &str = "a call of another specification: --spec judges those";

/// One exchange of a recording.
#[derive(Clone, Debug)]
pub struct RecordedExchange {
    /// Its place in the file, for people: `entry 3`, `line 7`.
    pub place: String,
    /// The URL, where the recording has it.
    pub url: Option<String>,
    /// The request and the response, and when this was received, where the recording has it.
    pub exchange: Exchange,
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
        Self::Exchange(Box::new(RecordedExchange { place, url, exchange, secrets }))
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

/// Why a request is not judged; none where it calls a method of a specification.
///
/// The method decides, not the address: one address often serves bundler and paymaster methods.
pub fn request_skip_reason(http_method: &str, body: &[u8]) -> Option<&'static str> {
    if !http_method.eq_ignore_ascii_case("POST") {
        return Some("not a POST request");
    }
    match serde_json::from_slice::<Value>(body) {
        Err(_) => Some("the request is no JSON"),
        Ok(Value::Array(calls)) if !calls.is_empty() && calls.iter().any(is_paymaster_call) => {
            (!calls.iter().all(is_paymaster_call)).then_some("a batch with calls of other methods too")
        }
        Ok(call) if is_paymaster_call(&call) => None,
        Ok(_) => Some("no call of a method of a specification"),
    }
}

fn is_paymaster_call(call: &Value) -> bool {
    specification_of(call).is_some()
}

/// The specification of a call, by its method.
fn specification_of(call: &Value) -> Option<&'static Specification> {
    let method = call["method"].as_str()?;
    SPECIFICATIONS.iter().copied().find(|known| known.methods().contains(&method))
}

/// The specification whose method a request calls, the first call of a batch.
pub fn called_specification(body: &[u8]) -> Option<&'static Specification> {
    match serde_json::from_slice(body).ok()? {
        Value::Array(calls) => calls.iter().find_map(specification_of),
        call => specification_of(&call),
    }
}

/// Why a response is not judged; none where it is.
///
/// A 429, or a 503 with Retry-After, is not an answer of the service: in a check the request is sent again.
pub fn response_skip_reason(response: &Response) -> Option<&'static str> {
    if is_throttled(response) {
        return Some("the target asked to come again later");
    }
    let encoding = response.header("content-encoding").unwrap_or_default().trim();
    let encoded = !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity");
    // Recorders decode bodies and keep the header: only bodies that are not UTF-8 are still compressed.
    (encoded && std::str::from_utf8(&response.body).is_err())
        .then_some("the body of the answer was recorded compressed")
}

/// Headers that are no credentials. The values of all other headers are hidden in every output.
const PUBLIC: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "dnt",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "te",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "user-agent",
];

/// The values of request headers that must be hidden.
pub fn secrets<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let is_secret = |(name, _): &(&str, &str)| {
        let name = name.to_ascii_lowercase();
        // `:authority` and other pseudo-headers of HTTP/2 are method, path and host.
        !PUBLIC.contains(&name.as_str()) && !name.starts_with("sec-") && !name.starts_with(':')
    };
    headers.filter(is_secret).map(|(_, value)| value.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_of_methods_of_a_specification_are_judged() {
        for (method, body, expected) in [
            ("POST", r#"{"method":"pm_getFeeQuoteOrData"}"#, None),
            ("post", r#"[{"method":"pm_sponsorUserOperation"}]"#, None),
            ("OPTIONS", "", Some("not a POST request")),
            ("POST", "a=b", Some("the request is no JSON")),
            ("POST", "[]", Some("no call of a method of a specification")),
            ("POST", r#"{"method":"eth_chainId"}"#, Some("no call of a method of a specification")),
            (
                "POST",
                r#"[{"method":"pm_sponsorUserOperation"},{"method":"eth_chainId"}]"#,
                Some("a batch with calls of other methods too"),
            ),
        ] {
            assert_eq!(request_skip_reason(method, body.as_bytes()), expected, "{method} {body}");
        }
    }

    #[test]
    fn a_response_that_asks_for_a_retry_is_not_judged() {
        for (status, header, expected) in [
            (200, "", None),
            (429, "", Some("the target asked to come again later")),
            (503, "", None),
            (503, "retry-after", Some("the target asked to come again later")),
        ] {
            let response =
                Response { status, headers: vec![(header.to_owned(), "1".to_owned())], body: "".into() };
            assert_eq!(response_skip_reason(&response), expected, "{status} {header}");
        }
    }

    #[test]
    fn ordinary_headers_are_public_and_all_others_secret() {
        let headers = [
            ("Accept", "application/json"),
            ("sec-fetch-mode", "cors"),
            (":path", "/"),
            ("Authorization", "Bearer k"),
            ("x-api-key", "k2"),
            ("cookie", "s=1"),
        ];
        assert_eq!(secrets(headers.into_iter()), ["Bearer k", "k2", "s=1"]);
    }
}
