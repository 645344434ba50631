//! Validators for the documents, each compiled once, at its first use, and kept.
//!
//! They see the embedded documents and nothing else: no `$ref` is ever fetched. `format` asserts nothing in JSON Schema
//! 2020-12, so the documents say what they mean with `pattern`.

use std::{collections::HashMap, sync::LazyLock};

use jsonschema::{PatternOptions, Registry, Resource, Validator};
use serde_json::json;

use crate::definition::documents;
use crate::documents::{Document, resolved};

/// The validator of the document called `name`, or none when there is no such document.
pub fn validator_for(name: &str) -> Option<&'static Validator> {
    member_validator(name, "")
}

/// The validator of one member of the document called `document`, or none when the document or the member's own row in it
/// is missing. It judges the member's value alone; whether the member is required is for the whole document to say.
pub fn member_validator(document: &str, member: &str) -> Option<&'static Validator> {
    VALIDATORS.get(document)?.get(member).map(|validator| &**validator)
}

/// A validator that is compiled at its first use.
type Lazy = LazyLock<Validator, Box<dyn FnOnce() -> Validator + Send>>;

/// The validators of each document: the whole, under the empty name, and one for each of its own `properties`.
static VALIDATORS: LazyLock<HashMap<&'static str, HashMap<&'static str, Lazy>>> = LazyLock::new(|| {
    let of_document = |document: &'static Document| {
        let properties = resolved(document.name).and_then(|schema| schema.get("properties")?.as_object());
        let members = properties.into_iter().flatten().map(|(member, _)| {
            (member.as_str(), compiled_later(format!("{}#/properties/{member}", document.id)))
        });
        (document.name, members.chain([("", compiled_later(document.id.to_owned()))]).collect())
    };
    documents().map(of_document).collect()
});

static REGISTRY: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let pairs = documents().filter_map(|document| {
        let schema = resolved(document.name)?;
        Some((document.id, Resource::from_contents(schema.clone())))
    });
    Registry::new()
        .extend(pairs)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("the embedded documents refer only to each other: a test compiles each")
});

/// A validator of what an absolute reference refers to.
fn compiled_later(reference: String) -> Lazy {
    LazyLock::new(Box::new(move || {
        // Our patterns need no look-around, so the engine with linear time will do, whatever it is fed.
        jsonschema::draft202012::options()
            .with_registry(&REGISTRY)
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(&json!({ "$ref": reference }))
            .expect("every embedded document compiles: a test compiles each")
    }))
}
