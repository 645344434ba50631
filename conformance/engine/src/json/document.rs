//! A strict JSON parser for answers. It reports repeated members, which ordinary parsers drop.

use std::{cell::Cell, collections::BTreeMap, fmt};

use paymaster_exchange::Body;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, map::Entry};

use super::pointer::escaped;

/// A JSON text: its value, and the members that are repeated in it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value. Of a repeated member, the last value is kept.
    pub value: Value,
    /// Members that occur more than once in their object.
    pub duplicates: Vec<Duplicate>,
}

/// A member that occurs more than once in one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// Where the member is, as a JSON pointer.
    pub pointer: String,
    /// Whether its values differ. Parsers then disagree about the value.
    pub conflicting: bool,
}

/// Why bytes were not read as a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct NotJson {
    /// What is wrong, in words.
    pub cause: String,
    /// True when the text only exceeds a bound of this judge. The specification sets no bounds (section 8), so this is not a
    /// violation.
    pub is_our_limit: bool,
}

impl NotJson {
    /// Something is wrong with the bytes.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_our_limit: false }
    }

    /// The text exceeds a bound of this judge.
    pub fn our_limit(cause: String) -> Self {
        Self { cause, is_our_limit: true }
    }
}

impl Document {
    /// Reads the JSON text of a body once: what was read of it is kept with it.
    pub fn read(body: &Body) -> Result<&Self, NotJson> {
        // Nothing else reads the body of an answer.
        let kept = body.read(Self::parse).ok_or_else(|| NotJson::new("the body of a request"))?;
        kept.as_ref().map_err(Clone::clone)
    }

    /// Reads one JSON text that fills all of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotJson> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(NotJson::new(if bytes.is_empty() { "an empty body" } else { "only white space" }));
        }
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            return Err(NotJson::new("a byte order mark in front"));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|cause| NotJson::new(format!("invalid UTF-8 at byte {}", cause.valid_up_to())))?;
        let mut duplicates = Vec::new();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let left = Cell::new(Some(MOST_VALUES));
        let seed = Node { duplicates: &mut duplicates, left: &left };
        let value = seed.deserialize(&mut deserializer).map_err(|cause| {
            let message = cause.to_string();
            if message.starts_with("recursion limit") {
                NotJson::our_limit(format!("JSON nested deeper than {DEEPEST} levels"))
            } else if left.get().is_none() {
                NotJson::our_limit(format!("JSON of more than {MOST_VALUES} values"))
            } else {
                NotJson::new(format!("no JSON: {message}"))
            }
        })?;
        deserializer.end().map_err(|_| NotJson::new("more bytes after the JSON text"))?;
        Ok(Self { value, duplicates })
    }
}

/// The most values that one text may have: each takes many times its bytes in memory.
const MOST_VALUES: usize = 100_000;

/// The nesting limit of `serde_json`, in levels.
const DEEPEST: usize = 127;

/// A value that is to be read.
struct Node<'a> {
    /// The duplicates found so far. Each object and list puts the member or index in front of the pointers of those found inside of it.
    duplicates: &'a mut Vec<Duplicate>,
    /// How many values may follow; none once there were more.
    left: &'a Cell<Option<usize>>,
}

/// The key under which serde_json, with arbitrary precision, hands a number's text to a visitor.
const NUMBER_KEY: &str = "$serde_json::private::Number";

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(1)));
        if self.left.get().is_none() {
            return Err(D::Error::custom("too many values"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let known = self.duplicates.len();
            let seed = Node { duplicates: &mut *self.duplicates, left: self.left };
            let Some(item) = items.next_element_seed(seed)? else { return Ok(Value::Array(array)) };
            for found in &mut self.duplicates[known..] {
                found.pointer = format!("/{}{}", array.len(), found.pointer);
            }
            array.push(item);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        // A sorted map: the same text must give the same duplicates in the same order.
        let mut repeated: BTreeMap<String, bool> = BTreeMap::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == NUMBER_KEY && object.is_empty() {
                let text: Value = members.next_value()?;
                let number = text.as_str().and_then(|text| serde_json::from_str::<Number>(text).ok());
                match number {
                    Some(number) => return Ok(Value::Number(number)),
                    None => object.insert(name, text),
                };
                continue;
            }
            let known = self.duplicates.len();
            let seed = Node { duplicates: &mut *self.duplicates, left: self.left };
            let value = members.next_value_seed(seed)?;
            for found in &mut self.duplicates[known..] {
                found.pointer = format!("/{}{}", escaped(&name), found.pointer);
            }
            match object.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(mut entry) => {
                    let conflicting = *entry.get() != value;
                    *repeated.entry(entry.key().clone()).or_default() |= conflicting;
                    entry.insert(value);
                }
            }
        }
        for (name, conflicting) in repeated {
            let pointer = format!("/{}", escaped(&name));
            self.duplicates.push(Duplicate { pointer, conflicting });
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        for text in ["232808808808808800000", "1.10", "-0", "1E+400", "9007199254740993", "[1,2.5]"] {
            let document = Document::parse(text.as_bytes()).unwrap();
            assert_eq!(document.value, serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn every_kind_of_invalid_json_has_its_cause() {
        let refused = |bytes: &[u8]| Document::parse(bytes).unwrap_err().cause;
        assert_eq!(refused(b""), "an empty body");
        assert_eq!(refused(b" \r\n"), "only white space");
        assert_eq!(refused(b"\xEF\xBB\xBF{}"), "a byte order mark in front");
        assert_eq!(refused(b"{\"a\":\"\xFF\"}"), "invalid UTF-8 at byte 6");
        assert_eq!(refused(b"{}{}"), "more bytes after the JSON text");
        for text in ["{\"a\":NaN}", "{\"a\":1,}", "{'a':1}", "nul", "<html>", "{\"a\":01}"] {
            assert!(refused(text.as_bytes()).starts_with("no JSON"), "{text}");
        }
        assert!(Document::parse(b" {} \r\n").is_ok());
    }

    #[test]
    fn json_beyond_our_limits_is_not_invalid() {
        let refused = |text: &str| Document::parse(text.as_bytes()).unwrap_err().cause;
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Document::parse(nested(DEEPEST).as_bytes()).is_ok());
        for depth in [DEEPEST + 1, 100_000] {
            assert!(refused(&nested(depth)).starts_with("JSON nested deeper than 127 levels"));
        }
        let wide = |values: usize| format!("[{}0]", "0,".repeat(values - 2));
        assert!(Document::parse(wide(MOST_VALUES).as_bytes()).is_ok());
        assert!(refused(&wide(MOST_VALUES + 1)).starts_with("JSON of more than 100000 values"));
    }

    #[test]
    fn repeated_members_are_sorted() {
        let text = r#"{"f":1,"b":1,"d":1,"a":1,"e":1,"c":1,"c":1,"e":1,"a":1,"d":1,"b":1,"f":1}"#;
        let document = Document::parse(text.as_bytes()).unwrap();
        let pointers: Vec<&str> =
            document.duplicates.iter().map(|duplicate| duplicate.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a", "/b", "/c", "/d", "/e", "/f"]);
    }

    #[test]
    fn repeated_members_are_found_at_any_depth() {
        let document = Document::parse(br#"{"a":[{"b/c":1,"b/c":1}],"d":1,"e":0,"d":2}"#).unwrap();
        assert_eq!(
            document.duplicates,
            [
                Duplicate { pointer: "/a/0/b~1c".into(), conflicting: false },
                Duplicate { pointer: "/d".into(), conflicting: true },
            ]
        );
    }
}
