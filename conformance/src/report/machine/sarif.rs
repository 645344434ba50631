//! SARIF 2.1.0, for code scanning. Each finding is a result; passed rules are not results, because viewers would list them.

use paymaster_schemas::Kind;
use serde_json::{Value, json};

use crate::report::{
    Finished,
    counts::{Counts, RuleState},
    machine::profile_place,
    text::{
        compact, curl,
        defects::{self, ShownDefect},
        sections, words,
    },
};
use paymaster_engine::{
    diagnosis::{cause::Cause, sentence},
    rules::Rule,
    verdict::{
        conclusion::Conclusion,
        finding::{Finding, Key},
        summary::RuleOutcome,
    },
};

/// The longest value in a message, in characters.
const LONGEST_VALUE: usize = 120;

/// The longest request in a message, in characters.
const LONGEST_BODY: usize = 2000;

/// The log of one run.
pub(crate) fn text(finished: &Finished<'_>) -> String {
    let summary = finished.summary;
    let counts = Counts::of(&summary.rules, finished.strictness);
    let defects = defects::shown(finished);
    let results: Vec<Value> = summary
        .findings
        .iter()
        .enumerate()
        .map(|(number, finding)| result(number, finding, &defects, finished))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "paymaster-conformance",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": summary.rules.iter().map(|outcome| rule(outcome, finished)).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": format!("paymaster-conformance/{}", finished.place.shown)},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": summary.conclusion != Conclusion::CouldNotTest,
                "exitCode": paymaster_settings::exit::code(summary.conclusion),
                "exitCodeDescription": finished.verdict().sentence(),
                "toolConfigurationNotifications": stale(finished),
                "toolExecutionNotifications": notifications(finished),
            }],
            "results": results,
            "properties": {"verdict": finished.verdict().sentence(), "specification": finished.context.specification().line(), "counts": counts.json(), "seed": summary.seed, "requests": summary.requests},
        }],
    });
    format!("{log:#}\n")
}

fn rule(outcome: &RuleOutcome, finished: &Finished<'_>) -> Value {
    let rule = outcome.rule;
    let clause = rule.clause();
    let section = format!("section {}, {}", clause.section, sections::name(clause.section));
    let help = [clause.text, rule.hint].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let fails =
        paymaster_engine::verdict::strictness::fails_the_run(clause.basis, finished.strictness.strict);
    json!({
        "id": rule.id,
        "shortDescription": {"text": clause.text},
        "fullDescription": {"text": format!("{} ({section}; {}.)", clause.text, clause.basis)},
        "help": {
            "text": format!("{}\n\nSpecification: {section}. `paymaster-conformance explain {}` says how it is judged.", help.join("\n\nWhere to look: "), rule.id),
            "markdown": format!("{}\n\n*Specification: {section}; {}.* `paymaster-conformance explain {}` says how it is judged.", help.join("\n\n**Where to look:** "), clause.basis, rule.id),
        },
        "defaultConfiguration": {"level": if fails { "error" } else { "warning" }},
        "properties": {
            "tags": [format!("section-{}", clause.section), clause.basis.name()],
            "clause": clause.id,
            "held": outcome.held,
            "broken": outcome.broken,
        },
    })
}

fn result(number: usize, finding: &Finding, defects: &[ShownDefect<'_>], finished: &Finished<'_>) -> Value {
    let violation = &finding.violation;
    // In a message, `](` in a text of the target would make a link.
    let safe = |text: &str| finished.safe(text).replace("](", "] (");
    let call = finding.pair.map_or("any request".to_owned(), Kind::words);
    let pointer = safe(words::place(finding));
    let own = format!(
        "{call}: expected {}, got {} at {pointer}",
        safe(&violation.expected),
        safe(&violation.actual)
    );
    // A finding that another one stands for says first what the defect is, then what is wrong here.
    let defect = defects.iter().find(|defect| defect.findings.contains(&number));
    let message = match defect {
        None => own,
        Some(defect) => {
            let cause =
                defect.cause.as_ref().map_or(String::new(), |cause| format!(". Cause: {}", safe(cause)));
            let is_shown = defect.findings.first() == Some(&number);
            let here = if is_shown { String::new() } else { format!(". Here: {own}") };
            format!("{}{cause}{here}", safe(&defect.headline))
        }
    };
    let mut value = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index(finding.rule, finished),
        "kind": "fail",
        "level": if paymaster_engine::verdict::strictness::fails_the_run(finding.basis, finished.strictness.strict) { "error" } else { "warning" },
        "message": {"text": format!("{message} ({})", words::reproduced(finding))},
        "locations": [location(&format!("{call}: answer {pointer}"), finding, finished)],
        "relatedLocations": related(finding, &call, &safe, finished),
        "occurrenceCount": finding.times,
        "partialFingerprints": {"finding/v1": fingerprint(finding)},
    });
    if let Some(defect) = defect {
        value["properties"]["defect"] = defect.number.into();
    }
    if let Some(entry) = finished.summary.known_entry(finding) {
        value["suppressions"] = json!([{
            "kind": "external",
            "status": "accepted",
            "justification": format!("{} ({}, until {})", safe(&entry.reason), safe(&entry.owner), entry.expires),
        }]);
    }
    let broken = finding.group.members.get(violation.member);
    if let Some(line) = broken.and_then(|member| curl::line(finished.place, member)) {
        value["properties"]["curl"] = line.into();
    }
    if let Some(path) = finished.replays.get(number).and_then(Option::as_ref) {
        value["properties"]["replay"] = path.display().to_string().into();
    }
    value
}

/// A text that is the same for the same finding in every run: indices of lists are left out.
fn fingerprint(finding: &Finding) -> String {
    let key = Key::of(finding.rule, finding.pair, &finding.violation);
    let pair = key.pair.map_or("any", |pair| pair.name);
    format!("{} {pair} {}", key.rule, key.pointer)
}

/// A location by its logical name and, where a profile describes the target, by the line that the finding is about: code scanning of
/// GitHub refuses a file in which any location is in no file.
fn location(name: &str, finding: &Finding, finished: &Finished<'_>) -> Value {
    let mut location = json!({"logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}]});
    if let Some(place) = profile_place::of_finding(
        finding,
        finished.context.specification().places,
        finished.place.profile.as_ref(),
    ) {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": profile_place::uri(place.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": place.line},
        });
    }
    location
}

/// The members of the request that decide, and the nearest request that does not break the rule.
fn related(
    finding: &Finding,
    call: &str,
    safe: &dyn Fn(&str) -> String,
    finished: &Finished<'_>,
) -> Vec<Value> {
    let members = finding.cause.iter().flat_map(Cause::members);
    let decide = members.map(|member| {
        let side = |value: &Option<Value>| match value {
            Some(value) => compact::cut(&safe(&value.to_string()), LONGEST_VALUE),
            None => "missing".to_owned(),
        };
        let about = match finding.cause {
            Some(Cause::Members(_) | Cause::Recorded { .. }) => format!(
                "here {}, in a request that does not break the rule {}",
                side(&member.failing),
                side(&member.passing)
            ),
            _ => format!("here {}", side(&member.failing)),
        };
        let name = safe(&sentence::member_name(&member.pointer));
        (format!("{call}: request {}", safe(&member.pointer)), format!("{name}: {about}"))
    });
    let contrast = finding.contrast.iter().filter_map(|contrast| {
        let body = &contrast.group.members.get(contrast.member)?.body;
        let request = compact::cut(&safe(&String::from_utf8_lossy(body)), LONGEST_BODY);
        Some((
            format!("{call}: contrast"),
            format!("the nearest request that does not break the rule: {request}"),
        ))
    });
    let all = decide.chain(contrast).enumerate();
    all.map(|(number, (name, text))| {
        let mut location = location(&name, finding, finished);
        location["id"] = number.into();
        location["message"] = json!({"text": text});
        location
    })
    .collect()
}

/// The entries of the list of known failures that fail the run.
fn stale(finished: &Finished<'_>) -> Vec<Value> {
    let known = finished.summary.known.iter().filter(|known| known.state.fails_the_run());
    let notifications = known.map(|known| {
        let text = format!("known failure {}: {}", known.entry.scope(), words::known_advice(known));
        json!({"level": "error", "message": {"text": finished.safe(&text)}})
    });
    notifications.collect()
}

/// The warnings, why the run was cut short, and the inconclusive rules.
fn notifications(finished: &Finished<'_>) -> Vec<Value> {
    let summary = finished.summary;
    let inconclusive = summary
        .rules
        .iter()
        .filter(|outcome| RuleState::of(outcome, finished.strictness) == RuleState::Inconclusive)
        .map(|outcome| {
            let reason = outcome.reason.as_deref().unwrap_or("exercised too seldom to pass");
            json!({
                "level": "note",
                "message": {"text": format!("inconclusive, held {} of {} times: {}", outcome.held, outcome.quota, finished.safe(reason))},
                "associatedRule": {"id": outcome.rule.id, "index": index(outcome.rule, finished)},
            })
        });
    let cut = summary
        .cut_short
        .iter()
        .map(|cause| json!({"level": "error", "message": {"text": format!("cut short: {}", finished.safe(cause))}}));
    let warnings = finished.warnings().into_iter();
    let warnings = warnings.map(|warning| json!({"level": "warning", "message": {"text": warning}}));
    warnings.chain(cut).chain(inconclusive).collect()
}

/// The index of a rule in the list of rules; -1 means none in SARIF.
fn index(rule: &Rule, finished: &Finished<'_>) -> i64 {
    let place = finished.summary.rules.iter().position(|outcome| outcome.rule.id == rule.id);
    place.and_then(|place| i64::try_from(place).ok()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_log_is_valid_against_the_schema_of_sarif() {
        let mut schema: Value =
            serde_json::from_str(include_str!("../../../tests/data/sarif-2.1.0.schema.json")).unwrap();
        // The published pattern of languages has a surplus bracket, and the report names no language.
        for owner in ["run", "toolComponent"] {
            let language = schema.pointer_mut(&format!("/definitions/{owner}/properties/language"));
            language.unwrap().as_object_mut().unwrap().remove("pattern");
        }
        let validator = jsonschema::draft7::new(&schema).unwrap();
        for sample in [sample::violations(), sample::unanswered(), sample::known(), sample::recorded()] {
            let log: Value = serde_json::from_str(&text(&sample.finished())).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&log)
                .map(|error| format!("{error} at {}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{errors:#?}");
            let run = &log["runs"][0];
            for result in run["results"].as_array().unwrap() {
                let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
                assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
            }
            for rule in run["tool"]["driver"]["rules"].as_array().unwrap() {
                assert!(rule["help"]["text"].as_str().unwrap().contains("Specification: section "));
            }
        }
    }

    #[test]
    fn a_run_with_violations() {
        let sample = sample::violations();
        let log: Value = serde_json::from_str(&text(&sample.finished())).unwrap();
        let results = &log["runs"][0]["results"];
        assert!(!results.to_string().contains("s3cr3t-key"));
        insta::assert_snapshot!("sarif_results", format!("{results:#}"));
    }

    #[test]
    fn without_a_profile_there_is_no_file() {
        let mut sample = sample::violations();
        sample.place.profile = None;
        let text = text(&sample.finished());
        assert!(!text.contains("physicalLocation") && text.contains("logicalLocations"), "{text}");
    }
}
