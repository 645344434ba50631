//! Lines of JSON, one exchange each: a simple format for tools that record traffic. The log of `--report ndjson-all` is read too.
//!
//! ```json
//! {"url": "https://host/path", "request": {"headers": {}, "body": {"jsonrpc": "2.0"}}, "response": {"status": 200, "headers": {}, "body": "{}"}}
//! ```
//!
//! A body that is a JSON string is the text that was sent; any other JSON value is a body with exactly these bytes; `body_base64` is
//! for bodies that are not UTF-8.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::recorded::{
    EXPECTED, Entry, Header, Recording, duration, from_base64, moment, pairs, request_skip_reason,
};
use paymaster_exchange::{Exchange, Response};

/// A line. Other members are ignored.
#[derive(Deserialize)]
struct Line {
    url: Option<String>,
    request: Message,
    #[serde(alias = "answer")]
    response: Message,
    took_ms: Option<f64>,
    ended: Option<String>,
}

/// The event of an event log that is an exchange.
const EXCHANGED: &str = "exchanged";

/// A line of an event log that is not an exchange.
#[derive(Deserialize)]
struct Logged {
    event: String,
    target: Option<String>,
}

/// A request or a response.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    method: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: Headers,
    body: Option<Box<RawValue>>,
    body_base64: Option<String>,
    /// Why there is no response.
    failure: Option<String>,
}

/// `{"name": "value"}` or, where a name may occur twice, `[{"name": ..., "value": ...}]`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Headers {
    Map(BTreeMap<String, String>),
    List(Vec<Header>),
}

impl Default for Headers {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Headers {
    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::Map(map) => pairs(map.into_iter().map(|(name, value)| Header { name, value }).collect()),
            Self::List(list) => pairs(list),
        }
    }
}

/// Reads lines. Errors name the line; empty lines are skipped.
pub(super) fn read(text: &str) -> Result<Recording, String> {
    let mut recording = Recording::default();
    // An event log names the target in its first line only.
    let mut target = None;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", number + 1);
        if let Ok(logged) = serde_json::from_str::<Logged>(line)
            && logged.event != EXCHANGED
        {
            target = target.or(logged.target);
            continue;
        }
        let malformed = |problem: String| format!("{place}: {problem}");
        let line: Line = serde_json::from_str(line)
            .map_err(|cause| malformed(format!("not an exchange: {}; {EXPECTED}", without_line(&cause))))?;
        recording.add(entry(line, place.clone(), target.as_ref()).map_err(malformed)?);
    }
    Ok(recording)
}

/// The message without its line number, which is always 1.
fn without_line(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message}, column {}", cause.column()),
        None => text,
    }
}

/// An exchange, or why it is left out. The error says what is malformed.
fn entry(line: Line, place: String, target: Option<&String>) -> Result<Entry, String> {
    let sent = line.request;
    let request = bytes(sent.body.as_deref(), sent.body_base64.as_deref(), "request")?;
    let method = sent.method.as_deref().unwrap_or("POST");
    if let Some(reason) = request_skip_reason(method, &request) {
        return Ok(Entry::skipped(reason));
    }
    let received = line.response;
    if let Some(failure) = received.failure {
        return Ok(Entry::skipped(format!("no answer was recorded: {failure}")));
    }
    let status = received.status.ok_or("response.status is missing: give the HTTP status")?;
    if !(100..1000).contains(&status) {
        return Err(format!("response.status is {status}, which is not an HTTP status"));
    }
    let body = bytes(received.body.as_deref(), received.body_base64.as_deref(), "response")?;
    let response = Response { status, headers: received.headers.pairs(), body: body.into() };
    let exchange = Exchange::new(request, Ok(response), duration(line.took_ms));
    let url = line.url.or_else(|| target.cloned());
    Ok(Entry::exchange((place, url), &sent.headers.pairs(), moment(line.ended.as_deref()), exchange))
}

fn bytes(body: Option<&RawValue>, encoded: Option<&str>, name: &'static str) -> Result<Bytes, String> {
    match (body, encoded) {
        (Some(_), Some(_)) => Err(format!("{name} has both body and body_base64: leave one out")),
        (None, None) => Ok(Bytes::new()),
        (Some(value), None) => {
            let written = value.get();
            if !written.starts_with('"') {
                return Ok(Bytes::copy_from_slice(written.as_bytes()));
            }
            serde_json::from_str::<String>(written)
                .map(Bytes::from)
                .map_err(|cause| format!("{name}.body is not a valid string: {cause}"))
        }
        (None, Some(encoded)) => from_base64(encoded, &format!("{name}.body_base64")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"{"body": {"method": "pm_getFeeQuoteOrData",  "id": 1.0}}"#;

    #[test]
    fn bodies_keep_their_bytes() {
        let text = format!(
            "\n{{\"request\": {REQUEST}, \"response\": {{\"status\": 200, \"headers\": {{\"X-A\": \"b\"}}, \"body\": \"{{}} \"}}}}\n"
        );
        let recording = read(&text).unwrap();
        let entry = &recording.exchanges[0];
        assert_eq!(entry.place, "line 2");
        assert_eq!(entry.exchange.request, r#"{"method": "pm_getFeeQuoteOrData",  "id": 1.0}"#.into());
        let answer = entry.exchange.outcome.as_ref().unwrap();
        assert_eq!(answer.body.bytes(), &b"{} "[..]);
        assert_eq!(answer.header("x-a"), Some("b"));
    }

    #[test]
    fn an_event_log_is_read() {
        let text = format!(
            "{}\n{}\n{}\n{}\n{}\n",
            r#"{"event":"started","target":"http://h/***","seed":1}"#,
            r#"{"event":"exchanged","at":"t","request":{"body":"{\"method\":\"pm_getFeeQuoteOrData\"}"},"answer":{"body":"{}","status":200,"headers":[{"name":"A","value":"b"}]},"took_ms":1.5}"#,
            r#"{"event":"exchanged","request":{"body":"{\"method\":\"pm_getFeeQuoteOrData\"}"},"answer":{"failure":"no connection"},"took_ms":1}"#,
            r#"{"event":"overloaded","jobs":1,"sign":"503"}"#,
            r#"{"event":"finished"}"#,
        );
        let recording = read(&text).unwrap();
        let [entry] = recording.exchanges.as_slice() else { panic!("{recording:?}") };
        assert_eq!(entry.url.as_deref(), Some("http://h/***"));
        let answer = entry.exchange.outcome.as_ref().unwrap();
        assert_eq!(answer.header("a"), Some("b"));
        assert_eq!(entry.exchange.took, std::time::Duration::from_micros(1500));
        assert_eq!(
            recording.skipped,
            BTreeMap::from([("no answer was recorded: no connection".to_owned(), 1)])
        );
    }

    #[test]
    fn errors_name_the_line() {
        let ok = format!("{{\"request\": {REQUEST}, \"response\": {{\"status\": 200}}}}");
        for (line, words) in [
            ("{\"request\": ".to_owned(), "line 2: not an exchange: EOF"),
            ("{}".to_owned(), "missing field `request`"),
            (ok.replace("200", "2000"), "line 2: response.status is 2000"),
            (ok.replace("\"status\"", "\"statsu\": 1, \"status\""), "unknown field `statsu`"),
            (ok.replace("{\"body\": ", "{\"body_base64\": \"\", \"body\": "), "line 2: request has both"),
            (
                "{\"request\": {\"body_base64\": \"?\"}, \"response\": {\"status\": 200}}".to_owned(),
                "line 2: request.body_base64 is not base64",
            ),
        ] {
            let refusal = read(&format!("{ok}\n{line}\n")).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}
