//! JSON as it was received, on several lines, with the place of the violation marked. Duplicate members, the notation of numbers and
//! escapes are kept; only long strings and long lists are cut.

use std::fmt;

use maud::{Markup, PreEscaped, html};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::output::{cut, escape_controls};

/// Longer strings are cut in the middle.
const LONGEST_STRING: usize = 120;

/// Of longer lists only the beginning is shown, and what is marked.
const MOST_ITEMS: usize = 12;

/// What is shorter stands on one line.
const LINE: usize = 44;

/// A JSON text with the values at these pointers marked, or a note in the object that lacks one. None where the text is not JSON.
pub(super) fn marked(text: &str, pointers: &[&str]) -> Option<Markup> {
    let root = read(text)?;
    let steps: Vec<Vec<String>> = pointers.iter().map(|pointer| steps(pointer)).collect();
    let marks: Vec<&[String]> = steps.iter().map(Vec::as_slice).collect();
    Some(write(&root, &marks, 0))
}

/// How many characters a node takes on one line.
fn length(node: &Node<'_>) -> usize {
    match node {
        Node::Scalar(text) => text.len().min(LONGEST_STRING + 2),
        Node::Object(members) => {
            let inner = members.iter().map(|(name, value)| name.len() + length(value) + 4);
            inner.sum::<usize>() + 2
        }
        Node::Array(items) => items.iter().map(|item| length(item) + 2).sum::<usize>() + 2,
    }
}

/// Each mark has the steps that lead from here to what is marked.
fn write(node: &Node<'_>, marks: &[&[String]], depth: usize) -> Markup {
    let inner = match node {
        Node::Scalar(text) => scalar(text),
        Node::Object(members) => object(members, marks, depth, length(node) <= LINE),
        Node::Array(items) => array(items, marks, depth, length(node) <= LINE),
    };
    if is_marked(marks) && depth > 0 {
        html! { mark { (inner) } }
    } else {
        inner
    }
}

fn is_marked(marks: &[&[String]]) -> bool {
    marks.iter().any(|steps| steps.is_empty())
}

/// The marks below a member or an item.
fn below<'a>(marks: &[&'a [String]], is_next: impl Fn(&str) -> bool) -> Vec<&'a [String]> {
    let next = marks.iter().filter_map(|steps| steps.split_first());
    next.filter(|(step, _)| is_next(step)).map(|(_, rest)| rest).collect()
}

fn object(members: &[(&str, Node<'_>)], marks: &[&[String]], depth: usize, flat: bool) -> Markup {
    let mut lines: Vec<Markup> = members
        .iter()
        .map(|(name, value)| {
            let key = cut(&escape_controls(name), LONGEST_STRING);
            let rest = below(marks, |step| unquoted(name) == step);
            if is_marked(&rest) {
                html! { mark { span.k { (key) } ": " (write(value, &[], depth + 1)) } }
            } else {
                html! { span.k { (key) } ": " (write(value, &rest, depth + 1)) }
            }
        })
        .collect();
    let mut missing: Vec<&String> = marks.iter().filter_map(|steps| steps.first()).collect();
    missing.retain(|step| members.iter().all(|(name, _)| unquoted(name) != **step));
    missing.sort();
    missing.dedup();
    for step in missing {
        lines.push(html! { mark.missing { (escape_controls(&serde_json::Value::from(step.as_str()).to_string())) " is missing" } });
    }
    enclosed(["{", "}"], &lines, depth, flat)
}

fn array(items: &[Node<'_>], marks: &[&[String]], depth: usize, flat: bool) -> Markup {
    let mut lines = Vec::new();
    let mut hidden = 0;
    for (number, item) in items.iter().enumerate() {
        let rest = below(marks, |step| step.parse() == Ok(number));
        if number >= MOST_ITEMS && rest.is_empty() {
            hidden += 1;
            continue;
        }
        lines.push(write(item, &rest, depth + 1));
    }
    if hidden > 0 {
        lines.push(html! { span.note { "… " (hidden) " more" } });
    }
    enclosed(["[", "]"], &lines, depth, flat)
}

fn enclosed(ends: [&str; 2], lines: &[Markup], depth: usize, flat: bool) -> Markup {
    let [open, close] = ends;
    if flat {
        return html! { (open) @for (number, line) in lines.iter().enumerate() { @if number > 0 { ", " } (line) } (close) };
    }
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    html! {
        (open) "\n"
        @for (number, line) in lines.iter().enumerate() {
            (PreEscaped(&inner)) (line) @if number + 1 < lines.len() { "," } "\n"
        }
        (PreEscaped(&outer)) (close)
    }
}

fn scalar(text: &str) -> Markup {
    let kind = match text.as_bytes().first() {
        Some(b'"') => "s",
        Some(b't' | b'f' | b'n') => "l",
        _ => "n",
    };
    let shown = cut(&escape_controls(text), LONGEST_STRING);
    html! { span class=(kind) { (shown) } }
}

/// Parses a text; none where it is not JSON.
fn read(text: &str) -> Option<Node<'_>> {
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
fn steps(pointer: &str) -> Vec<String> {
    let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(unescape).collect()
}

/// The name of a member without quotes and escapes.
fn unquoted(name: &str) -> String {
    serde_json::from_str(name).unwrap_or_default()
}

/// A node of the tree.
enum Node<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str, pointer: &str) -> String {
        marked(json, &[pointer]).unwrap().into_string()
    }

    /// The markup without its tags.
    fn bare(markup: &str) -> String {
        let mut text = String::new();
        let mut inside = false;
        for letter in markup.chars() {
            match letter {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside => text.push(letter),
                _ => {}
            }
        }
        text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    }

    fn marks(markup: &str) -> Vec<String> {
        let parts = markup.split("<mark").skip(1);
        parts.map(|part| bare(&format!("<mark{}", part.split("</mark>").next().unwrap()))).collect()
    }

    #[test]
    fn the_place_is_marked() {
        let json =
            r#" {"id": 7, "result": {"feeQuotes": [{"symbol": "A"}, {"symbol": ""}], "a/b": [1, 2e3]} } "#;
        assert_eq!(marks(&text(json, "/result/feeQuotes/1/symbol")), [r#""symbol": """#]);
        assert_eq!(marks(&text(json, "/id")), [r#""id": 7"#]);
        assert_eq!(marks(&text(json, "/result/a~1b/1")), ["2e3"]);
        assert_eq!(marks(&text(json, "/result/MODE")), [r#""MODE" is missing"#]);
        assert_eq!(marks(&text(json, "/result/feeQuotes/0/decimal")), [r#""decimal" is missing"#]);
        assert!(marks(&text(json, "")).is_empty(), "a mark on everything marks nothing");
        assert!(marks(&marked(json, &[]).unwrap().into_string()).is_empty());
    }

    #[test]
    fn several_places_are_marked() {
        let json = r#"{"id": 7, "params": [{"nonce": "0", "sender": "0x1"}, {"mode": "ERC20"}]}"#;
        let shown =
            marked(json, &["/params/0/nonce", "/params/1/mode", "/params/0/initCode", "/id"]).unwrap();
        assert_eq!(
            marks(&shown.into_string()),
            [r#""id": 7"#, r#""nonce": "0""#, r#""initCode" is missing"#, r#""mode": "ERC20""#]
        );
    }

    #[test]
    fn nothing_but_white_space_changes() {
        let odd = r#"{"a":1,"a":1.0,"b":"\u0041\"}","c":[],"d":{},"e":[true,null,-1E+5],"f":"é"}"#;
        let shown = bare(&text(odd, "/a"));
        let squeezed: String = shown.split_whitespace().collect();
        assert_eq!(squeezed, odd);
        assert_eq!(marks(&text(odd, "/a")).len(), 2, "both of a member that stands twice");
        assert!(marked("{\"a\":", &[]).is_none());
        assert!(marked("", &[]).is_none());
    }

    #[test]
    fn markup_in_a_text_stays_text() {
        let shown = text(r#"{"</script><img src=x>":"<b>&amp;\u003c"}"#, "/x<y");
        assert!(!shown.contains("<img") && !shown.contains("</script") && !shown.contains("<b>"), "{shown}");
        assert!(shown.contains("&lt;/script&gt;"), "{shown}");
    }

    #[test]
    fn long_lists_keep_what_is_marked() {
        let json = format!("[{}]", (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
        let shown = text(&json, "/90");
        assert_eq!(marks(&shown), ["90"]);
        assert!(shown.contains("… 87 more"), "{shown}");
    }
}
