//! The event log: one JSON object for each event, one a line, in the order of the events.

use std::io::{self, Write};
use std::time::SystemTime;

use paymaster_engine::verdict::Verdict;
use serde_json::{Value, json};

use crate::events::{Event, SentExchange};
use crate::report::{Body, Finding, Maker, Report, ReportLog, Tool, milliseconds, moment};

/// The format of the log, named in its first line.
pub(crate) const FORMAT: &str = "paymaster-events/v1";

/// A log without exchanges.
pub(crate) fn events() -> Box<dyn ReportLog> {
    Box::new(Events { every_exchange: false })
}

/// A log with every exchange.
pub(crate) fn exchanges() -> Box<dyn ReportLog> {
    Box::new(Events { every_exchange: true })
}

struct Events {
    every_exchange: bool,
}

impl ReportLog for Events {
    fn wants_exchanges(&self) -> bool {
        self.every_exchange
    }

    fn event(&mut self, event: &Event<'_>, maker: Maker<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (name, rest) = match event {
            Event::Started { seed, specification, .. } => {
                let rest = json!({
                    "format": FORMAT,
                    "tool": Tool::this(),
                    "specification": specification,
                    "target": maker.place.shown,
                    "embedded": maker.place.embedded,
                    "warnings": maker.place.warnings().map(|warning| maker.text(warning)).collect::<Vec<_>>(),
                    "seed": seed,
                });
                ("started", rest)
            }
            Event::Planned { dialect, at_most, .. } => {
                let dialect = maker.value(&Value::Object((*dialect).clone()));
                ("planned", json!({"dialect": dialect, "at_most": at_most}))
            }
            Event::Judged { groups, requests, findings } => {
                ("judged", json!({"groups": groups, "requests": requests, "rules_broken": findings}))
            }
            Event::Waiting { pause, reason } => {
                ("waiting", json!({"pause_ms": milliseconds(*pause), "reason": maker.text(reason)}))
            }
            Event::Overloaded { jobs, sign } => {
                ("overloaded", json!({"jobs": jobs, "sign": maker.text(sign)}))
            }
            Event::Estimated(estimate) => (
                "estimated",
                json!({
                    "requests_per_second": estimate.rate(),
                    "requests": estimate.requests,
                    "takes_ms": milliseconds(estimate.takes),
                    "time_limit_ms": milliseconds(estimate.time_limit),
                    "too_long": estimate.too_long,
                    "shortened": estimate.shortened,
                    "time_limit_that_fits_ms": estimate.enough.map(milliseconds),
                }),
            ),
            Event::Broken { rule } => ("broken", json!({"rule": rule.id})),
            Event::Found(finding) => ("found", found(&maker.finding(finding))),
            Event::Exchanged(sent) if self.every_exchange => ("exchanged", exchanged(sent, maker)),
            // The last line is written by `end`, which has the verdicts.
            Event::Exchanged(_) | Event::Confirming | Event::Finished(_) => return Ok(()),
        };
        line(name, rest, out)
    }

    fn end(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let rest = json!({
            "conclusion": report.conclusion,
            "verdict": report.verdict,
            "exit_code": report.exit_code,
            "cut_short": report.cut_short,
            "warnings": report.warnings,
            "counts": report.counts().json(),
            "requests": report.requests,
            "took_ms": milliseconds(report.details.took),
            "defects": report.defects.iter().map(|defect| json!({
                "headline": defect.headline,
                "cause": defect.cause_in_words,
                "fails": defect.fails,
                "rules": defect.rules,
                "findings": defect.findings,
            })).collect::<Vec<_>>(),
            "verdicts": report.rules.iter().map(|rule| json!({
                "rule": rule.id,
                "verdict": rule.verdict,
                "held": rule.held,
                "broken": rule.broken,
            })).collect::<Vec<_>>(),
        });
        line("finished", rest, out)
    }
}

fn found(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        // A known failure is found as any other.
        "verdict": if finding.is_flaky() { Verdict::Flaky } else { Verdict::Failed },
        "call": finding.details.call,
        "pointer": finding.pointer,
        "expected": finding.expected,
        "actual": finding.actual,
        "times": finding.times,
        "reproduced": finding.reproduced,
        "attempts": finding.attempts.len(),
    })
}

fn exchanged(sent: &SentExchange, maker: Maker<'_>) -> Value {
    let made = maker.exchange(&sent.exchange);
    let answer = match &made.answer {
        Ok(response) => {
            let mut answer = encoded(&response.body);
            answer["status"] = response.status.into();
            answer["headers"] = json!(response.headers);
            answer
        }
        Err(failure) => json!({"failure": failure}),
    };
    let mut value = json!({
        "relation": sent.relation,
        "group": sent.group,
        "member": sent.member,
        "role": sent.role,
        "label": maker.text(&sent.label),
        "request": encoded(&made.request),
        "answer": answer,
        "took_ms": milliseconds(made.took),
        "ended": moment(sent.ended),
    });
    if let Some(client) = made.client {
        value["client"] = client.into();
    }
    value
}

/// A body as text, or in base64 where it is not UTF-8.
fn encoded(body: &Body) -> Value {
    match &body.base64 {
        Some(text) => json!({"body_base64": text}),
        None => json!({"body": body.text}),
    }
}

/// Writes a line: the name of the event, the time, and the other members.
fn line(name: &str, mut rest: Value, out: &mut dyn Write) -> io::Result<()> {
    let mut whole = json!({"event": name, "at": moment(SystemTime::now())});
    if let (Some(whole), Some(rest)) = (whole.as_object_mut(), rest.as_object_mut()) {
        whole.append(rest);
    }
    writeln!(out, "{whole}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::report::sample;

    #[test]
    fn every_line_is_an_event_and_only_one_format_logs_exchanges() {
        let sample = sample::violations();
        let (finished, report) = (sample.finished(), sample.report());
        let sent = SentExchange {
            relation: "twice",
            group: 3,
            member: 1,
            role: "again",
            label: "as it is".to_owned(),
            exchange: finished.summary.findings[0].exchanges[1].clone(),
            ended: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
        };
        for (open, expected) in [
            (events as fn() -> Box<dyn ReportLog>, vec!["started", "waiting", "found", "finished"]),
            (exchanges, vec!["started", "waiting", "exchanged", "found", "finished"]),
        ] {
            let mut log = open();
            let mut bytes = Vec::new();
            for event in [
                Event::Started { target: "t", specification: "s", seed: 1 },
                Event::Waiting { pause: Duration::from_secs(2), reason: "429" },
                Event::Exchanged(&sent),
                Event::Found(&finished.summary.findings[0]),
                Event::Finished(&finished.summary),
            ] {
                log.event(&event, finished.maker(), &mut bytes).unwrap();
            }
            log.end(&report, &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let names: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
            assert_eq!(names, expected);
            assert!(!text.contains("s3cr3t-key"), "{text}");
            let defects = lines.last().unwrap()["defects"].as_array().unwrap();
            assert_eq!(defects.len(), 3);
            assert_eq!(defects[0]["rules"], json!(["quote-result.feeQuotes"]));
            assert!(defects[0]["cause"].as_str().unwrap().starts_with("wrong with sender "));
            if let Some(line) = lines.iter().find(|line| line["event"] == "exchanged") {
                assert_eq!(line["answer"]["status"], 200);
                assert_eq!(line["ended"], "1970-01-01T00:00:01.000Z");
                let sent: Value = serde_json::from_str(line["request"]["body"].as_str().unwrap()).unwrap();
                assert_eq!(sent["id"], 7);
            }
        }
    }
}
