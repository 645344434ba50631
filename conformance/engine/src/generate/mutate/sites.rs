//! The sites of a document: for each keyword that applies to a message, the edits that break it. The keywords are those that
//! the schemas have inside of `params`, where requests are broken.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, OnceLock};

use paymaster_schemas::documents;
use serde_json::{Value, json};

use crate::generate::mutate::misfits::{beyond, misfits, near_misses, other_types};
use crate::generate::{Edit, KEYWORDS, Place, Site, Unsupported, strategy};
use crate::json::escaped;

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
    fn walk(&mut self, place: &Place, location: &str) -> Result<(), Unsupported> {
        let keywords = place.keywords()?;
        if keywords.contains_key("$ref") {
            self.walk(&place.target()?, location)?;
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
                "minLength" => self.add(place, keyword, location, [Edit::Set(json!(""))]),
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
                // References are walked first. No list inside of `params` has a `minItems` or `maxItems`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
