//! HAR 1.2, the format of browsers and debugging proxies.

use bytes::Bytes;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use crate::recorded::{Entry, Header, Recording, duration, from_base64, moment, pairs, request_skip_reason};
use paymaster_exchange::{Exchange, Response};

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Value>,
}

#[derive(Deserialize)]
struct Row {
    request: Request,
    response: Answer,
    time: Option<f64>,
    #[serde(rename = "startedDateTime")]
    started: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Header>,
    post_data: Option<Body>,
}

#[derive(Deserialize)]
struct Answer {
    status: i64,
    #[serde(default)]
    headers: Vec<Header>,
    content: Option<Body>,
    /// Written by Chromium beside a response that it could not read completely.
    #[serde(rename = "_error")]
    error: Option<String>,
}

#[derive(Default, Deserialize)]
struct Body {
    text: Option<String>,
    /// HAR defines it for responses only; some writers use `_encoding` for requests.
    #[serde(alias = "_encoding")]
    encoding: Option<String>,
    size: Option<i64>,
}

/// Whether a text is meant to be a HAR file: a JSON object with the member `log`.
pub(super) fn is_har(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        log: Option<IgnoredAny>,
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Probe>();
    if let Some(Ok(probe)) = values.next() {
        return probe.log.is_some();
    }
    // Not valid JSON: a HAR file begins with the member `log`.
    let begin: String = text.chars().filter(|c| !c.is_whitespace()).take(7).collect();
    begin == "{\"log\":"
}

/// Reads a HAR file. Errors name the line, or the entry from 1.
pub(super) fn read(text: &str) -> Result<Recording, String> {
    let file: File =
        serde_json::from_str(text).map_err(|cause| format!("this is not a HAR 1.2 file: {cause}"))?;
    let mut recording = Recording::default();
    for (number, row) in file.log.entries.into_iter().enumerate() {
        let place = format!("entry {}", number + 1);
        let malformed = |problem: String| format!("{place}: {problem}");
        let row: Row = serde_json::from_value(row).map_err(|cause| {
            malformed(format!("log.entries[{number}] is not an entry of HAR 1.2: {cause}"))
        })?;
        recording.add(entry(row, place.clone()).map_err(malformed)?);
    }
    Ok(recording)
}

/// An exchange, or why it is left out. The error says what is malformed.
fn entry(row: Row, place: String) -> Result<Entry, String> {
    let body = row.request.post_data.unwrap_or_default();
    let request = bytes(&body, "request.postData")?;
    if let Some(reason) = request_skip_reason(&row.request.method, request.as_deref().unwrap_or_default()) {
        return Ok(Entry::skipped(reason));
    }
    if let Some(error) = row.response.error.filter(|error| !error.is_empty()) {
        return Ok(Entry::skipped(format!("the browser could not read the answer: {error}")));
    }
    let Some(status) = u16::try_from(row.response.status).ok().filter(|status| (100..1000).contains(status))
    else {
        return Ok(Entry::skipped("no answer was recorded"));
    };
    let content = row.response.content.unwrap_or_default();
    let body = match bytes(&content, "response.content")? {
        Some(body) => body,
        None if content.size.unwrap_or_default() > 0 => {
            return Ok(Entry::skipped("the body of the answer was not recorded"));
        }
        None => Bytes::new(),
    };
    let response = Response { status, headers: pairs(row.response.headers), body: body.into() };
    let took = duration(row.time);
    let ended = moment(row.started.as_deref()).map(|started| started + took);
    let exchange = Exchange::new(request.unwrap_or_default(), Ok(response), took);
    Ok(Entry::exchange((place, Some(row.request.url)), &pairs(row.request.headers), ended, exchange))
}

/// The bytes of a body; none where the recording has no text for it.
fn bytes(body: &Body, name: &'static str) -> Result<Option<Bytes>, String> {
    let Some(text) = &body.text else { return Ok(None) };
    match body.encoding.as_deref() {
        None | Some("") => Ok(Some(text.clone().into())),
        Some("base64") => from_base64(text, &format!("{name}.text")).map(Some),
        Some(other) => Err(format!("{name}.encoding is `{other}`; only base64 is supported")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(request: &Value, response: &Value) -> Value {
        json!({"time": 12.5, "request": request, "response": response})
    }

    fn har(rows: &[Value]) -> String {
        json!({"log": {"version": "1.2", "entries": rows}}).to_string()
    }

    fn call() -> Value {
        json!({
            "method": "POST",
            "url": "https://h/k",
            "headers": [{"name": "Authorization", "value": "Bearer k"}],
            "postData": {"mimeType": "application/json", "text": "{\"method\":\"pm_getFeeQuoteOrData\"}"},
        })
    }

    #[test]
    fn exchanges_are_read_and_base64_is_decoded() {
        let response = json!({
            "status": 200,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"size": 2, "encoding": "base64", "text": "e30="},
        });
        let text = har(&[row(&call(), &response)]);
        assert!(is_har(&text));
        let recording = read(&text).unwrap();
        let entry = &recording.exchanges[0];
        let answer = entry.exchange.outcome.as_ref().unwrap();
        assert_eq!(answer.body.bytes(), &b"{}"[..]);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(entry.exchange.took, std::time::Duration::from_micros(12_500));
        assert_eq!(entry.secrets, ["Bearer k"]);
        assert_eq!(entry.url.as_deref(), Some("https://h/k"));
    }

    #[test]
    fn skipped_entries_are_counted_by_reason() {
        let ok = json!({"status": 200, "content": {"size": 0, "text": ""}});
        let mut preflight = call();
        preflight["method"] = "OPTIONS".into();
        let mut get = call();
        get["postData"] = Value::Null;
        let recording = read(&har(&[
            row(&preflight, &ok),
            row(&get, &ok),
            row(&call(), &json!({"status": 0})),
            row(&call(), &json!({"status": 200, "content": {"size": 7}})),
            row(&call(), &json!({"status": 200, "_error": "net::ERR_ABORTED"})),
            row(
                &call(),
                &json!({
                    "status": 200,
                    "headers": [{"name": "Content-Encoding", "value": "br"}],
                    "content": {"size": 1, "encoding": "base64", "text": "/w=="},
                }),
            ),
            row(&call(), &ok),
        ]))
        .unwrap();
        assert_eq!(recording.exchanges.len(), 1);
        assert_eq!(recording.exchanges[0].place, "entry 7");
        let reasons: Vec<(&str, u64)> =
            recording.skipped.iter().map(|(reason, times)| (reason.as_str(), *times)).collect();
        assert_eq!(
            reasons,
            [
                ("no answer was recorded", 1),
                ("not a POST request", 1),
                ("the body of the answer was not recorded", 1),
                ("the body of the answer was recorded compressed", 1),
                ("the browser could not read the answer: net::ERR_ABORTED", 1),
                ("the request is no JSON", 1),
            ]
        );
    }

    #[test]
    fn errors_name_the_place() {
        let ok = json!({"status": 200, "content": {"text": "!", "encoding": "base64"}});
        let other = json!({"status": 200, "content": {"text": "!", "encoding": "gzip"}});
        for (text, words) in [
            ("{\"log\": {\"entries\": [".to_owned(), "line 1"),
            ("{\"log\": {}}".to_owned(), "missing field `entries`"),
            (har(&[json!({"request": 1})]), "entry 1: log.entries[0] is not an entry of HAR 1.2"),
            (har(&[row(&call(), &ok)]), "entry 1: response.content.text is not base64"),
            (har(&[row(&call(), &other)]), "entry 1: response.content.encoding is `gzip`"),
        ] {
            let refusal = read(&text).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
            assert!(is_har(&text), "{text}");
        }
        assert!(!is_har("{\"request\": {}}\n{\"log\": 1}"));
    }
}
