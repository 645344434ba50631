//! Walks the schema documents: places, references between them, and the keywords that the generators support.

use std::sync::LazyLock;

use paymaster_schemas::{document, document_by_id, resolved};
use serde_json::{Map, Value};

use crate::json::escaped;

/// A schema has a keyword that the generators do not support, or an override fits no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Keywords that assert nothing.
const ANNOTATIONS: [&str; 4] = ["$schema", "$id", "title", "description"];

/// Assertion keywords that the generators support; one file in `strategy/` for each family.
pub(super) const KEYWORDS: [&str; 19] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "dependentSchemas",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "pattern",
    "minLength",
    "maxLength",
    "required",
    "properties",
    "prefixItems",
    "items",
    "minItems",
    "maxItems",
];

/// What the schema `true` has.
static NO_KEYWORDS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// A schema and its place in a document.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name of its document.
    pub document: &'static str,
    /// Its place in that document, as a JSON pointer.
    pub pointer: String,
    schema: &'static Value,
}

impl Place {
    /// The whole document of that name.
    pub fn root(name: &str) -> Result<Self, Unsupported> {
        match (document(name), resolved(name)) {
            (Some(document), Some(schema)) => {
                Ok(Self { document: document.name, pointer: String::new(), schema })
            }
            _ => Err(Unsupported(format!("no schema document is called {name:?}"))),
        }
    }

    /// A schema of a test, outside of the documents.
    #[cfg(test)]
    pub fn made_up(schema: Value) -> Self {
        Self { document: "made-up", pointer: String::new(), schema: Box::leak(Box::new(schema)) }
    }

    /// The schema's keywords; there are none in `true`, which accepts everything.
    pub fn keywords(&self) -> Result<&'static Map<String, Value>, Unsupported> {
        match self.schema {
            Value::Object(map) => {
                for keyword in map.keys() {
                    if !KEYWORDS.contains(&keyword.as_str()) && !ANNOTATIONS.contains(&keyword.as_str()) {
                        return Err(self.unsupported(keyword));
                    }
                }
                Ok(map)
            }
            Value::Bool(true) => Ok(&NO_KEYWORDS),
            _ => Err(self.unsupported("a schema that accepts nothing")),
        }
    }

    /// The number that a keyword states; none where it states none.
    pub fn count(&self, keyword: &str) -> Option<usize> {
        self.schema.get(keyword)?.as_u64()?.try_into().ok()
    }

    /// The subschema at `keyword`.
    pub fn under(&self, keyword: &str) -> Option<Self> {
        self.descend(&[keyword])
    }

    /// The subschema at `keyword` and then `name`, a member or an index.
    pub fn within(&self, keyword: &str, name: &str) -> Option<Self> {
        self.descend(&[keyword, name])
    }

    /// All subschemas at `keyword`, an array.
    pub fn each(&self, keyword: &str) -> Vec<Self> {
        let count = self.schema[keyword].as_array().map_or(0, Vec::len);
        (0..count).filter_map(|index| self.within(keyword, &index.to_string())).collect()
    }

    /// All subschemas at `keyword`, an object, with their names.
    pub fn named(&self, keyword: &str) -> Vec<(&'static str, Self)> {
        let names = self.schema[keyword].as_object().into_iter().flatten();
        names.filter_map(|(name, _)| Some((name.as_str(), self.within(keyword, name)?))).collect()
    }

    /// The strings of the array at `keyword`.
    pub fn strings(&self, keyword: &str) -> Vec<&'static str> {
        let items = self.schema[keyword].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    }

    /// The one member that each schema of the array at `keyword` requires. Branches with other keywords are not supported.
    pub fn branch_members(&self, keyword: &str) -> Result<Vec<&'static str>, Unsupported> {
        let member = |branch: &Self| match branch.strings("required").as_slice() {
            [member] if branch.keywords()?.len() == 1 => Ok(*member),
            _ => Err(branch.unsupported("a branch other than one required member")),
        };
        self.each(keyword).iter().map(member).collect()
    }

    /// The place that `$ref` refers to.
    pub fn target(&self) -> Result<Self, Unsupported> {
        let reference = self.schema["$ref"].as_str().unwrap_or_default();
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let lost = || self.unsupported(&format!("$ref to {reference:?}"));
        let name = if resource.is_empty() {
            self.document
        } else {
            let own = document(self.document).ok_or_else(lost)?.id;
            let folder = own.rfind('/').map_or("", |end| &own[..=end]);
            let relative = format!("{folder}{resource}");
            document_by_id(resource).or_else(|| document_by_id(&relative)).ok_or_else(lost)?.name
        };
        let root = Self::root(name)?;
        let schema = root.schema.pointer(fragment).ok_or_else(lost)?;
        Ok(Self { pointer: fragment.to_owned(), schema, ..root })
    }

    /// The error that names this place.
    pub fn unsupported(&self, what: &str) -> Unsupported {
        let Self { document, pointer, .. } = self;
        Unsupported(format!("the generators do not support {what} at {document}#{pointer}"))
    }

    fn descend(&self, names: &[&str]) -> Option<Self> {
        let mut schema = self.schema;
        let mut pointer = self.pointer.clone();
        for name in names {
            schema = match schema {
                Value::Object(map) => map.get(*name)?,
                Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
            pointer.push('/');
            pointer.push_str(&escaped(name));
        }
        Some(Self { document: self.document, pointer, schema })
    }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::documents;
    use serde_json::json;

    use super::*;

    /// Counts every schema of a document, subschemas included. Fails for an unknown keyword.
    fn walk(place: &Place, seen: &mut usize) {
        *seen += 1;
        if place.keywords().unwrap().is_empty() {
            return;
        }
        for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            place.each(keyword).iter().for_each(|inner| walk(inner, seen));
        }
        for keyword in ["properties", "dependentSchemas"] {
            place.named(keyword).iter().for_each(|(_, inner)| walk(inner, seen));
        }
        if let Some(items) = place.under("items") {
            walk(&items, seen);
        }
        if place.schema.get("$ref").is_some() {
            place.target().unwrap();
        }
    }

    #[test]
    fn a_reference_is_resolved() {
        let reference = json!({ "$ref": "#/properties/symbol" });
        let target = Place { document: "fee-quote", ..Place::made_up(reference) };
        let target = target.target().unwrap();
        assert_eq!((target.document, target.pointer.as_str()), ("fee-quote", "/properties/symbol"));
        assert_eq!(target.schema["type"], "string");
        let whole =
            Place { document: "fee-quote", ..Place::made_up(json!({ "$ref": "address.schema.json" })) };
        let whole = whole.target().unwrap();
        assert_eq!((whole.document, whole.pointer.as_str()), ("address", ""));
    }

    #[test]
    fn every_keyword_of_every_document_is_understood() {
        let mut seen = 0;
        for document in documents() {
            walk(&Place::root(document.name).unwrap(), &mut seen);
        }
        assert!(seen > documents().count() * 2, "only {seen} schemas were seen");
    }

    #[test]
    fn an_unknown_keyword_is_named_in_the_error() {
        let place = Place::made_up(serde_json::json!({ "not": {} }));
        assert_eq!(
            place.keywords().unwrap_err().to_string(),
            "the generators do not support not at made-up#"
        );
        assert!(Place::root("no-such").is_err());
    }
}
