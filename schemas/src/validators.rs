//! Validators for the documents, each compiled once, at its first use, and kept.
//!
//! They see the embedded documents and nothing else: no `$ref` is ever fetched. `format` asserts nothing in JSON Schema
//! 2020-12, so the documents say what they mean with `pattern`.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use jsonschema::{PatternOptions, Registry, Resource, Validator};
use serde_json::{Value, json};

use crate::{definition::documents, documents::resolved};

/// The validator of the document called `name`, or none when there is no such document.
pub fn validator_for(name: &str) -> Option<&'static Validator> {
    ENTRIES.get(name).map(|entry| entry.whole.get())
}

/// The validator of one member of the document called `document`, or none when the document or the member's own row in it
/// is missing. It judges the member's value alone; whether the member is required is for the whole document to say.
pub fn member_validator(document: &str, member: &str) -> Option<&'static Validator> {
    let members = &ENTRIES.get(document)?.members;
    members.get(member).map(Lazy::get)
}

/// A validator with the absolute reference that it stands for.
struct Lazy {
    reference: String,
    compiled: OnceLock<Validator>,
}

/// A document's validators: the whole, and one for each of its own `properties`.
struct Entry {
    whole: Lazy,
    members: HashMap<&'static str, Lazy>,
}

static ENTRIES: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    documents()
        .map(|document| {
            let properties = resolved(document.name)
                .and_then(|schema| schema.get("properties"))
                .and_then(Value::as_object);
            let members = properties
                .into_iter()
                .flatten()
                .map(|(member, _)| {
                    let lazy = Lazy::new(format!("{}#/properties/{member}", document.id));
                    (member.as_str(), lazy)
                })
                .collect();
            let whole = Lazy::new(document.id.to_owned());
            (document.name, Entry { whole, members })
        })
        .collect()
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

impl Lazy {
    fn new(reference: String) -> Self {
        Self { reference, compiled: OnceLock::new() }
    }

    fn get(&self) -> &Validator {
        self.compiled.get_or_init(|| {
            // Our patterns need no look-around, so the engine with linear time will do, whatever it is fed.
            jsonschema::draft202012::options()
                .with_registry(&REGISTRY)
                .with_pattern_options(PatternOptions::regex())
                .offline()
                .build(&json!({ "$ref": self.reference }))
                .expect("every embedded document compiles: a test compiles each")
        })
    }
}
