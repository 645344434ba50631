//! `properties` and `required`.

use proptest::test_runner::{Reason, TestRunner};
use serde_json::{Map, Value};

use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::{Builder, Node};
use crate::generate::{Place, RngExt, Unsupported};
use crate::json::escaped;

/// The objects that a place may hold.
pub(super) struct Object {
    members: Vec<Member>,
}

struct Member {
    name: &'static str,
    always: bool,
    node: Node,
}

impl Object {
    /// None when a member must be both present and absent.
    pub(super) fn read(
        alternative: &Alternative,
        location: &str,
        builder: &mut Builder<'_>,
    ) -> Result<Option<Self>, Unsupported> {
        let mut required = alternative.present.clone();
        let mut schemas: Vec<(&'static str, Vec<Place>)> = Vec::new();
        for place in &alternative.places {
            required.extend(place.strings("required"));
            for (name, schema) in place.named("properties") {
                match schemas.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, several)) => several.push(schema),
                    None => schemas.push((name, vec![schema])),
                }
            }
        }
        for name in &required {
            if !schemas.iter().any(|(known, _)| known == name) {
                schemas.push((name, Vec::new()));
            }
        }
        let mut members = Vec::new();
        for (name, places) in schemas {
            let location = format!("{location}/{}", escaped(name));
            let presence = builder.presence(&location);
            let must = required.contains(&name);
            let must_not = alternative.absent.contains(&name);
            if must && (must_not || presence == Some(false)) {
                return Ok(None);
            }
            if must_not || presence == Some(false) {
                continue;
            }
            let node = builder.node(&places, &location)?;
            let always = must || presence == Some(true);
            members.push(Member { name, always, node });
        }
        Ok(Some(Self { members }))
    }

    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        let mut object = Map::with_capacity(self.members.len());
        for member in &self.members {
            if member.always || runner.rng().chance(50) {
                object.insert(member.name.to_owned(), member.node.draw(runner)?);
            }
        }
        Ok(Value::Object(object))
    }
}
