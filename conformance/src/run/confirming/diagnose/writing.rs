//! The way a request is written as a cause: the order of its members, white space and escapes.

use serde_json::Value;

use super::{Diagnosis, Search, parsed};
use paymaster_engine::cases::Role;
use paymaster_engine::diagnosis::{Cause, Contrast, Writing};
use paymaster_engine::session::Outcome;

impl Search<'_> {
    /// Whether the way in which the request is written decides: the same values are sent otherwise, and one thing is changed at a time. White
    /// space and escapes are left out, each alone and then both. In a request without these, the members stand in the order of a request for
    /// which the rule held.
    pub(super) async fn writing(&mut self) -> Option<Diagnosis> {
        let member = self.finding.group.members.get(self.finding.violation.member)?;
        let own = std::str::from_utf8(&member.body).ok()?.to_owned();
        let value: Value = serde_json::from_str(&own).ok()?;
        let plain = value.to_string();
        let forms = if plain == own {
            vec![(Writing::Order, in_the_order_of(&value, &self.model_of_writing()).to_string())]
        } else {
            let without_white_space = rewritten(&own, true, false);
            let without_escapes = rewritten(&own, false, true);
            vec![
                (Writing::WhiteSpace, without_white_space),
                (Writing::Escapes, without_escapes),
                (Writing::WhiteSpaceAndEscapes, plain),
            ]
        };
        for (writing, text) in forms {
            if text == own {
                continue;
            }
            let Some(contrast) = self.right_when_written(text).await else { continue };
            // Where the number of bytes decides, one more makes the request right: it is written as before.
            return match self.right_when_written(format!("{own} ")).await {
                None => Some(Diagnosis::with(Cause::Writing(writing), contrast)),
                Some(_) => None,
            };
        }
        None
    }

    /// The contrast where the rule holds for the request with this text. Its answer may be of another kind: the same values must get the same
    /// answer.
    async fn right_when_written(&mut self, text: String) -> Option<Contrast> {
        let member = self.finding.violation.member;
        let mut group = self.finding.group.clone();
        group.members.get_mut(member)?.body = text.into();
        let (exchanges, outcome) = self.send(&group).await?;
        (outcome == Outcome::Held).then_some(Contrast { group, exchanges, member })
    }

    /// A request that is written in the usual way: the one to compare with in the group, or one for which the rule held.
    fn model_of_writing(&self) -> Value {
        let group = &self.finding.group;
        let model = if self.judges_groups() {
            let mut members = group.members.iter();
            members.find(|member| member.role == Role::Baseline).and_then(parsed)
        } else {
            let examples = self.material.session.tally.examples(self.resender.rule, self.finding.pair);
            let mut members = examples.iter().filter_map(|example| example.group.members.get(example.member));
            members.find_map(parsed)
        };
        model.unwrap_or_else(|| group.base.clone())
    }
}

/// The value with the members of every object in the order of a model, where that has them, and the others behind them.
fn in_the_order_of(value: &Value, model: &Value) -> Value {
    match (value, model) {
        (Value::Object(members), Value::Object(model)) => {
            let first = model.keys().filter(|name| members.contains_key(*name));
            let rest = members.keys().filter(|name| !model.contains_key(*name));
            let ordered = first.chain(rest).map(|name| {
                let model = model.get(name).unwrap_or(&Value::Null);
                (name.clone(), in_the_order_of(&members[name], model))
            });
            Value::Object(ordered.collect())
        }
        (Value::Array(items), Value::Array(model)) => {
            let item = |(index, item): (usize, &Value)| {
                in_the_order_of(item, model.get(index).unwrap_or(&Value::Null))
            };
            Value::Array(items.iter().enumerate().map(item).collect())
        }
        _ => value.clone(),
    }
}

/// The JSON text without white space between its tokens, or without escapes in its texts that these do not need, or without both.
fn rewritten(text: &str, without_white_space: bool, without_escapes: bool) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '"' { length_of_text(rest) } else { letter.len_utf8() };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        match serde_json::from_str::<String>(token) {
            Ok(plain) if without_escapes => written += &Value::from(plain).to_string(),
            _ if without_white_space && letter.is_ascii_whitespace() => {}
            _ => written += token,
        }
    }
    written
}

/// How long the JSON string is with which a text begins, in bytes and with its quotation marks.
fn length_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_changed_at_a_time() {
        let text = "{ \"\\u0061\\\"\" : [\"x y\" ,\t\"\\\\\", 1.50]\n}";
        for (white_space, escapes, expected) in [
            (true, false, "{\"\\u0061\\\"\":[\"x y\",\"\\\\\",1.50]}"),
            (false, true, "{ \"a\\\"\" : [\"x y\" ,\t\"\\\\\", 1.50]\n}"),
            (true, true, "{\"a\\\"\":[\"x y\",\"\\\\\",1.50]}"),
        ] {
            assert_eq!(rewritten(text, white_space, escapes), expected);
        }
    }
}
