//! SARIF 2.1.0, for code scanning. Each finding is a result; passed rules are not results, because viewers would list them.

use serde_json::{Value, json};

use crate::report::counts::RuleState;
use crate::report::{Finding, JudgedRule, Report, profile_place, sections, words};
use paymaster_engine::diagnosis::without_indices;
use paymaster_engine::verdict::Conclusion;
use paymaster_settings::escape_controls;
use paymaster_settings::output::cut;

/// The longest value in a message, in characters.
const LONGEST_VALUE: usize = 120;

/// The longest request in a message, in characters.
const LONGEST_BODY: usize = 2000;

/// The log of one run.
pub(crate) fn text(report: &Report) -> String {
    let results = report.findings.iter().enumerate().map(|(number, finding)| result(number, finding, report));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": report.tool.name,
                "version": report.tool.version,
                "semanticVersion": report.tool.version,
                "rules": report.rules.iter().map(|judged| rule(judged, report)).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": format!("paymaster-conformance/{}", report.target)},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.conclusion != Conclusion::CouldNotTest,
                "exitCode": report.exit_code,
                "exitCodeDescription": report.verdict,
                "toolConfigurationNotifications": stale(report),
                "toolExecutionNotifications": notifications(report),
            }],
            "results": results.collect::<Vec<_>>(),
            "properties": {"verdict": report.verdict, "specification": report.details.specification, "counts": report.counts().json(), "seed": report.seed, "requests": report.requests},
        }],
    });
    format!("{log:#}\n")
}

fn level(fails: bool) -> &'static str {
    if fails { "error" } else { "warning" }
}

fn rule(rule: &JudgedRule, report: &Report) -> Value {
    let JudgedRule { id, text, section, basis, .. } = rule;
    let place = format!("section {section}, {}", sections::name(&report.specification.name, section));
    let help = [text.as_str(), &rule.hint].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    json!({
        "id": id,
        "shortDescription": {"text": text},
        "fullDescription": {"text": format!("{text} ({place}; {basis}.)")},
        "help": {
            "text": format!("{}\n\nSpecification: {place}. `paymaster-conformance explain {id}` says how it is judged.", help.join("\n\nWhere to look: ")),
            "markdown": format!("{}\n\n*Specification: {place}; {basis}.* `paymaster-conformance explain {id}` says how it is judged.", help.join("\n\n**Where to look:** ")),
        },
        "defaultConfiguration": {"level": level(report.fails(rule))},
        "properties": {
            "tags": [format!("section-{section}"), basis],
            "clause": rule.clause,
            "held": rule.held,
            "broken": rule.broken,
        },
    })
}

/// A text without control characters. In a message, `](` in a text of the target would make a link.
fn safe(text: &str) -> String {
    escape_controls(text).replace("](", "] (")
}

fn call(finding: &Finding) -> &str {
    finding.details.call_in_words.as_deref().unwrap_or("any request")
}

fn result(number: usize, finding: &Finding, report: &Report) -> Value {
    let (call, pointer) = (call(finding), safe(finding.at()));
    let own =
        format!("{call}: expected {}, got {} at {pointer}", safe(&finding.expected), safe(&finding.actual));
    // A finding that another one stands for says first what the defect is, then what is wrong here.
    let defect = report.defect_of(number);
    let message = match defect {
        None => own,
        Some(defect) => {
            let cause = defect
                .cause_in_words
                .as_ref()
                .map_or(String::new(), |cause| format!(". Cause: {}", safe(cause)));
            let is_shown = defect.findings.first() == Some(&number);
            let here = if is_shown { String::new() } else { format!(". Here: {own}") };
            format!("{}{cause}{here}", safe(&defect.headline))
        }
    };
    let mut value = json!({
        "ruleId": finding.rule,
        "ruleIndex": index(&finding.rule, report),
        "kind": "fail",
        "level": level(report.rule(&finding.rule).is_some_and(|rule| report.fails(rule))),
        "message": {"text": format!("{message} ({})", words::reproduced(finding))},
        "locations": [location(&format!("{call}: answer {pointer}"), finding)],
        "relatedLocations": related(finding),
        "occurrenceCount": finding.times,
        "partialFingerprints": {"finding/v1": fingerprint(finding)},
    });
    if let Some(defect) = defect {
        value["properties"]["defect"] = defect.number.into();
    }
    if let Some(known) = &finding.details.known {
        value["suppressions"] = json!([{
            "kind": "external",
            "status": "accepted",
            "justification": format!("{} ({}, until {})", safe(&known.reason), safe(&known.owner), known.expires),
        }]);
    }
    for (name, text) in [("curl", &finding.curl), ("replay", &finding.replay_file)] {
        if let Some(text) = text {
            value["properties"][name] = text.as_str().into();
        }
    }
    value
}

/// A text that is the same for the same finding in every run: indices of lists are left out.
fn fingerprint(finding: &Finding) -> String {
    let call = finding.details.call.as_deref().unwrap_or("any");
    format!("{} {call} {}", finding.rule, without_indices(&finding.pointer))
}

/// A location by its logical name and, where a profile describes the target, by the line that the finding is about: code scanning of
/// GitHub refuses a file in which any location is in no file.
fn location(name: &str, finding: &Finding) -> Value {
    let mut location = json!({"logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}]});
    if let Some(place) = &finding.details.place {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": profile_place::uri(&place.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": place.line},
        });
    }
    location
}

/// The members of the request that decide, and the nearest request that does not break the rule.
fn related(finding: &Finding) -> Vec<Value> {
    let call = call(finding);
    let side = |value: &Option<Value>| match value {
        Some(value) => cut(&safe(&value.to_string()), LONGEST_VALUE),
        None => "missing".to_owned(),
    };
    let decide = finding.details.cause.iter().flat_map(|cause| {
        cause.members.iter().map(move |member| {
            let right = if cause.is_compared {
                format!(", in a request that does not break the rule {}", side(&member.passing))
            } else {
                String::new()
            };
            let name = safe(&member.name);
            let about = format!("{name}: here {}{right}", side(&member.failing));
            (format!("{call}: request {}", safe(&member.pointer)), about)
        })
    });
    let contrast = finding.details.contrast.iter().filter_map(|contrast| {
        let body = &contrast.requests.get(contrast.member)?.body;
        let request = cut(&safe(&body.text), LONGEST_BODY);
        Some((
            format!("{call}: contrast"),
            format!("the nearest request that does not break the rule: {request}"),
        ))
    });
    let all = decide.chain(contrast).enumerate();
    all.map(|(number, (name, text))| {
        let mut location = location(&name, finding);
        location["id"] = number.into();
        location["message"] = json!({"text": text});
        location
    })
    .collect()
}

/// The entries of the list of known failures that fail the run.
fn stale(report: &Report) -> Vec<Value> {
    let (stale, _) = report.stale_and_known();
    let text = |text: String| json!({"level": "error", "message": {"text": escape_controls(&text)}});
    stale.iter().map(|known| text(format!("known failure {}: {}", known.scope, known.advice))).collect()
}

/// The warnings, why the run was cut short, and the inconclusive rules.
fn notifications(report: &Report) -> Vec<Value> {
    let inconclusive = report.rules.iter().filter(|rule| report.state(rule) == RuleState::Inconclusive).map(|rule| {
        let reason = rule.reason.as_deref().unwrap_or("exercised too seldom to pass");
        json!({
            "level": "note",
            "message": {"text": format!("inconclusive, held {} of {} times: {}", rule.held, rule.quota, escape_controls(reason))},
            "associatedRule": {"id": rule.id, "index": index(&rule.id, report)},
        })
    });
    let cut = report.cut_short.iter().map(|cause| {
        json!({"level": "error", "message": {"text": format!("cut short: {}", escape_controls(cause))}})
    });
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|warning| json!({"level": "warning", "message": {"text": warning}}));
    warnings.chain(cut).chain(inconclusive).collect()
}

/// The index of a rule in the list of rules; -1 means none in SARIF.
fn index(id: &str, report: &Report) -> i64 {
    let place = report.rules.iter().position(|rule| rule.id == id);
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
            let log: Value = serde_json::from_str(&text(&sample.report())).unwrap();
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
        let log: Value = serde_json::from_str(&text(&sample.report())).unwrap();
        let results = &log["runs"][0]["results"];
        assert!(!results.to_string().contains("s3cr3t-key"));
        insta::assert_snapshot!("sarif_results", format!("{results:#}"));
    }

    #[test]
    fn without_a_profile_there_is_no_file() {
        let mut sample = sample::violations();
        sample.place.profile = None;
        let text = text(&sample.report());
        assert!(!text.contains("physicalLocation") && text.contains("logicalLocations"), "{text}");
    }
}
