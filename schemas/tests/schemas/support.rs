//! The folders of the specifications, and a walk through the subschemas of a schema document.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folders of that name, `documents` or `examples`: one for each specification and one for what they share.
pub(crate) fn folders(name: &str) -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = top.read_dir().expect("the crate").map(|entry| entry.expect("an entry").path().join(name));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The folder with the examples of a document.
pub(crate) fn examples(document: &str) -> PathBuf {
    let all = folders("examples").into_iter().map(|folder| folder.join(document));
    all.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("{document} has no examples"))
}

/// Keywords that only describe.
const ANNOTATIONS: &[&str] = &["$schema", "$id", "title", "description"];
/// Keywords that can reject a value by themselves, or, `$ref`, by what they point at.
pub(crate) const ASSERTIONS: &[&str] = &[
    "$ref",
    "anyOf",
    "const",
    "enum",
    "maxItems",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "oneOf",
    "pattern",
    "required",
    "type",
];
/// Keywords that hold subschemas, keyed by member.
const MAPS: &[&str] = &["properties", "dependentSchemas"];
/// Keywords that hold a list of subschemas.
const LISTS: &[&str] = &["prefixItems", "anyOf", "oneOf"];

/// Calls `visit` with the JSON pointer of each subschema, `schema` itself first.
/// Panics at a keyword that this walk, and so these tests, would not understand.
pub(crate) fn walk(schema: &Value, pointer: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(pointer, schema);
    let Value::Object(members) = schema else {
        assert_eq!(schema, &Value::Bool(true), "{pointer}: a subschema is an object or true");
        return;
    };
    for (keyword, value) in members {
        let at = format!("{pointer}/{keyword}");
        if MAPS.contains(&keyword.as_str()) {
            let entries = value.as_object().expect("keyed subschemas");
            for (member, subschema) in entries {
                walk(subschema, &format!("{at}/{member}"), visit);
            }
        } else if LISTS.contains(&keyword.as_str()) {
            let entries = value.as_array().expect("listed subschemas");
            for (index, subschema) in entries.iter().enumerate() {
                walk(subschema, &format!("{at}/{index}"), visit);
            }
        } else if keyword == "items" {
            walk(value, &at, visit);
        } else {
            let known = ANNOTATIONS.iter().chain(ASSERTIONS).any(|known| known == keyword);
            assert!(known, "{at}: a keyword that the tests do not know");
        }
    }
}
