//! Turns a schema into a proptest strategy of values that the schema accepts.
//!
//! A schema is first expanded into alternatives, each with the merged constraints of all schemas that apply at a place. A value
//! is then drawn in one pass without rejections. Values shrink as a whole, with [`super::shrink`], so that they stay valid.

mod arrays;
mod choices;
mod kinds;
mod numbers;
mod objects;
mod patterns;
mod text;
mod tree;
mod values;

pub use tree::Tree;

use crate::generate::strategy::arrays::Array;
use crate::generate::strategy::choices::Alternative;
use crate::generate::strategy::kinds::JsonKinds;
use crate::generate::strategy::numbers::Numbers;
use crate::generate::strategy::objects::Object;
use crate::generate::strategy::text::Text;
use crate::generate::{Change, Place, RngExt, Unsupported, runner};
use std::fmt;

use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::{Reason, TestRunner};
use serde_json::Value;

/// The strategy of the values that the schema document `document` accepts. Optional members are present at random; members that
/// the schema does not name are never present. About one scalar in sixteen is a boundary value.
///
/// Fails when the document, or a keyword in it, is unknown, or when an override fits no place of the document.
pub fn strategy(document: &str, overrides: &Overrides) -> Result<BoxedStrategy<Value>, Unsupported> {
    Ok(FromSchema::new(document, overrides)?.boxed())
}

/// One value that all of `places` accept, always the same.
pub fn sample(places: &[Place]) -> Result<Value, Unsupported> {
    let overrides = Overrides::new();
    let mut builder = Builder { overrides: &overrides, used: Vec::new() };
    let node = builder.node(places, "")?;
    node.draw(&mut runner(0))
        .map_err(|cause| Unsupported(format!("no sample could be drawn: {}", cause.message())))
}

/// Values to draw instead of those of the schema, by instance location: a JSON pointer in which `*` matches any one name or
/// index, such as `/params/1/tokenInfo/tokenList/*`.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Overrides(Vec<(String, Override)>);

#[derive(Clone, Debug)]
enum Override {
    Value(BoxedStrategy<Value>),
    Present(bool),
}

impl Overrides {
    /// No overrides.
    pub fn new() -> Self {
        Self::default()
    }

    /// Draws the value at `location` from `strategy`. Whether the member is present is decided separately.
    pub fn value(mut self, location: &str, strategy: BoxedStrategy<Value>) -> Self {
        self.0.push((location.to_owned(), Override::Value(strategy)));
        self
    }

    /// The optional member at `location` is always present.
    pub fn always(mut self, location: &str) -> Self {
        self.0.push((location.to_owned(), Override::Present(true)));
        self
    }

    /// The optional member at `location` is never present.
    pub fn never(mut self, location: &str) -> Self {
        self.0.push((location.to_owned(), Override::Present(false)));
        self
    }
}

fn fits(pattern: &str, location: &str) -> bool {
    let mut names = location.split('/');
    pattern.split('/').all(|wanted| names.next().is_some_and(|name| wanted == "*" || wanted == name))
        && names.next().is_none()
}

struct Builder<'a> {
    overrides: &'a Overrides,
    used: Vec<bool>,
}

impl Builder<'_> {
    /// What to draw where all of `places` apply.
    fn node(&mut self, places: &[Place], location: &str) -> Result<Node, Unsupported> {
        for (index, (pattern, entry)) in self.overrides.0.iter().enumerate() {
            if let Override::Value(strategy) = entry
                && fits(pattern, location)
            {
                self.used[index] = true;
                return Ok(Node::Given(strategy.clone()));
            }
        }
        let mut forms = Vec::new();
        for alternative in choices::alternatives(places)? {
            if let Some(form) = Form::read(&alternative, location, self)? {
                forms.push(form);
            }
        }
        match (places.first(), forms.is_empty()) {
            (Some(place), true) => Err(place.unsupported("a contradiction")),
            _ => Ok(Node::Forms(forms)),
        }
    }

    /// Whether an override makes the member at `location` always or never present; none without such an override.
    fn presence(&mut self, location: &str) -> Option<bool> {
        let mut presence = None;
        for (index, (pattern, entry)) in self.overrides.0.iter().enumerate() {
            if let Override::Present(present) = entry
                && fits(pattern, location)
            {
                self.used[index] = true;
                presence = Some(*present);
            }
        }
        presence
    }
}

/// What to draw at a place.
enum Node {
    /// From an override.
    Given(BoxedStrategy<Value>),
    /// From any of these.
    Forms(Vec<Form>),
}

/// One alternative of a place, constraints merged.
struct Form {
    values: Option<Vec<Value>>,
    kinds: JsonKinds,
    numbers: Numbers,
    text: Text,
    object: Object,
    array: Array,
}

impl Form {
    /// None when nothing can satisfy the alternative.
    fn read(
        alternative: &Alternative,
        location: &str,
        builder: &mut Builder<'_>,
    ) -> Result<Option<Self>, Unsupported> {
        let kinds = JsonKinds::read(alternative)?;
        let values = values::read(alternative, &kinds)?;
        let Some(object) = Object::read(alternative, location, builder)? else { return Ok(None) };
        let form = Self {
            numbers: Numbers::read(alternative, &kinds)?,
            text: Text::read(alternative)?,
            array: Array::read(alternative, location, builder)?,
            object,
            values,
            kinds,
        };
        let possible = form.values.as_ref().map_or(!form.kinds.is_empty(), |values| !values.is_empty());
        Ok(possible.then_some(form))
    }

    fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        if let Some(values) = &self.values {
            return Ok(runner.rng().pick(values).clone());
        }
        match self.kinds.draw(runner.rng()) {
            kinds::JsonKind::Null => Ok(Value::Null),
            kinds::JsonKind::Bool => Ok(Value::Bool(runner.rng().chance(50))),
            kinds::JsonKind::Integer => Ok(self.numbers.integer(runner.rng())),
            kinds::JsonKind::Fraction => Ok(self.numbers.fraction(runner.rng())),
            kinds::JsonKind::Text => self.text.draw(runner),
            kinds::JsonKind::Array => self.array.draw(runner),
            kinds::JsonKind::Object => self.object.draw(runner),
        }
    }
}

impl Node {
    fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        match self {
            Self::Given(strategy) => Ok(strategy.new_tree(runner)?.current()),
            Self::Forms(forms) => match forms.as_slice() {
                [only] => only.draw(runner),
                several => runner.rng().pick(several).draw(runner),
            },
        }
    }
}

/// The strategy of a document.
pub struct FromSchema {
    /// The name of the schema document.
    pub document: &'static str,
    node: Node,
}

impl FromSchema {
    /// The strategy that [`strategy`] makes, for callers that draw values and do not shrink them.
    pub fn new(document: &str, overrides: &Overrides) -> Result<Self, Unsupported> {
        let root = Place::root(document)?;
        let name = root.document;
        let mut builder = Builder { overrides, used: vec![false; overrides.0.len()] };
        let node = builder.node(&[root], "")?;
        if let Some(unused) = builder.used.iter().position(|used| !used) {
            let location = &overrides.0[unused].0;
            return Err(Unsupported(format!("no place of {name} fits the override {location:?}")));
        }
        Ok(Self { document: name, node })
    }

    /// Draws a value.
    pub fn draw(&self, runner: &mut TestRunner) -> Result<Value, Reason> {
        self.node.draw(runner)
    }
}

impl fmt::Debug for FromSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FromSchema({})", self.document)
    }
}

impl Strategy for FromSchema {
    type Tree = Tree;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        Ok(Tree::new(self.document, self.draw(runner)?, |_| Change::Free, |_| true, |drawn| drawn))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_override_that_fits_no_place_is_an_error() {
        let wrong = Overrides::new().always("/params/0/initcode");
        let error = strategy("quote-erc20-request", &wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no place of quote-erc20-request fits the override \"/params/0/initcode\""
        );
    }

    #[test]
    fn a_star_stands_for_one_name() {
        assert!(fits("/a/*/c", "/a/0/c"));
        assert!(!fits("/a/*", "/a/0/c"));
        assert!(!fits("/a/*/c", "/a/0"));
        assert!(fits("", ""));
    }

    fn draws(schema: Value) -> Result<Vec<Value>, Unsupported> {
        let overrides = Overrides::new();
        let mut builder = Builder { overrides: &overrides, used: Vec::new() };
        let node = builder.node(&[Place::made_up(schema)], "")?;
        let mut runner = runner(1);
        Ok((0..300).map(|_| node.draw(&mut runner).unwrap()).collect())
    }

    #[test]
    fn schemas_that_apply_together_are_merged() {
        let lengths = json!({ "allOf": [{ "type": "string" }, { "minLength": 2 }, { "maxLength": 3 }] });
        for value in draws(lengths).unwrap() {
            assert!((2..=3).contains(&value.as_str().unwrap().chars().count()), "{value}");
        }
        let values = json!({ "enum": [1, "a", "b", null], "type": ["string", "null"], "unheard-of": true });
        assert!(draws(values).is_err());
        let values =
            json!({ "allOf": [{ "enum": [1, "a", "b"] }, { "enum": ["b", 1] }, { "type": "string" }] });
        assert!(draws(values).unwrap().iter().all(|value| value == "b"));
        let bounds =
            json!({ "allOf": [{ "type": "integer", "minimum": -3 }, { "minimum": 2, "maximum": 4 }] });
        let drawn = draws(bounds).unwrap();
        assert!(drawn.iter().all(|value| (2..=4).contains(&value.as_i64().unwrap())));
        for reached in 2..=4 {
            assert!(drawn.contains(&json!(reached)), "{reached}");
        }
    }

    #[test]
    fn texts_have_every_allowed_length() {
        let lengths = |schema: Value| -> BTreeSet<usize> {
            let drawn = draws(schema).unwrap();
            let length = |value: &Value| value.as_str().unwrap().chars().count();
            drawn.iter().map(length).collect()
        };
        let bounded = lengths(json!({ "type": "string", "minLength": 5, "maxLength": 8 }));
        assert_eq!(bounded, BTreeSet::from([5, 6, 7, 8]));
        let long = lengths(json!({ "type": "string", "minLength": 5, "maxLength": 1_000 }));
        // Up to twelve characters more than `minLength`, and the long boundary value.
        assert_eq!(long, (5..=17).chain([1_000]).collect());
        let short = lengths(json!({ "type": "string", "maxLength": 1 }));
        assert_eq!(short, BTreeSet::from([0, 1]));
        let same = json!({ "allOf": [{ "type": "string", "pattern": "^a{3}$" }, { "pattern": "^a{3}$" }] });
        assert!(draws(same).unwrap().iter().all(|value| value == "aaa"));
    }

    #[test]
    fn a_schema_without_a_type_has_the_type_of_its_keywords() {
        for (schema, is_one) in [
            (json!({ "minLength": 1 }), Value::is_string as fn(&Value) -> bool),
            (json!({ "pattern": "^[0-9]+$" }), Value::is_string),
            (json!({ "minimum": 1 }), Value::is_number),
            (json!({ "required": ["one"] }), Value::is_object),
            (json!({ "prefixItems": [{ "const": 1 }] }), Value::is_array),
        ] {
            assert!(draws(schema.clone()).unwrap().iter().all(is_one), "{schema}");
        }
        let any = draws(json!({})).unwrap();
        assert!(any.iter().any(Value::is_null) && any.iter().any(Value::is_boolean));
    }

    #[test]
    fn a_required_member_follows_its_schema() {
        let schema = json!({
            "type": "object", "required": ["one", "any"], "properties": { "one": { "const": 1 }, "two": {} }
        });
        let drawn = draws(schema).unwrap();
        assert!(drawn.iter().all(|value| value["one"] == 1 && value.get("any").is_some()));
        assert!(drawn.iter().any(|value| value.get("two").is_none()));
    }

    #[test]
    fn fractions_stay_within_whole_bounds() {
        let mut fractions = 0;
        for value in draws(json!({ "type": "number", "minimum": -2, "maximum": 3 })).unwrap() {
            let number: f64 = value.to_string().parse().unwrap();
            assert!((-2.0..=3.0).contains(&number), "{value}");
            fractions += usize::from(number.fract() != 0.0);
        }
        assert!(fractions > 30, "{fractions}");
        for most in [0, 1] {
            for value in draws(json!({ "type": "number", "minimum": 0, "maximum": most })).unwrap() {
                assert!(value.as_f64().unwrap() <= f64::from(most), "{value}");
            }
        }
    }

    #[test]
    fn contradictions_and_unknown_keywords_are_errors() {
        for schema in [
            json!({ "allOf": [{ "type": "string" }, { "type": "array" }] }),
            json!({ "allOf": [{ "const": 1 }, { "const": 2 }] }),
            json!({ "type": "string", "pattern": "a", "minLength": 1 }),
            json!({ "allOf": [{ "pattern": "a" }, { "pattern": "b" }] }),
            json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] }),
            json!({ "oneOf": [{ "required": ["a"], "type": "object" }, { "required": ["b"] }] }),
            json!({ "type": "array", "minItems": 1 }),
            json!({ "type": "array", "prefixItems": [{ "const": 1 }], "minItems": 2 }),
            json!({ "allOf": [{ "prefixItems": [{ "const": 1 }] }, { "items": { "const": 1 } }] }),
            json!({ "type": "number", "minimum": 0.5 }),
            json!({ "type": "text" }),
            json!({ "$ref": "elsewhere.schema.json" }),
            json!(false),
        ] {
            assert!(draws(schema.clone()).is_err(), "{schema}");
        }
    }
}
