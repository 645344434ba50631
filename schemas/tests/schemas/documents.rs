//! The documents as documents: sound JSON Schema 2020-12, named as they are filed, described, and joined without a gap.

use std::collections::BTreeSet;
use std::fs;

use crate::support;
use paymaster_schemas::{document, document_by_id, documents, resolved};
use serde_json::Value;

#[test]
fn the_tables_and_the_folders_hold_the_same_documents() {
    let filed: BTreeSet<String> = support::folders("documents")
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the documents folder"))
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a UTF-8 name"))
        .collect();
    let listed: Vec<String> = documents().map(|document| format!("{}.schema.json", document.name)).collect();
    assert_eq!(filed, listed.iter().cloned().collect());
    assert_eq!(filed.len(), listed.len(), "a document is listed twice");
}

#[test]
fn every_document_carries_its_id_and_dialect() {
    for document in documents() {
        let schema = resolved(document.name).expect("parsed");
        assert_eq!(schema["$id"], document.id);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{}", document.name);
        assert_eq!(document_by_id(document.id), Some(document));
    }
    assert_eq!(document("no-such"), None);
    assert_eq!(resolved("no-such"), None);
}

#[test]
fn every_document_is_valid_against_the_metaschema() {
    for document in documents() {
        let schema = resolved(document.name).expect("parsed");
        if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
            panic!("{}: {error} at {}", document.name, error.instance_path());
        }
    }
}

#[test]
fn every_document_and_every_member_is_described() {
    for document in documents() {
        let schema = resolved(document.name).expect("parsed");
        assert!(schema["title"].is_string(), "{} has no title", document.name);
        let text = schema["description"].as_str().expect("a description");
        let named = sections(text);
        assert!(named.contains(&document.section), "{}: {named:?}", document.name);
        let is_message = schema.get("$ref").is_some();
        let members = schema["properties"].as_object().into_iter().flatten();
        for (member, own) in members.filter(|_| !is_message) {
            assert!(own["description"].is_string(), "{} {member}", document.name);
        }
    }
}

/// The section numbers in a text that has the word section.
fn sections(text: &str) -> Vec<&str> {
    if !text.to_lowercase().contains("section") {
        return Vec::new();
    }
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| {
            let (chapter, _) = word.split_once('.').unwrap_or((word, ""));
            matches!(chapter.parse(), Ok(1..=9))
        })
        .collect()
}

#[test]
fn every_reference_leads_to_another_document() {
    for document in documents() {
        let schema = resolved(document.name).expect("parsed");
        support::walk(schema, "", &mut |pointer, subschema| {
            let Some(reference) = subschema.get("$ref") else { return };
            let target = reference
                .as_str()
                .and_then(|reference| reference.strip_suffix(".schema.json"))
                .and_then(paymaster_schemas::document);
            assert!(target.is_some(), "{} {pointer}: {reference} leads nowhere", document.name);
            assert_ne!(target, Some(document), "{} refers to itself", document.name);
        });
    }
}

#[test]
fn every_document_is_an_entry_point_or_used_by_one() {
    let mut reached = BTreeSet::new();
    let pairs = ["quote-sponsored", "quote-erc20", "sponsor-sponsored", "sponsor-erc20"];
    let mut queue = pairs.map(|pair| format!("{pair}-request")).to_vec();
    let answers = ["sponsored", "quote", "token-sponsor", "error"];
    queue.extend(answers.map(|answer| format!("{answer}-answer")));
    // The rule `plausibility.logo-url` uses it alone: section 2.8 states no form of a URL.
    queue.push("url".to_owned());
    let messages = ["stub-request", "data-request", "stub-answer", "data-answer"];
    queue.extend(
        messages.iter().flat_map(|message| ["06", "07"].map(|version| format!("{message}-{version}"))),
    );
    queue.push("erc-7677-error-answer".to_owned());
    while let Some(name) = queue.pop() {
        if reached.insert(name.clone()) {
            support::walk(resolved(&name).expect("parsed"), "", &mut |_, subschema| {
                let reference = subschema.get("$ref").and_then(Value::as_str);
                let target = reference.and_then(|reference| reference.strip_suffix(".schema.json"));
                queue.extend(target.map(str::to_owned));
            });
        }
    }
    for document in documents() {
        assert!(reached.contains(document.name), "{} is used by no message", document.name);
    }
}

#[test]
fn no_object_is_closed() {
    // Published clients send members that the tables do not list, and the specification closes nothing.
    for document in documents() {
        for closing in ["additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties"] {
            assert!(!document.text.contains(closing), "{}: {closing}", document.name);
        }
    }
}
