//! Hand-typed examples judge the documents. `examples/DOCUMENT/valid/*.json` must be taken, and
//! `examples/DOCUMENT/invalid/KEYWORD-WHERE[.NOTE].json` rejected by that keyword at that member.
//! WHERE is the last member of the path (`root` for none), then the index in an array; for `required` it is the member missed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::{self, ASSERTIONS};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use paymaster_schemas::{documents, resolved, validator_for};
use serde_json::Value;

/// How file names spell the keywords.
const KEYWORDS: &[(&str, &str)] = &[
    ("any-of-", "anyOf"),
    ("const-", "const"),
    ("enum-", "enum"),
    ("max-items-", "maxItems"),
    ("maximum-", "maximum"),
    ("min-items-", "minItems"),
    ("min-length-", "minLength"),
    ("minimum-", "minimum"),
    ("one-of-", "oneOf"),
    ("pattern-", "pattern"),
    ("required-", "required"),
    ("type-", "type"),
];

#[test]
fn every_folder_belongs_to_a_document() {
    let folders: BTreeSet<String> = support::folders("examples")
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the examples folder"))
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a UTF-8 name"))
        .collect();
    let names: BTreeSet<String> = documents().map(|document| document.name.to_owned()).collect();
    assert_eq!(folders, names);
}

#[test]
fn every_document_takes_its_valid_examples() {
    for document in documents() {
        let validator = validator_for(document.name).expect("a validator");
        for (path, instance) in examples(document.name, "valid") {
            if let Err(error) = validator.validate(&instance) {
                panic!("{}: {error} at {:?}", path.display(), error.instance_path().as_str());
            }
        }
    }
}

#[test]
fn every_document_rejects_its_invalid_examples_for_the_reason_in_their_names() {
    for document in documents() {
        let validator = validator_for(document.name).expect("a validator");
        for (path, instance) in examples(document.name, "invalid") {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            let claimed = stem.split_once('.').map_or(stem, |(claimed, _note)| claimed);
            let (keyword, place) = KEYWORDS
                .iter()
                .find_map(|(prefix, keyword)| Some((*keyword, claimed.strip_prefix(prefix)?)))
                .unwrap_or_else(|| panic!("{}: the name starts with no keyword", path.display()));
            assert!(!validator.is_valid(&instance), "{} is valid", path.display());
            let found: Vec<_> = validator
                .iter_errors(&instance)
                .map(|error| (error.kind().keyword().to_owned(), place_of(&error)))
                .collect();
            assert!(
                found.iter().any(|(kind, at)| kind == keyword && at == place),
                "{}: rejected for {found:?}",
                path.display()
            );
        }
    }
}

#[test]
fn every_place_that_can_reject_has_an_invalid_example() {
    let mut missing = Vec::new();
    for document in documents() {
        let validator = validator_for(document.name).expect("a validator");
        let mut open = sites(resolved(document.name).expect("parsed"));
        assert!(!open.is_empty(), "{} rejects nothing", document.name);
        for (_, instance) in examples(document.name, "invalid") {
            for error in validator.iter_errors(&instance) {
                open.retain(|site| !rejects_at(&error, site));
            }
        }
        missing.extend(open.into_iter().map(|site| (document.name, site)));
    }
    assert!(missing.is_empty(), "no invalid example for {missing:#?}");
}

/// The examples of one kind, by path. Panics when there is none, or when one cannot be read.
fn examples(document: &str, kind: &str) -> Vec<(PathBuf, Value)> {
    let folder = support::examples(document).join(kind);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let examples: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a readable example");
            let value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, value)
        })
        .collect();
    assert!(!examples.is_empty(), "{document} has no {kind} example");
    examples
}

/// Where an error is, as file names say it.
fn place_of(error: &ValidationError<'_>) -> String {
    if let Some(member) = missed_member(error) {
        return member.to_owned();
    }
    let path = error.instance_path().as_str();
    let mut members = path.rsplit('/');
    let last = members.next().filter(|last| !last.is_empty()).unwrap_or("root");
    match last.parse::<usize>() {
        Ok(index) => format!("{}-{index}", members.next().unwrap_or("root")),
        Err(_) => last.to_owned(),
    }
}

fn missed_member<'a>(error: &'a ValidationError<'_>) -> Option<&'a str> {
    if let ValidationErrorKind::Required { property } = error.kind() { property.as_str() } else { None }
}

/// Whether the error comes from this place: from the keyword itself, or from behind it if it is a `$ref`.
fn rejects_at(error: &ValidationError<'_>, site: &Site) -> bool {
    // The validator of a document starts with a `$ref` of its own.
    let Some(path) = error.evaluation_path().as_str().strip_prefix("/$ref") else { return false };
    if site.pointer.ends_with("/$ref") {
        return path.strip_prefix(&site.pointer).is_some_and(|rest| rest.starts_with('/'));
    }
    path == site.pointer && missed_member(error) == site.member.as_deref()
}

/// A place at which a document can reject a value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Site {
    /// JSON pointer of the keyword within the document.
    pointer: String,
    /// For `required`: the one member that is missing.
    member: Option<String>,
}

/// Every place at which `document` itself can reject a value. What lies inside `anyOf` or `oneOf` is left out: it decides
/// only together with its neighbours, and the applicator stands for it.
fn sites(document: &Value) -> Vec<Site> {
    let mut sites = Vec::new();
    support::walk(document, "", &mut |pointer, schema| {
        if pointer.contains("/anyOf/") || pointer.contains("/oneOf/") {
            return;
        }
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            if !ASSERTIONS.contains(&keyword.as_str()) {
                continue;
            }
            let pointer = format!("{pointer}/{keyword}");
            if keyword == "required" {
                let members = value.as_array().expect("required lists members");
                sites.extend(members.iter().map(|member| Site {
                    pointer: pointer.clone(),
                    member: member.as_str().map(str::to_owned),
                }));
            } else {
                sites.push(Site { pointer, member: None });
            }
        }
    });
    sites
}
