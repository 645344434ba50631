//! `prefixItems`, `items`, `minItems` and `maxItems`.

use proptest::test_runner::{Reason, TestRunner};
use serde_json::Value;

use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::{Builder, Node};
use crate::generate::{RngExt, Unsupported};

/// The most items that are drawn beyond `minItems`.
const MORE: usize = 4;

/// The arrays that a place may hold.
pub(super) struct Array {
    first: Vec<Node>,
    rest: Option<Box<Node>>,
    fewest: usize,
    most: usize,
}

impl Array {
    pub(super) fn read(
        alternative: &Alternative,
        location: &str,
        builder: &mut Builder<'_>,
    ) -> Result<Self, Unsupported> {
        let mut prefixes = Vec::new();
        let mut rests = Vec::new();
        let (mut fewest, mut bound) = (0, None::<usize>);
        for place in &alternative.places {
            place.keywords()?;
            fewest = fewest.max(place.count("minItems").unwrap_or(0));
            bound = place.count("maxItems").into_iter().chain(bound).min();
            let prefix = place.each("prefixItems");
            let items = place.under("items");
            if items.is_some() && !prefix.is_empty() {
                return Err(place.unsupported("items after prefixItems"));
            }
            prefixes.push(prefix);
            rests.extend(items);
        }
        let length = prefixes.iter().map(Vec::len).max().unwrap_or(0);
        if length > 0 && !rests.is_empty() {
            return Err(alternative.places[0].unsupported("items beside prefixItems"));
        }
        let mut first = Vec::new();
        for index in 0..length {
            let places: Vec<_> = prefixes.iter().filter_map(|prefix| prefix.get(index).cloned()).collect();
            first.push(builder.node(&places, &format!("{location}/{index}"))?);
        }
        let rest = if rests.is_empty() {
            None
        } else {
            Some(Box::new(builder.node(&rests, &format!("{location}/*"))?))
        };
        if rest.is_none() && fewest > length {
            return Err(alternative.places[0].unsupported("minItems beyond prefixItems"));
        }
        let reach = if rest.is_some() { fewest + MORE } else { length };
        let most = bound.map_or(reach, |bound| bound.min(reach)).max(fewest);
        Ok(Self { first, rest, fewest, most })
    }

    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        let length = runner.rng().count(self.fewest, self.most);
        let mut items = Vec::with_capacity(length);
        for index in 0..length {
            if let Some(node) = self.first.get(index).or(self.rest.as_deref()) {
                items.push(node.draw(runner)?);
            }
        }
        Ok(Value::Array(items))
    }
}
