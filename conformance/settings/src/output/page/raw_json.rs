//! A JSON syntax tree that keeps the source text: duplicate members, the notation of numbers, and the position of each node.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Parses a text; none where it is not JSON.
pub(super) fn read(text: &str) -> Option<Node<'_>> {
    Some(match text.trim_start().bytes().next()? {
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            let members = members.into_iter().map(|(name, value)| Some((name.get(), read(value.get())?)));
            Node::Object(members.collect::<Option<_>>()?)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            Node::Array(items.into_iter().map(|item| read(item.get())).collect::<Option<_>>()?)
        }
        _ => Node::Scalar(serde_json::from_str::<&RawValue>(text).ok()?.get()),
    })
}

/// The steps of a JSON pointer (RFC 6901).
pub(super) fn steps(pointer: &str) -> Vec<String> {
    let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(unescape).collect()
}

/// The name of a member without quotes and escapes.
pub(super) fn unquoted(name: &str) -> String {
    serde_json::from_str(name).unwrap_or_default()
}

/// A node of the tree.
pub(super) enum Node<'a> {
    /// A string, number, or literal, as written in the text.
    Scalar(&'a str),
    /// Members with their names as written in the text, quotes included.
    Object(Vec<(&'a str, Node<'a>)>),
    /// Items.
    Array(Vec<Node<'a>>),
}

/// The members of an object in their order, each as often as the text has it.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(member) = map.next_entry()? {
            self.0.push(member);
        }
        Ok(self)
    }
}
