//! Lines of JSON, one exchange each: for whatever else records traffic, `proxy --record` included.
//!
//! ```json
//! {"url": "https://host/path", "request": {"headers": {}, "body": {"jsonrpc": "2.0"}}, "response": {"status": 200, "headers": {}, "body": "{}"}}
//! ```
//!
//! A body that is a JSON string is the text that went over the wire; any other JSON value stands for its own bytes, as they are
//! written in the line; `body_base64` is for what is no text.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Entry, Recording, foreign, is_unreadable, secrets};
use crate::exchange::{Exchange, Response};

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Where the request went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was sent.
    pub request: Sent,
    /// What came back.
    pub response: Received,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

/// What was sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The HTTP method; POST when it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body: a string is its text, another JSON value its own bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
    /// The body in base64, when it is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}

/// What came back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// Headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body: a string is its text, another JSON value its own bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
    /// The body in base64, when it is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}

/// Reads lines. Messages name the line; empty lines do not matter.
pub fn read(text: &str) -> Result<Recording, String> {
    let mut recording = Recording::default();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", number + 1);
        let line: Line = serde_json::from_str(line).map_err(|cause| {
            format!(
                "{place}: no exchange: {}; {}",
                without_line(&cause),
                super::EXPECTED
            )
        })?;
        let entry = entry(line, place.clone()).map_err(|cause| format!("{place}: {cause}"))?;
        recording.take(entry);
    }
    Ok(recording)
}

/// The message without its own line number, which is always 1.
fn without_line(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    match text.rsplit_once(" at line ") {
        Some((said, _)) => format!("{said}, column {}", cause.column()),
        None => text,
    }
}

fn entry(line: Line, place: String) -> Result<Result<Entry, String>, String> {
    let sent = line.request;
    let request = bytes(sent.body.as_deref(), sent.body_base64.as_deref(), "request")?;
    let method = sent.method.as_deref().unwrap_or("POST");
    if let Some(reason) = foreign(method, &request) {
        return Ok(Err(reason.to_owned()));
    }
    let received = line.response;
    if !(100..1000).contains(&received.status) {
        return Err(format!(
            "response.status is {}, which is no HTTP status",
            received.status
        ));
    }
    let body = bytes(
        received.body.as_deref(),
        received.body_base64.as_deref(),
        "response",
    )?;
    let headers: Vec<(String, String)> = received
        .headers
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    if is_unreadable(&headers, &body) {
        return Ok(Err("the body of the answer was recorded compressed".to_owned()));
    }
    let told = sent.headers.iter();
    Ok(Ok(Entry {
        place,
        url: line.url,
        secrets: secrets(told.map(|(name, value)| (name.as_str(), value.as_str()))),
        exchange: Exchange {
            request,
            outcome: Ok(Response {
                status: received.status,
                headers,
                body,
            }),
            took: Duration::from_millis(line.took_ms.unwrap_or_default()),
        },
    }))
}

fn bytes(body: Option<&RawValue>, encoded: Option<&str>, name: &str) -> Result<Bytes, String> {
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
                .map_err(|cause| format!("{name}.body is no text: {cause}"))
        }
        (None, Some(encoded)) => BASE64_STANDARD
            .decode(encoded)
            .map(Bytes::from)
            .map_err(|cause| format!("{name}.body_base64 is no base64: {cause}")),
    }
}

impl Line {
    /// The line of an exchange; none for one without an answer. `shown` hides what is secret.
    pub fn of(url: &str, exchange: &Exchange, shown: impl Fn(&str) -> String) -> Option<Self> {
        let response = exchange.outcome.as_ref().ok()?;
        let (body, body_base64) = written(&exchange.request, &shown);
        let (answer, answer_base64) = written(&response.body, &shown);
        Some(Self {
            url: Some(url.to_owned()),
            request: Sent {
                method: None,
                headers: BTreeMap::new(),
                body,
                body_base64,
            },
            response: Received {
                status: response.status,
                headers: response
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), shown(value)))
                    .collect(),
                body: answer,
                body_base64: answer_base64,
            },
            took_ms: u64::try_from(exchange.took.as_millis()).ok(),
        })
    }
}

fn written(body: &[u8], shown: impl Fn(&str) -> String) -> (Option<Box<RawValue>>, Option<String>) {
    match std::str::from_utf8(body) {
        Ok(text) => (serde_json::value::to_raw_value(&shown(text)).ok(), None),
        Err(_) => (None, Some(BASE64_STANDARD.encode(body))),
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
        let entry = &recording.entries[0];
        assert_eq!(entry.place, "line 2");
        assert_eq!(
            entry.exchange.request,
            r#"{"method": "pm_getFeeQuoteOrData",  "id": 1.0}"#
        );
        let answer = entry.exchange.outcome.as_ref().unwrap();
        assert_eq!(answer.body, "{} ");
        assert_eq!(answer.header("x-a"), Some("b"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for body in [&b"{ \"a\": 1 }"[..], b"", b"\"text\"", b"\xff\xfe"] {
            let exchange = Exchange {
                request: Bytes::from_static(br#"{"method":"pm_sponsorUserOperation" }"#),
                outcome: Ok(Response {
                    status: 200,
                    headers: vec![("a".to_owned(), "b".to_owned())],
                    body: Bytes::copy_from_slice(body),
                }),
                took: Duration::from_millis(3),
            };
            let line = Line::of("http://h/", &exchange, str::to_owned).unwrap();
            let text = serde_json::to_string(&line).unwrap();
            let again = read(&text).unwrap().entries.remove(0);
            assert_eq!(again.exchange.request, exchange.request);
            assert_eq!(again.exchange.outcome, exchange.outcome);
            assert_eq!(again.exchange.took, exchange.took);
            assert_eq!(again.url.as_deref(), Some("http://h/"));
        }
    }

    #[test]
    fn what_is_malformed_is_named_with_its_line() {
        let ok = format!("{{\"request\": {REQUEST}, \"response\": {{\"status\": 200}}}}");
        for (line, words) in [
            ("{\"request\": ".to_owned(), "line 2: no exchange: EOF"),
            ("{}".to_owned(), "missing field `request`"),
            (ok.replace("200", "2000"), "line 2: response.status is 2000"),
            (
                ok.replace("\"status\"", "\"statsu\": 1, \"status\""),
                "unknown field `statsu`",
            ),
            (
                ok.replace("{\"body\": ", "{\"body_base64\": \"\", \"body\": "),
                "line 2: request has both",
            ),
            (
                "{\"request\": {\"body_base64\": \"?\"}, \"response\": {\"status\": 200}}".to_owned(),
                "line 2: request.body_base64 is no base64",
            ),
        ] {
            let refusal = read(&format!("{ok}\n{line}\n")).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}
