//! HAR 1.2: exchanges in the format that the network panel of a browser opens.

use std::io::{self, Write};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::events::{Event, SentExchange};
use crate::report::{
    Body, Exchanged, Finding, Header, Maker, Report, ReportLog, Response, Tool, milliseconds, moment,
};

/// The id of the page that all exchanges belong to; Firefox needs one.
const PAGE: &str = "run";

/// The exchanges of every finding: those of the smallest group, then those of each repeat.
pub(crate) fn failing(report: &Report) -> String {
    let began = SystemTime::now().checked_sub(report.details.took).unwrap_or(SystemTime::UNIX_EPOCH);
    // When these exchanges happened was not kept: each is written as if it began when the previous one ended.
    let mut clock = began;
    let head = Head { target: &report.target, own_headers: &report.details.own_headers };
    let mut entries = Vec::new();
    for finding in &report.findings {
        let again = finding.attempts.iter().map(|attempt| &attempt.exchanges);
        for (number, exchanges) in std::iter::once(&finding.exchanges).chain(again).enumerate() {
            for (member, exchange) in exchanges.iter().enumerate() {
                entries.push(head.entry(exchange, clock, &about(finding, number, member)));
                clock += exchange.took;
            }
        }
    }
    let log = json!({"log": {
        "version": "1.2",
        "creator": Tool::this(),
        "pages": [head.page(began)],
        "entries": entries,
        "comment": comment(report),
    }});
    format!("{log:#}\n")
}

/// Every exchange, written as it ends.
pub(crate) fn all() -> Box<dyn ReportLog> {
    Box::new(All { separator: "" })
}

struct All {
    /// What stands before the next entry.
    separator: &'static str,
}

impl ReportLog for All {
    fn wants_exchanges(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, maker: Maker<'_>, out: &mut dyn Write) -> io::Result<()> {
        match event {
            Event::Started { .. } => {
                let page = Head { target: &maker.place.shown, own_headers: &[] }.page(SystemTime::now());
                let creator = json!(Tool::this());
                write!(
                    out,
                    "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":[{page}],\"entries\":["
                )
            }
            Event::Exchanged(sent) => self.add(sent, maker, out),
            _ => Ok(()),
        }
    }

    fn end(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n],\"comment\":{}}}}}", json!(comment(report)))
    }
}

impl All {
    fn add(&mut self, sent: &SentExchange, maker: Maker<'_>, out: &mut dyn Write) -> io::Result<()> {
        let began = sent.ended.checked_sub(sent.exchange.took);
        let comment =
            maker.text(&format!("{}, group {}: {} {}", sent.relation, sent.group, sent.role, sent.label));
        let head = Head { target: &maker.place.shown, own_headers: &maker.own_headers() };
        let exchange = maker.exchange(&sent.exchange);
        let entry = head.entry(&exchange, began.unwrap_or(sent.ended), comment.trim_end());
        write!(out, "{}\n{entry}", std::mem::replace(&mut self.separator, ","))
    }
}

/// What all entries have in common.
struct Head<'a> {
    target: &'a str,
    own_headers: &'a [Header],
}

impl Head<'_> {
    fn page(&self, began: SystemTime) -> Value {
        json!({
            "startedDateTime": moment(began),
            "id": PAGE,
            "title": format!("paymaster-conformance {}", self.target),
            "pageTimings": {},
        })
    }

    fn entry(&self, exchange: &Exchanged, began: SystemTime, comment: &str) -> Value {
        let took = milliseconds(exchange.took);
        json!({
            "pageref": PAGE,
            "startedDateTime": moment(began),
            "time": took,
            "request": self.request(exchange),
            "response": self.response(exchange),
            "cache": {},
            "timings": {"send": 0, "wait": took, "receive": 0},
            "comment": comment,
        })
    }

    fn request(&self, exchange: &Exchanged) -> Value {
        let shown = self.target;
        let query = shown.split_once('?').map_or("", |(_, query)| query);
        let parameter = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            json!({"name": name, "value": value})
        };
        let query: Vec<Value> = query.split('&').filter(|part| !part.is_empty()).map(parameter).collect();
        let plain = |name: &str| Header { name: name.to_owned(), value: "application/json".to_owned() };
        let plain = || ["content-type", "accept"].map(plain).to_vec();
        let mut headers = exchange.headers.clone().unwrap_or_else(plain);
        headers.extend_from_slice(self.own_headers);
        // HAR defines base64 for responses only; custom members begin with an underscore.
        let data = with_text(json!({"mimeType": "application/json"}), &exchange.request, "_encoding");
        json!({
            "method": "POST",
            "url": shown,
            "httpVersion": self.version(),
            "cookies": [],
            "headers": headers,
            "queryString": query,
            "postData": data,
            "headersSize": -1,
            "bodySize": exchange.request.bytes,
        })
    }

    /// The HTTP version. With TLS it may be HTTP/2; an exchange does not keep the version.
    fn version(&self) -> &'static str {
        if self.target.starts_with("http://") { "HTTP/1.1" } else { "unknown" }
    }

    fn response(&self, exchange: &Exchanged) -> Value {
        let mut value = json!({
            "status": 0,
            "statusText": "",
            "httpVersion": "",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        });
        match &exchange.answer {
            Ok(Response { status, headers, body }) => {
                let reason = hyper::StatusCode::from_u16(*status).ok();
                let kind = headers.iter().find(|header| header.name == "content-type");
                let kind = kind.map_or("x-unknown", |header| header.value.as_str());
                value["status"] = json!(status);
                value["statusText"] =
                    json!(reason.and_then(|status| status.canonical_reason()).unwrap_or_default());
                value["httpVersion"] = json!(self.version());
                value["headers"] = json!(headers);
                value["content"] = with_text(json!({"size": body.bytes, "mimeType": kind}), body, "encoding");
                value["bodySize"] = json!(body.bytes);
            }
            // The form in which Chromium writes a request without response.
            Err(failure) => value["_error"] = json!(failure),
        }
        value
    }
}

/// Adds the text of a body to the object that holds it.
fn with_text(mut holder: Value, body: &Body, encoding: &str) -> Value {
    holder["text"] = body.base64.as_ref().unwrap_or(&body.text).as_str().into();
    if body.base64.is_some() {
        holder[encoding] = "base64".into();
    }
    holder
}

fn about(finding: &Finding, attempt: usize, member: usize) -> String {
    let Finding { rule, expected, actual, .. } = finding;
    let when = if attempt == 0 {
        "as found".to_owned()
    } else {
        format!("sent again, {attempt} of {}", finding.attempts.len())
    };
    if member == finding.member {
        return format!("{rule}, {when}: expected {expected}, got {actual} at {}", finding.at());
    }
    let role = finding.requests.get(member).map_or("", |request| &request.role);
    format!("{rule}, {when}: {role}")
}

fn comment(report: &Report) -> String {
    let (heading, counts) = (report.verdict_line().heading(), report.counts().line());
    let warnings = report.warnings.iter().map(|warning| format!("; warning: {warning}"));
    let warnings = warnings.collect::<Vec<_>>().concat();
    format!("{heading} · {counts}{warnings}; specification {}", report.details.specification)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::report::sample;

    /// The members that HAR 1.2 requires, and an exchange without response.
    #[test]
    fn entries_have_the_members_that_har_requires() {
        let sample = sample::violations();
        let text = failing(&sample.report());
        let har: Value = serde_json::from_str(&text).unwrap();
        let entries = har["log"]["entries"].as_array().unwrap();
        // Three findings, each seen once and sent again three times, with two members.
        assert_eq!(entries.len(), 3 * 4 * 2);
        for entry in entries {
            for pointer in
                "/startedDateTime /time /request/method /request/url /request/httpVersion /request/cookies \
                /request/headers /request/queryString /request/postData/mimeType /request/postData/text \
                /request/headersSize /request/bodySize /response/status /response/statusText \
                /response/httpVersion /response/cookies /response/headers /response/content/size \
                /response/content/mimeType /response/redirectURL /cache /timings/send /timings/wait \
                /timings/receive"
                    .split(' ')
            {
                assert!(entry.pointer(pointer).is_some(), "{pointer} is missing: {entry}");
            }
        }
        assert_eq!(entries[0]["response"]["_error"], "broken HTTP response: closed");
        assert!(entries[1]["comment"].as_str().unwrap().contains("got null at /result/feeQuotes"));
        assert!(!text.contains("s3cr3t-key"));
    }

    #[test]
    fn a_log_is_one_json_text() {
        let sample = sample::violations();
        let finished = sample.finished();
        let sent = SentExchange {
            relation: "twice",
            group: 3,
            member: 1,
            role: "again",
            label: String::new(),
            exchange: finished.summary.findings[0].exchanges[1].clone(),
            ended: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
        };
        let mut odd = sent.clone();
        odd.exchange.request = bytes::Bytes::from_static(b"\xFF").into();
        let mut log = all();
        let mut bytes = Vec::new();
        let started = Event::Started { target: "t", specification: "s", seed: 1 };
        for event in [started, Event::Exchanged(&sent), Event::Exchanged(&odd)] {
            log.event(&event, finished.maker(), &mut bytes).unwrap();
        }
        log.end(&sample.report(), &mut bytes).unwrap();
        let har: Value = serde_json::from_slice(&bytes).unwrap();
        let entries = har["log"]["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0]["startedDateTime"], "1970-01-01T00:00:00.999Z");
        assert_eq!(entries[0]["comment"], "twice, group 3: again");
        assert_eq!(entries[1]["request"]["postData"]["_encoding"], "base64");
    }
}
