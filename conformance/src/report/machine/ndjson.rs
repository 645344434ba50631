//! The event log: one JSON object for each event, one a line, in the order of the events.

use std::{
    io::{self, Write},
    time::SystemTime,
};

use paymaster_client::redact::Redactor;
use paymaster_engine::verdict::finding::Finding;
use paymaster_settings::settings::ShownTarget;
use serde_json::{Value, json};

use crate::{
    events::{Event, SentExchange},
    report::{
        Finished, ReportLog,
        counts::Counts,
        machine::exchange,
        text::{defects, words},
    },
};

/// The format of the log, named in its first line.
pub(crate) const FORMAT: &str = "paymaster-events/v1";

/// A log without exchanges.
pub(crate) fn events(place: &ShownTarget, redactor: &Redactor) -> Box<dyn ReportLog> {
    log(place, redactor, false)
}

/// A log with every exchange.
pub(crate) fn exchanges(place: &ShownTarget, redactor: &Redactor) -> Box<dyn ReportLog> {
    log(place, redactor, true)
}

fn log(place: &ShownTarget, redactor: &Redactor, every_exchange: bool) -> Box<dyn ReportLog> {
    Box::new(Events { place: place.clone(), redactor: redactor.clone(), every_exchange, begun: false })
}

struct Events {
    place: ShownTarget,
    redactor: Redactor,
    every_exchange: bool,
    begun: bool,
}

impl ReportLog for Events {
    fn wants_exchanges(&self) -> bool {
        self.every_exchange
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (name, mut rest) = match event {
            Event::Started { seed, specification, .. } => return self.begin(*seed, specification, out),
            Event::Planned { dialect, at_most } => {
                ("planned", json!({"dialect": dialect, "at_most": at_most}))
            }
            Event::Judged { groups, requests, findings } => {
                ("judged", json!({"groups": groups, "requests": requests, "rules_broken": findings}))
            }
            Event::Waiting { pause, reason } => {
                ("waiting", json!({"pause_ms": exchange::milliseconds(*pause), "reason": reason}))
            }
            Event::Overloaded { jobs, sign } => {
                ("overloaded", json!({"jobs": jobs, "sign": self.redactor.apply(sign)}))
            }
            Event::Estimated(estimate) => (
                "estimated",
                json!({
                    "requests_per_second": estimate.rate(),
                    "requests": estimate.requests,
                    "takes_ms": exchange::milliseconds(estimate.takes),
                    "time_limit_ms": exchange::milliseconds(estimate.time_limit),
                    "too_long": estimate.too_long,
                    "cases_that_fit": estimate.cases,
                    "time_limit_that_fits_ms": estimate.enough.map(exchange::milliseconds),
                }),
            ),
            Event::Broken { rule } => ("broken", json!({"rule": rule.id})),
            Event::Found(finding) => ("found", self.found(finding)),
            Event::Exchanged(sent) if self.every_exchange => ("exchanged", self.exchanged(sent)),
            // The last line is written by `end`, which has the verdicts.
            Event::Exchanged(_) | Event::Finished(_) => return Ok(()),
        };
        line(name, &mut rest, out)
    }

    fn end(&mut self, finished: &Finished<'_>, out: &mut dyn Write) -> io::Result<()> {
        let summary = finished.summary;
        if !self.begun {
            self.begin(summary.seed, &finished.context.specification().line(), out)?;
            for finding in &summary.findings {
                line("found", &mut self.found(finding), out)?;
            }
        }
        let cut_short = summary.cut_short.as_deref();
        let mut rest = json!({
            "conclusion": summary.conclusion.name(),
            "verdict": finished.verdict().sentence(),
            "exit_code": paymaster_settings::exit::code(summary.conclusion),
            "cut_short": cut_short.map(|cause| self.redactor.apply(cause)),
            "warnings": finished.warnings(),
            "counts": Counts::of(&summary.rules, finished.strictness).json(),
            "requests": summary.requests,
            "took_ms": exchange::milliseconds(summary.took),
            "defects": defects::shown(finished).iter().map(|defect| json!({
                "headline": defect.headline,
                "cause": defect.cause,
                "fails": defect.fails,
                "rules": defect.rules.iter().map(|rule| rule.id).collect::<Vec<_>>(),
                "findings": defect.findings,
            })).collect::<Vec<_>>(),
            "verdicts": summary.rules.iter().map(|outcome| json!({
                "rule": outcome.rule.id,
                "verdict": outcome.verdict.name(),
                "held": outcome.held,
                "broken": outcome.broken,
            })).collect::<Vec<_>>(),
        });
        line("finished", &mut rest, out)
    }
}

impl Events {
    fn begin(&mut self, seed: u64, specification: &str, out: &mut dyn Write) -> io::Result<()> {
        self.begun = true;
        let mut rest = json!({
            "format": FORMAT,
            "tool": {"name": "paymaster-conformance", "version": env!("CARGO_PKG_VERSION")},
            "specification": specification,
            "target": self.place.shown,
            "embedded": self.place.embedded,
            "warnings": self.place.warnings().collect::<Vec<_>>(),
            "seed": seed,
        });
        line("started", &mut rest, out)
    }

    fn found(&self, finding: &Finding) -> Value {
        let violation = &finding.violation;
        json!({
            "rule": finding.rule.id,
            "verdict": words::verdict(finding).name(),
            "call": finding.pair.map(|pair| pair.name),
            "pointer": self.redactor.apply(&violation.pointer),
            "expected": self.redactor.apply(&violation.expected),
            "actual": self.redactor.apply(&violation.actual),
            "times": finding.times,
            "reproduced": finding.reproduced(),
            "attempts": finding.attempts.len(),
        })
    }

    fn exchanged(&self, sent: &SentExchange) -> Value {
        let mut value = json!({
            "relation": sent.relation,
            "group": sent.group,
            "member": sent.member,
            "role": sent.role,
            "label": sent.label,
            "request": exchange::body(&sent.exchange.request, &self.redactor).json(),
            "answer": exchange::answer(&sent.exchange, &self.redactor),
            "took_ms": exchange::milliseconds(sent.exchange.took),
            "ended": exchange::moment(sent.ended),
        });
        if let Some(client) = sent.exchange.sent_as {
            value["client"] = client.name.into();
        }
        value
    }
}

/// Writes a line: the name of the event, the time, and the other members.
fn line(name: &str, rest: &mut Value, out: &mut dyn Write) -> io::Result<()> {
    let mut whole = json!({"event": name, "at": exchange::moment(SystemTime::now())});
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
        let finished = sample.finished();
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
            (
                events as fn(&ShownTarget, &Redactor) -> Box<dyn ReportLog>,
                vec!["started", "waiting", "found", "finished"],
            ),
            (exchanges, vec!["started", "waiting", "exchanged", "found", "finished"]),
        ] {
            let mut log = open(finished.place, finished.redactor);
            let mut bytes = Vec::new();
            for event in [
                Event::Started { target: "t", specification: "s", seed: 1 },
                Event::Waiting { pause: Duration::from_secs(2), reason: "429" },
                Event::Exchanged(&sent),
                Event::Found(&finished.summary.findings[0]),
                Event::Finished(finished.summary),
            ] {
                log.event(&event, &mut bytes).unwrap();
            }
            log.end(&finished, &mut bytes).unwrap();
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
