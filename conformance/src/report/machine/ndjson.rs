//! The event log: one JSON object for each event, one a line, in the order of the events.

use std::{
    io::{self, Write},
    time::SystemTime,
};

use paymaster_client::redact::Redactor;
use paymaster_engine::verdict::conclusion::{Conclusion, Verdict};
use paymaster_settings::settings::ShownTarget;
use serde::Serialize;
use serde_json::Value;

use crate::{
    events::{Event, SentExchange},
    report::{
        Maker, ReportLog,
        machine::exchange::{EncodedBody, milliseconds, moment},
        model::{Exchanged, Finding, Header, Report, Tool},
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

/// A line: an event, and when it was written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: Logged<'a>,
    at: String,
}

/// An event without secrets. Durations are in milliseconds.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Logged<'a> {
    Started {
        format: &'a str,
        tool: Tool,
        specification: &'a str,
        target: &'a str,
        embedded: bool,
        warnings: Vec<&'a str>,
        seed: u64,
    },
    Planned {
        dialect: Value,
        at_most: usize,
    },
    Judged {
        groups: usize,
        requests: usize,
        rules_broken: usize,
    },
    Waiting {
        pause_ms: Value,
        reason: String,
    },
    Overloaded {
        jobs: usize,
        sign: String,
    },
    Estimated {
        requests_per_second: Value,
        requests: u64,
        takes_ms: Value,
        time_limit_ms: Value,
        too_long: bool,
        cases_that_fit: Option<u32>,
        time_limit_that_fits_ms: Option<Value>,
    },
    Broken {
        rule: &'a str,
    },
    Found {
        rule: &'a str,
        verdict: Verdict,
        call: Option<&'a str>,
        pointer: &'a str,
        expected: &'a str,
        actual: &'a str,
        times: u64,
        reproduced: usize,
        attempts: usize,
    },
    Exchanged {
        relation: &'a str,
        group: usize,
        member: usize,
        role: &'a str,
        label: String,
        request: EncodedBody<'a>,
        answer: LoggedAnswer<'a>,
        took_ms: Value,
        ended: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<&'a str>,
    },
    Finished {
        conclusion: Conclusion,
        verdict: &'a str,
        exit_code: u8,
        cut_short: Option<&'a str>,
        warnings: &'a [String],
        counts: Value,
        requests: usize,
        took_ms: Value,
        defects: Vec<LoggedDefect<'a>>,
        verdicts: Vec<LoggedVerdict<'a>>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum LoggedAnswer<'a> {
    Response {
        #[serde(flatten)]
        body: EncodedBody<'a>,
        status: u16,
        headers: &'a [Header],
    },
    Failure {
        failure: &'a str,
    },
}

#[derive(Serialize)]
struct LoggedDefect<'a> {
    headline: &'a str,
    cause: Option<&'a str>,
    fails: bool,
    rules: &'a [String],
    findings: &'a [usize],
}

#[derive(Serialize)]
struct LoggedVerdict<'a> {
    rule: &'a str,
    verdict: Verdict,
    held: u64,
    broken: u64,
}

impl ReportLog for Events {
    fn wants_exchanges(&self) -> bool {
        self.every_exchange
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        let maker = Maker { redactor: &self.redactor, place: &self.place };
        let logged = match event {
            Event::Started { seed, specification, .. } => {
                self.begun = true;
                started(
                    &self.place.shown,
                    self.place.embedded,
                    self.place.warnings().collect(),
                    specification,
                    *seed,
                )
            }
            Event::Planned { dialect, at_most } => Logged::Planned {
                dialect: maker.value(&Value::Object((*dialect).clone())),
                at_most: *at_most,
            },
            Event::Judged { groups, requests, findings } => {
                Logged::Judged { groups: *groups, requests: *requests, rules_broken: *findings }
            }
            Event::Waiting { pause, reason } => {
                Logged::Waiting { pause_ms: milliseconds(*pause), reason: maker.text(reason) }
            }
            Event::Overloaded { jobs, sign } => Logged::Overloaded { jobs: *jobs, sign: maker.text(sign) },
            Event::Estimated(estimate) => Logged::Estimated {
                requests_per_second: estimate.rate().into(),
                requests: estimate.requests,
                takes_ms: milliseconds(estimate.takes),
                time_limit_ms: milliseconds(estimate.time_limit),
                too_long: estimate.too_long,
                cases_that_fit: estimate.cases,
                time_limit_that_fits_ms: estimate.enough.map(milliseconds),
            },
            Event::Broken { rule } => Logged::Broken { rule: rule.id },
            Event::Found(finding) => return write_line(found(&maker.finding(finding)), out),
            Event::Exchanged(sent) if self.every_exchange => {
                return write_line(
                    exchanged(sent, &maker.exchange(&sent.exchange), maker.text(&sent.label)),
                    out,
                );
            }
            // The last line is written by `end`, which has the verdicts.
            Event::Exchanged(_) | Event::Finished(_) => return Ok(()),
        };
        write_line(logged, out)
    }

    fn end(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            let warnings = report.warnings.iter().map(String::as_str).collect();
            let specification = &report.details.specification;
            write_line(started(&report.target, report.embedded, warnings, specification, report.seed), out)?;
            for finding in &report.findings {
                write_line(found(finding), out)?;
            }
        }
        let finished = Logged::Finished {
            conclusion: report.conclusion,
            verdict: &report.verdict,
            exit_code: report.exit_code,
            cut_short: report.cut_short.as_deref(),
            warnings: &report.warnings,
            counts: report.counts().json(),
            requests: report.requests,
            took_ms: milliseconds(report.details.took),
            defects: report
                .defects
                .iter()
                .map(|defect| LoggedDefect {
                    headline: &defect.headline,
                    cause: defect.cause_in_words.as_deref(),
                    fails: defect.fails,
                    rules: &defect.rules,
                    findings: &defect.findings,
                })
                .collect(),
            verdicts: report
                .rules
                .iter()
                .map(|rule| LoggedVerdict {
                    rule: &rule.id,
                    verdict: rule.verdict,
                    held: rule.held,
                    broken: rule.broken,
                })
                .collect(),
        };
        write_line(finished, out)
    }
}

fn started<'a>(
    target: &'a str,
    embedded: bool,
    warnings: Vec<&'a str>,
    specification: &'a str,
    seed: u64,
) -> Logged<'a> {
    Logged::Started { format: FORMAT, tool: Tool::this(), specification, target, embedded, warnings, seed }
}

fn found(finding: &Finding) -> Logged<'_> {
    Logged::Found {
        rule: &finding.rule,
        // A known failure is found as any other.
        verdict: if finding.is_flaky() { Verdict::Flaky } else { Verdict::Failed },
        call: finding.details.call.as_deref(),
        pointer: &finding.pointer,
        expected: &finding.expected,
        actual: &finding.actual,
        times: finding.times,
        reproduced: finding.reproduced,
        attempts: finding.attempts.len(),
    }
}

fn exchanged<'a>(sent: &'a SentExchange, made: &'a Exchanged, label: String) -> Logged<'a> {
    Logged::Exchanged {
        relation: sent.relation,
        group: sent.group,
        member: sent.member,
        role: sent.role,
        label,
        request: EncodedBody::of(&made.request),
        answer: match &made.answer {
            Ok(response) => LoggedAnswer::Response {
                body: EncodedBody::of(&response.body),
                status: response.status,
                headers: &response.headers,
            },
            Err(failure) => LoggedAnswer::Failure { failure },
        },
        took_ms: milliseconds(made.took),
        ended: moment(sent.ended),
        client: made.client.as_deref(),
    }
}

fn write_line(event: Logged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let line = Line { event, at: moment(SystemTime::now()) };
    writeln!(out, "{}", serde_json::to_string(&line)?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

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
