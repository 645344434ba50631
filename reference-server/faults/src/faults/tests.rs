use std::collections::HashSet;

use paymaster_schemas::{Basis, DEFINITIONS, find_clause, member_validator, resolved};
use paymaster_service::SenderNonces;
use serde_json::{Map, Value};

use super::{Fault, faults, find_fault};
use crate::injection::samples::{NOW, arrival, bodies, configured, pair_of, samples_of, service};
use crate::injection::{InjectedService, WireResponse};

/// Enough rounds for a fault in 1 of 25 requests when only one sample can show it.
const ROUNDS: usize = 25;

#[test]
fn names_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for fault in faults() {
        assert!(seen.insert(fault.name), "{} occurs twice", fault.name);
        let well_formed =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(fault.name.chars().all(well_formed), "{}", fault.name);
        assert!(fault.about.len() > 6, "{} has too short a description", fault.name);
    }
    assert!(seen.len() >= 100, "only {} faults", seen.len());
}

#[test]
fn every_fault_breaks_a_clause_that_is_judged() {
    for fault in faults() {
        for id in fault.also.iter().chain([&fault.clause]) {
            if let Some(group) = id.strip_suffix('*') {
                let mut clauses = DEFINITIONS.iter().flat_map(|definition| definition.clauses());
                assert!(clauses.any(|clause| clause.id.starts_with(group)), "{}: no group {id}", fault.name);
                continue;
            }
            let clause = find_clause(id).unwrap_or_else(|| panic!("{}: no clause {id}", fault.name));
            assert!(!clause.basis.is_observed(), "{}: {id} is only observed", fault.name);
            assert!(clause.unjudged.is_none(), "{}: {id} is not judged", fault.name);
        }
    }
}

#[test]
fn every_judged_clause_is_broken_by_a_fault() {
    let broken: HashSet<&str> = faults().map(|fault| fault.clause).collect();
    let missed: Vec<&str> = DEFINITIONS
        .iter()
        .flat_map(|definition| definition.clauses())
        .filter(|clause| {
            matches!(
                clause.basis,
                Basis::Stated
                    | Basis::Recommended
                    | Basis::JsonRpc
                    | Basis::Interoperability
                    | Basis::Plausibility
                    | Basis::OnChain
            )
        })
        .filter(|clause| clause.unjudged.is_none() && !broken.contains(clause.id))
        .map(|clause| clause.id)
        .collect();
    assert!(missed.is_empty(), "no fault for {missed:?}");
}

/// The objects of a request, as JSON pointers, and the documents that list their members.
const OBJECTS: [(&str, &str); 6] = [
    ("", "request-envelope"),
    ("/params/0", "user-operation"),
    ("/params/1", "mode-object"),
    ("/params/1/sponsorshipInfo", "sponsorship-info"),
    ("/params/1/sponsorshipInfo/smartAccountInfo", "smart-account-info"),
    ("/params/1/tokenInfo", "token-info"),
];

/// Members of a whole operation that a partial one need not have, so that no document lists them.
const UNLISTED_MEMBERS: [&str; 2] = ["/params/0/signature", "/params/0/paymasterAndData"];

#[test]
fn every_fault_depends_on_a_member_that_requests_have() {
    let mut members = 0;
    for fault in faults() {
        // In a batch, every element has the member.
        let Some(pointer) = fault.member.map(|at| at.strip_prefix("/*").unwrap_or(at)) else { continue };
        members += 1;
        let (object, member) = pointer.rsplit_once('/').expect("a JSON pointer");
        let document = OBJECTS.iter().find(|(at, _)| *at == object);
        let is_listed = document.is_some_and(|(_, document)| {
            let schema = resolved(document).expect("the document exists");
            schema["properties"].get(member).is_some()
        });
        assert!(
            is_listed || UNLISTED_MEMBERS.contains(&pointer),
            "{}: requests have no member {pointer}",
            fault.name
        );
    }
    assert!(members >= 100, "only {members} faults depend on a member of the request");
}

#[test]
fn the_nearest_fault_is_named() {
    let error = find_fault("sponsored-mode-misssing").unwrap_err().to_string();
    assert_eq!(error, "unknown fault `sponsored-mode-misssing`: did you mean `sponsored-mode-missing`?");
    let error = find_fault("zzz").unwrap_err().to_string();
    assert_eq!(error, "unknown fault `zzz`: --list-faults lists them");
}

/// The responses to all sample requests, two at a time, so that responses can be swapped.
async fn responses(service: &InjectedService, bodies: &[Vec<u8>]) -> Vec<WireResponse> {
    let mut responses = Vec::new();
    let nonces = SenderNonces::default();
    for pair in bodies.chunks(2) {
        let (first, second) =
            tokio::join!(service.response(arrival(&pair[0]), &pair[0], NOW, &nonces), async {
                match pair.get(1) {
                    Some(body) => Some(service.response(arrival(body), body, NOW, &nonces).await),
                    None => None,
                }
            });
        responses.push(first);
        responses.extend(second);
    }
    responses
}

/// The rows of section 2 that a response breaks according to the schemas, such as `fee-quote.symbol`.
fn broken_rows(body: &[u8], response: &WireResponse) -> HashSet<String> {
    let mut broken = HashSet::new();
    let request: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let answer: Value =
        serde_json::from_slice(response.body.as_deref().unwrap_or_default()).unwrap_or(Value::Null);
    let Some(result) = answer["result"].as_object() else { return broken };
    let Some(pair) = pair_of(&request) else { return broken };
    check(pair.result_document, result, &mut broken);
    for quote in result.get("feeQuotes").and_then(Value::as_array).into_iter().flatten() {
        if let Some(quote) = quote.as_object() {
            check("fee-quote", quote, &mut broken);
        }
    }
    // A broken row of a quote also breaks the schema of the list, which is not counted.
    if broken.iter().any(|row| row.starts_with("fee-quote.")) {
        broken.remove("quote-result.feeQuotes");
    }
    broken
}

fn check(document: &str, object: &Map<String, Value>, broken: &mut HashSet<String>) {
    let schema = resolved(document).expect("the document exists");
    let required = schema["required"].as_array().expect("an array");
    for (member, _) in schema["properties"].as_object().expect("an object") {
        let row = format!("{document}.{member}");
        let holds = match object.get(member) {
            Some(value) => {
                member_validator(document, member).expect("a member of the schema").is_valid(value)
            }
            None => !required.iter().any(|required| required == member),
        };
        if !holds {
            broken.insert(row);
        }
    }
}

/// Faults whose value is wrong but valid according to the schema.
const WRONG_CONTENT: [&str; 3] =
    ["fee-symbol-of-another", "fee-decimal-of-another", "fee-decimal-of-previous"];

#[tokio::test]
async fn a_fault_breaks_its_row_and_no_other() {
    let bodies = bodies();
    let mut wrong = Vec::new();
    for fault in faults() {
        let faulty = InjectedService::from(service()).with_faults([fault]);
        let mut broken = HashSet::new();
        for _ in 0..ROUNDS {
            let responses = responses(&faulty, &bodies).await;
            for (body, response) in bodies.iter().zip(&responses) {
                broken.extend(broken_rows(body, response));
            }
            if broken.contains(fault.clause) || !is_row(fault.clause) {
                break;
            }
        }
        if is_row(fault.clause) && !WRONG_CONTENT.contains(&fault.name) {
            assert!(broken.contains(fault.clause), "{} does not break its row", fault.name);
        }
        broken.retain(|row| !fault.names(row));
        if !broken.is_empty() {
            wrong.push(format!("{} breaks {broken:?} too", fault.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_row(clause: &str) -> bool {
    let document = clause.split_once('.').map_or(clause, |(document, _)| document);
    document == "fee-quote" || document.ends_with("-result")
}

#[tokio::test]
async fn every_fault_changes_an_answer() {
    let mut without_effect = Vec::new();
    for specification in [None, Some("erc-7677")] {
        let (bodies, configure) = samples_of(specification);
        let clean = responses(&configured(configure).into(), &bodies).await;
        let is_of = |fault: &&Fault| (fault.specification == Some("erc-7677")) == specification.is_some();
        for fault in faults().filter(is_of) {
            let faulty = InjectedService::from(configured(configure)).with_faults([fault]);
            let mut changes = false;
            for _ in 0..ROUNDS {
                changes = responses(&faulty, &bodies).await != clean;
                if changes {
                    break;
                }
            }
            if !changes {
                without_effect.push(fault.name);
            }
        }
    }
    assert!(without_effect.is_empty(), "these change nothing: {without_effect:?}");
}
