//! The schema documents: one for each table of section 2, one entry point for each whole message.
//!
//! A new document is a new file under `documents/` and one line of [`documents`].

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::clauses::Clause;

/// A JSON Schema 2020-12 document, embedded in the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// Short name, such as `fee-quote`: the file's name without `.schema.json`.
    pub name: &'static str,
    /// The absolute `$id`, by which documents refer to each other.
    pub id: &'static str,
    /// Section of the specification that it encodes, such as `2.8`.
    pub section: &'static str,
    /// The JSON text.
    pub text: &'static str,
}

macro_rules! table {
    ($($name:literal $section:literal)*) => {
        &[$(Document {
            name: $name,
            id: concat!("https://paymaster.example/schemas/", $name, ".schema.json"),
            section: $section,
            text: include_str!(concat!("../documents/", $name, ".schema.json")),
        }),*]
    };
}

/// Every document: the shared forms first, then the tables, then the entry points.
pub fn documents() -> &'static [Document] {
    table! {
        "address" "2.2"
        "hex-bytes" "2.2"
        "amount" "2.2"
        "decimal-digits" "2.6"
        "gas-number" "2.6"
        "url" "2.8"
        "json-rpc-id" "2.1"
        "error-object" "7"

        "request-envelope" "2.1"
        "user-operation" "2.2"
        "mode-object" "2.3"
        "sponsorship-info" "2.4"
        "smart-account-info" "2.4"
        "token-info" "2.5"
        "sponsored-result" "2.6"
        "quote-result" "2.7"
        "fee-quote" "2.8"
        "token-sponsor-result" "2.9"
        "response-envelope" "2.10"

        "quote-sponsored-request" "4.1"
        "quote-erc20-request" "4.1"
        "sponsor-sponsored-request" "4.2"
        "sponsor-erc20-request" "4.2"
        "sponsored-answer" "2.6"
        "quote-answer" "2.7"
        "token-sponsor-answer" "2.9"
        "error-answer" "7"
    }
}

/// Documents and clauses of a specification that is not part of this crate.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    /// Its documents. Their names and `$id`s are none of [`documents`].
    pub documents: &'static [Document],
    /// Its clauses.
    pub clauses: &'static [Clause],
}

static ADDED: OnceLock<Addition> = OnceLock::new();

/// Adds a specification, before the first use of any document.
///
/// # Panics
///
/// When one was added already.
pub fn add(addition: Addition) {
    assert!(ADDED.set(addition).is_ok(), "a specification was added already");
}

/// What was added; nothing by default.
pub(crate) fn added() -> Addition {
    ADDED.get().copied().unwrap_or(Addition { documents: &[], clauses: &[] })
}

/// Every document, those that were added included.
pub(crate) fn all_documents() -> impl Iterator<Item = &'static Document> {
    documents().iter().chain(added().documents)
}

/// The document called `name`, or none.
pub fn document(name: &str) -> Option<&'static Document> {
    all_documents().find(|document| document.name == name)
}

/// The document whose `$id` is `id`, or none. `id` is absolute and has no fragment.
pub fn document_by_id(id: &str) -> Option<&'static Document> {
    all_documents().find(|document| document.id == id)
}

/// The parsed text of the document called `name`, or none. Numbers keep every digit.
pub fn resolved(name: &str) -> Option<&'static Value> {
    static PARSED: LazyLock<HashMap<&'static str, Value>> = LazyLock::new(|| {
        all_documents()
            .map(|document| {
                let value = serde_json::from_str(document.text);
                (document.name, value.expect("an embedded document is JSON: a test reads each"))
            })
            .collect()
    });
    PARSED.get(name)
}

/// An OpenRPC 1.3 description of both methods, as JSON text. It refers to the [`documents`] by `$id`.
pub const OPENRPC: &str = include_str!("../openrpc.json");
