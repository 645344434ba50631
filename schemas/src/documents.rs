//! The schema documents: one for each table of a specification, one entry point for each whole message.
//!
//! A new document is a file in the folder of its specification and a line of the table that lists them there.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

use crate::definition::documents;

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
    /// The folder of its specification, as `fee-quote`.
    pub folder: &'static str,
}

impl Document {
    /// The place of its file in the repository.
    pub fn path(&self) -> String {
        format!("schemas/{}/documents/{}.schema.json", self.folder, self.name)
    }
}

/// A table of the documents in a folder: the folder, then name and section of each.
macro_rules! table {
    ($folder:literal; $($name:literal $section:literal)*) => {
        &[$($crate::Document {
            name: $name,
            id: concat!("https://paymaster.example/schemas/", $name, ".schema.json"),
            section: $section,
            text: include_str!(concat!("../", $folder, "/documents/", $name, ".schema.json")),
            folder: $folder,
        }),*]
    };
}

pub(crate) use table;

/// The document called `name`, or none.
pub fn document(name: &str) -> Option<&'static Document> {
    documents().find(|document| document.name == name)
}

/// The document whose `$id` is `id`, or none. `id` is absolute and has no fragment.
pub fn document_by_id(id: &str) -> Option<&'static Document> {
    documents().find(|document| document.id == id)
}

/// The parsed text of the document called `name`, or none. Numbers keep every digit.
pub fn resolved(name: &str) -> Option<&'static Value> {
    static PARSED: LazyLock<HashMap<&'static str, Value>> = LazyLock::new(|| {
        documents()
            .map(|document| {
                let value = serde_json::from_str(document.text);
                (document.name, value.expect("an embedded document is JSON: a test reads each"))
            })
            .collect()
    });
    PARSED.get(name)
}
