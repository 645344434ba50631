//! The sites of a document: for each keyword that applies to a message, the edits that break it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{LazyLock, OnceLock},
};

use paymaster_schemas::documents;
use serde_json::Value;

use crate::{
    generate::{
        mutate::{
            Edit, Site, TextEdit,
            misfits::{beyond, misfits, near_misses, other_types},
        },
        schema::{KEYWORDS, Place, Unsupported},
        strategy,
    },
    json::pointer::escaped,
};

/// Every site of the messages that the document called `name` describes, in the order of the schemas. Empty when there is
/// no such document.
pub fn sites(name: &str) -> &'static [Site] {
    static SITES: LazyLock<HashMap<&'static str, OnceLock<Vec<Site>>>> =
        LazyLock::new(|| documents().map(|document| (document.name, OnceLock::new())).collect());
    let Some((name, sites)) = SITES.get_key_value(name) else { return &[] };
    sites.get_or_init(|| find(name))
}

fn find(name: &'static str) -> Vec<Site> {
    let mut finder = Finder { message: name, sites: Vec::new(), value_lists: BTreeMap::new() };
    // A document with an unknown keyword has no sites. A test checks that every document has sites.
    let walked = Place::root(name).and_then(|root| finder.walk(&root, ""));
    if walked.is_err() {
        return Vec::new();
    }
    finder.exchange_values();
    finder.sites
}

struct Finder {
    message: &'static str,
    sites: Vec<Site>,
    /// By location: the `enum` and `const` keywords there.
    value_lists: BTreeMap<String, Vec<List>>,
}

/// An `enum` or `const` and the values it allows.
struct List {
    place: Place,
    keyword: &'static str,
    values: Vec<Value>,
}

impl Finder {
    #[expect(clippy::too_many_lines, reason = "a list of keywords, each with what breaks it")]
    fn walk(&mut self, place: &Place, location: &str) -> Result<(), Unsupported> {
        let keywords = place.keywords()?;
        if keywords.contains_key("$ref") {
            self.walk(&place.target()?, location)?;
        }
        for inner in place.each("allOf") {
            self.walk(&inner, location)?;
        }
        for (keyword, argument) in keywords {
            let Some(keyword) = KEYWORDS.into_iter().find(|known| known == keyword) else { continue };
            match keyword {
                "type" => self.add(place, keyword, location, other_types(place, argument)),
                "enum" => {
                    self.list(place, keyword, location, argument.as_array().cloned().unwrap_or_default());
                }
                "const" => self.list(place, keyword, location, vec![argument.clone()]),
                "minimum" => self.add(place, keyword, location, beyond(argument, -1)),
                "maximum" => self.add(place, keyword, location, beyond(argument, 1)),
                "minLength" => {
                    let short = count(argument).and_then(|least| least.checked_sub(1));
                    self.add(
                        place,
                        keyword,
                        location,
                        short.map(|length| Edit::Text(TextEdit::Length(length))),
                    );
                }
                "maxLength" => {
                    let long = count(argument).map(|most| Edit::Text(TextEdit::Length(most + 1)));
                    self.add(place, keyword, location, long);
                }
                "pattern" => {
                    let texts = misfits(place.document, argument.as_str().unwrap_or_default());
                    self.add(place, keyword, location, texts);
                }
                "required" => {
                    for name in place.strings("required") {
                        let location = format!("{location}/{}", escaped(name));
                        self.add(place, keyword, &location, [Edit::Remove]);
                    }
                }
                "minItems" => {
                    let fewer = (0..count(argument).unwrap_or(0)).rev().map(Edit::Shorten);
                    self.add(place, keyword, location, fewer);
                }
                "maxItems" => {
                    self.add(place, keyword, location, count(argument).map(|most| Edit::Lengthen(most + 1)));
                }
                "anyOf" => {
                    self.add(place, keyword, location, [Edit::Without(place.branch_members(keyword)?)]);
                }
                "oneOf" => {
                    let members = place.branch_members(keyword)?;
                    let mut all = Vec::new();
                    for name in &members {
                        let schema = place.within("properties", name).into_iter().collect::<Vec<_>>();
                        all.push((*name, strategy::sample(&schema)?));
                    }
                    self.add(place, keyword, location, [Edit::With(all), Edit::Without(members)]);
                }
                "dependentSchemas" => {
                    for (_, inner) in place.named(keyword) {
                        self.walk(&inner, location)?;
                    }
                }
                "properties" => {
                    for (name, inner) in place.named(keyword) {
                        self.walk(&inner, &format!("{location}/{}", escaped(name)))?;
                    }
                }
                "prefixItems" => {
                    for (index, inner) in place.each(keyword).iter().enumerate() {
                        self.walk(inner, &format!("{location}/{index}"))?;
                    }
                }
                "items" => {
                    if let Some(inner) = place.under(keyword) {
                        self.walk(&inner, &format!("{location}/*"))?;
                    }
                }
                // The references and allOf are walked first.
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds edits, except those that another keyword already has at the same place.
    fn add(
        &mut self,
        place: &Place,
        keyword: &'static str,
        location: &str,
        edits: impl IntoIterator<Item = Edit>,
    ) {
        for edit in edits {
            let known = |site: &Site| site.location == location && site.edit == edit;
            if !self.sites.iter().any(known) {
                self.sites.push(Site {
                    message: self.message,
                    location: location.to_owned(),
                    document: place.document,
                    schema_pointer: format!("{}/{keyword}", place.pointer),
                    keyword,
                    edit,
                });
            }
        }
    }

    fn list(&mut self, place: &Place, keyword: &'static str, location: &str, values: Vec<Value>) {
        self.add(place, keyword, location, near_misses(&values).into_iter().map(Edit::Set));
        let known = self.value_lists.entry(location.to_owned()).or_default();
        known.push(List { place: place.clone(), keyword, values });
    }

    /// When two schemas list values for one place, a value that only one of them allows breaks the other.
    fn exchange_values(&mut self) {
        for (location, lists) in std::mem::take(&mut self.value_lists) {
            for list in &lists {
                let others = lists.iter().flat_map(|other| &other.values);
                let foreign = others.filter(|value| !list.values.contains(value)).cloned().map(Edit::Set);
                self.add(&list.place, list.keyword, &location, foreign);
            }
        }
    }
}

fn count(argument: &Value) -> Option<usize> {
    argument.as_u64().and_then(|count| usize::try_from(count).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_that_no_document_uses_have_edits() {
        let place =
            Place::made_up(json!({ "allOf": [{ "type": "string", "minLength": 2, "maxLength": 3 }] }));
        let mut finder = Finder { message: "made-up", sites: Vec::new(), value_lists: BTreeMap::new() };
        finder.walk(&place, "/at").unwrap();
        let found = |keyword: &str, edit: Edit| {
            let site = finder.sites.iter().find(|site| site.edit == edit).unwrap();
            assert_eq!((site.keyword, site.location.as_str()), (keyword, "/at"));
            assert_eq!(site.schema_pointer, format!("/allOf/0/{keyword}"));
        };
        found("minLength", Edit::Text(TextEdit::Length(1)));
        found("maxLength", Edit::Text(TextEdit::Length(4)));
        found("type", Edit::Set(json!([])));
    }

    #[test]
    fn members_that_branches_and_dependents_require_are_edited() {
        let place = Place::made_up(json!({
            "properties": { "one": { "const": 1 }, "two": { "const": "II" } },
            "oneOf": [{ "required": ["one"] }, { "required": ["two"] }],
            "dependentSchemas": { "one": { "required": ["three"] } }
        }));
        let mut finder = Finder { message: "made-up", sites: Vec::new(), value_lists: BTreeMap::new() };
        finder.walk(&place, "/at").unwrap();
        let found = |location: &str, schema_pointer: &str, edit: Edit| {
            let known = finder.sites.iter().any(|site| {
                site.edit == edit && site.location == location && site.schema_pointer == schema_pointer
            });
            assert!(known, "{edit:?}: {:#?}", finder.sites);
        };
        found("/at", "/oneOf", Edit::With(vec![("one", json!(1)), ("two", json!("II"))]));
        found("/at", "/oneOf", Edit::Without(vec!["one", "two"]));
        found("/at/three", "/dependentSchemas/one/required", Edit::Remove);
        // A branch that requires more than one member is not supported.
        let more = json!({ "oneOf": [{ "required": ["one"], "type": "object" }, { "required": ["two"] }] });
        assert!(finder.walk(&Place::made_up(more), "/at").is_err());
    }
}
