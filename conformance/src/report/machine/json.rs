//! The JSON report. Its schema is `report.schema.json` in the folder of this package.

use paymaster_engine::{
    cases::case::Member,
    diagnosis::{cause::Cause, defect::Defect, sentence},
    specification::Specification,
    verdict::{
        conclusion::Verdict,
        finding::{Attempt, Finding},
        known,
        summary::RuleOutcome,
    },
};
use paymaster_exchange::Exchange;
use serde_json::{Map, Value, json};

use crate::report::{
    Finished,
    machine::exchange,
    text::{curl, defects, words},
};

/// The name and version of the format.
pub(crate) const FORMAT: &str = "paymaster-report/v1";

/// Longer answer bodies are cut, in characters; the report names their length.
const LONGEST_BODY: usize = 16 * 1024;

/// The report as a JSON value.
pub(crate) fn report(finished: &Finished<'_>) -> Value {
    let summary = finished.summary;
    let reached: Map<String, Value> = finished
        .context
        .specification()
        .kinds
        .iter()
        .map(|pair| {
            let reached = summary.reached.get(pair.name).copied().unwrap_or_default();
            let counts = json!({"results": reached.results, "errors": reached.errors, "unreadable": reached.unreadable});
            (pair.name.to_owned(), counts)
        })
        .collect();
    json!({
        "format": FORMAT,
        "tool": {"name": "paymaster-conformance", "version": env!("CARGO_PKG_VERSION")},
        "specification": specification(finished),
        "target": finished.place.shown,
        "embedded": finished.place.embedded,
        "warnings": finished.warnings(),
        "seed": summary.seed,
        "strict": finished.strictness.strict,
        "conclusion": summary.conclusion.name(),
        "verdict": finished.verdict().sentence(),
        "exit_code": paymaster_settings::exit::code(summary.conclusion),
        "cut_short": summary.cut_short.as_deref().map(|text| finished.redacted(text)),
        "requests": summary.requests,
        "took_ms": u64::try_from(summary.took.as_millis()).unwrap_or(u64::MAX),
        "recorded": summary.recorded.as_ref().map(|recorded| json!({
            "exchanges": recorded.exchanges,
            "skipped": recorded.skipped.iter().map(|(reason, entries)| json!({"reason": finished.redacted(reason), "entries": entries})).collect::<Vec<_>>(),
        })),
        "reached": reached,
        "unjudged": summary.unjudged.iter().map(|(reason, groups)| json!({"reason": finished.redacted(reason), "groups": groups})).collect::<Vec<_>>(),
        "left_out": summary.left_out,
        "rules": summary.rules.iter().map(rule).collect::<Vec<_>>(),
        "findings": summary.findings.iter().enumerate().map(|(number, finding)| {
            let replay = finished.replays.get(number).and_then(Option::as_ref);
            let mut value = finding_value(finding, finished);
            value["replay_file"] = replay.map(|path| path.display().to_string()).into();
            value
        }).collect::<Vec<_>>(),
        "defects": summary.defects.iter().map(|defect| defect_value(defect, finished)).collect::<Vec<_>>(),
        "known_failures": summary.known.iter().map(|known| known_failure(known, finished)).collect::<Vec<_>>(),
        "dialect": summary.dialect,
        "observations": observations(finished),
    })
}

/// What the target was judged by.
fn specification(finished: &Finished<'_>) -> Value {
    let Specification { name, title, version, published, .. } = *finished.context.specification();
    json!({"name": name, "title": title, "version": version, "published": published})
}

/// The report as text.
pub(crate) fn text(finished: &Finished<'_>) -> String {
    format!("{:#}\n", report(finished))
}

fn rule(outcome: &RuleOutcome) -> Value {
    let clause = outcome.rule.clause();
    json!({
        "id": outcome.rule.id,
        "clause": clause.id,
        "section": clause.section,
        "basis": clause.basis.name(),
        "text": clause.text,
        "verdict": outcome.verdict.name(),
        "held": outcome.held,
        "broken": outcome.broken,
        "quota": outcome.quota,
        "reason": outcome.reason,
    })
}

fn finding_value(finding: &Finding, finished: &Finished<'_>) -> Value {
    let violation = &finding.violation;
    let clause = finding.rule.clause();
    let verdict = match finished.summary.known_entry(finding) {
        Some(_) => Verdict::KnownFailing,
        None => words::verdict(finding),
    };
    let broken = finding.group.members.get(violation.member);
    json!({
        "rule": finding.rule.id,
        "clause": clause.id,
        "section": clause.section,
        "basis": clause.basis.name(),
        "verdict": verdict.name(),
        "method": finding.pair.map(|pair| pair.method),
        "mode": finding.pair.and_then(|pair| Some(pair.selector?.1)),
        "pointer": finished.redacted(&violation.pointer),
        "expected": finished.redacted(&violation.expected),
        "actual": finished.redacted(&violation.actual),
        "times": finding.times,
        "share": finding.share.map(|share| json!({"broken": share.broken, "judged": share.judged, "all": share.all})),
        "relation": finding.group.relation.id,
        "member": violation.member,
        "requests": finding.group.members.iter().map(|member| request(member, finished)).collect::<Vec<_>>(),
        "answers": answers(&finding.exchanges, finished),
        "reproduced": finding.reproduced(),
        "attempts": finding.attempts.iter().map(|attempt| attempt_value(attempt, finished)).collect::<Vec<_>>(),
        "shrink_requests": finding.shrink_requests,
        "could_be_smaller": finding.could_be_smaller,
        "curl": broken.and_then(|member| curl::line(finished.place, member)),
    })
}

fn defect_value(defect: &Defect, finished: &Finished<'_>) -> Value {
    let findings = &finished.summary.findings;
    let shown = defect.shown(findings);
    let cause = shown.and_then(|finding| finding.cause.as_ref());
    let contrast = shown.and_then(|finding| finding.contrast.as_ref());
    json!({
        "headline": defects::safe_headline(defect, finished),
        "fails": defect.fails_the_run(findings, finished.strictness.strict),
        "rules": defect.rules(findings).iter().map(|rule| rule.id).collect::<Vec<_>>(),
        "findings": defect.findings,
        "links": defect.links.iter().map(|link| json!({
            "findings": link.findings,
            "reason": link.kinship.name(),
        })).collect::<Vec<_>>(),
        "cause": cause.map(|cause| cause_value(cause, finished)),
        "contrast": contrast.map(|contrast| json!({
            "member": contrast.member,
            "requests": contrast.group.members.iter().map(|member| request(member, finished)).collect::<Vec<_>>(),
            "answers": answers(&contrast.exchanges, finished),
        })),
    })
}

fn cause_value(cause: &Cause, finished: &Finished<'_>) -> Value {
    let members = cause.members().iter().map(|difference| {
        let mut member = json!({ "pointer": difference.pointer });
        let sides = [("failing", &difference.failing), ("passing", &difference.passing)];
        for (name, value) in sides {
            if let Some(value) = value {
                member[name] = value.clone();
            }
        }
        member
    });
    json!({
        "kind": cause.name(),
        "text": finished.redacted(&sentence::explanation(cause)),
        "members": members.collect::<Vec<_>>(),
    })
}

fn request(member: &Member, finished: &Finished<'_>) -> Value {
    let mut value = json!({
        "role": member.role.name(),
        "label": member.label,
        "body": String::from_utf8_lossy(&member.body),
    });
    if let Some(headers) = member.sent_as {
        value["client"] = headers.name.into();
        value["headers"] = exchange::sent_headers(headers, finished.place).into();
    }
    value
}

fn known_failure(known: &known::EntryOutcome, finished: &Finished<'_>) -> Value {
    let entry = &known.entry;
    json!({
        "list": match entry.kind {
            known::KnownFailureKind::Failing => "failing",
            known::KnownFailureKind::Flaky => "flaky",
        },
        "rule": entry.rule,
        "method": entry.method,
        "mode": entry.selected,
        "pointer": entry.pointer,
        "reason": finished.redacted(&entry.reason),
        "owner": finished.redacted(&entry.owner),
        "expires": entry.expires.to_string(),
        "state": known.state.name(),
    })
}

fn attempt_value(attempt: &Attempt, finished: &Finished<'_>) -> Value {
    json!({
        "broken": attempt.violation.is_some(),
        "actual": attempt.violation.as_ref().map(|violation| finished.redacted(&violation.actual)),
        "answers": answers(&attempt.exchanges, finished),
    })
}

fn answers(exchanges: &[Exchange], finished: &Finished<'_>) -> Vec<Value> {
    exchanges
        .iter()
        .map(|exchange| match &exchange.outcome {
            Ok(response) => {
                let body = String::from_utf8_lossy(&response.body);
                let shown: String = finished.redacted(&body).chars().take(LONGEST_BODY).collect();
                json!({"status": response.status, "body": shown, "bytes": response.body.len()})
            }
            Err(failure) => json!({"failure": finished.redacted(&failure.to_string())}),
        })
        .collect()
}

fn observations(finished: &Finished<'_>) -> Map<String, Value> {
    finished
        .summary
        .observations
        .iter()
        .map(|(clause, values)| {
            let values: Map<String, Value> =
                values.iter().map(|(value, times)| (finished.redacted(value), Value::from(*times))).collect();
            ((*clause).to_owned(), values.into())
        })
        .collect()
}
