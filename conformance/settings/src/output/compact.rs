//! JSON for people: on one line where it fits, otherwise on several; long strings and lists are cut.

use crate::output::cut;
use paymaster_engine::json::encloses;
use serde_json::Value;

/// The longest string, in characters; longer ones are cut in the middle.
const LONGEST_STRING: usize = 66;

/// The largest number of items of a list; longer lists are cut.
const MOST_ITEMS: usize = 8;

/// Follows the line of a marked member.
const MARK: &str = "   <--";

/// Writes a value within `width` columns, every line but the first indented by `indent`; the members at these JSON pointers on lines of
/// their own, each followed by an arrow.
pub fn pretty_marked(value: &Value, marks: &[&str], indent: usize, width: usize) -> String {
    let writer = Writer { marks, apart: &[], width, folds: false };
    writer.pretty(value, "", indent, indent)
}

/// As [`pretty_marked`], with what stands between these members on one line each time, as far as it fits there, and then how much more
/// there is. The members `apart` have lines of their own too, without an arrow.
pub fn folded(value: &Value, marks: &[&str], apart: &[&str], indent: usize, width: usize) -> String {
    let writer = Writer { marks, apart, width, folds: true };
    writer.pretty(value, "", indent, indent)
}

struct Writer<'a> {
    marks: &'a [&'a str],
    apart: &'a [&'a str],
    width: usize,
    folds: bool,
}

impl Writer<'_> {
    /// The first line begins at column `from`.
    fn pretty(&self, value: &Value, pointer: &str, from: usize, indent: usize) -> String {
        let flat = inline(value);
        let opens = self.marks.iter().any(|mark| *mark != pointer && encloses(pointer, mark));
        // Folded, a value makes room for its mark. One column is reserved for a comma.
        let mark = if self.folds && self.marks.contains(&pointer) { MARK.len() } else { 0 };
        if !opens && flat.chars().count() + from + mark < self.width {
            return flat;
        }
        let is_apart = |place: &str| self.marks.iter().chain(self.apart).any(|mark| encloses(place, mark));
        let children = children(value);
        if children.is_empty()
            || self.folds && !opens && !children.iter().any(|child| is_apart(&child.place(pointer)))
        {
            return if self.folds {
                short(value, self.width.saturating_sub(from + MARK.len() + 1))
            } else {
                flat
            };
        }
        let inner = " ".repeat(indent + 2);
        let room = self.width.saturating_sub(inner.len() + 1);
        let most = if self.folds { children.len() } else { most(value, children.len()) };
        let (mut lines, mut run, mut hidden) = (Vec::new(), Vec::new(), 0);
        for (number, child) in children.iter().enumerate() {
            let place = child.place(pointer);
            if !is_apart(&place) && self.folds {
                run.push(child);
            } else if !is_apart(&place) && number >= most {
                hidden += 1;
            } else {
                lines.extend(fitting(&std::mem::take(&mut run), room).map(|text| (text, "")));
                let from = inner.len() + child.head.chars().count();
                let text = child.head.clone() + &self.pretty(child.value, &place, from, indent + 2);
                lines.push((text, if self.marks.contains(&place.as_str()) { MARK } else { "" }));
            }
        }
        lines.extend(fitting(&run, room).map(|text| (text, "")));
        lines.extend((hidden > 0).then(|| (format!("... {hidden} more"), "")));
        let [open, close] = ends(value);
        let last = lines.len().saturating_sub(1);
        let lines = lines.into_iter().enumerate().map(|(number, (text, mark))| {
            let comma = if number == last { "" } else { "," };
            format!("{inner}{text}{comma}{mark}\n")
        });
        format!("{open}\n{}{}{close}", lines.collect::<String>(), " ".repeat(indent))
    }
}

/// A member of an object, or an item of a list: what is written before its value, and the value.
struct Child<'a> {
    name: String,
    head: String,
    value: &'a Value,
}

impl Child<'_> {
    /// Its JSON pointer, from that of what has it.
    fn place(&self, outer: &str) -> String {
        format!("{outer}/{}", self.name.replace('~', "~0").replace('/', "~1"))
    }
}

/// What a list or an object has. Nothing for other values.
fn children(value: &Value) -> Vec<Child<'_>> {
    let member =
        |(name, value)| Child { name: String::clone(name), head: format!("{}: ", string(name)), value };
    let item = |(place, value): (usize, _)| Child { name: place.to_string(), head: String::new(), value };
    match value {
        Value::Object(members) => members.iter().map(member).collect(),
        Value::Array(items) => items.iter().enumerate().map(item).collect(),
        _ => Vec::new(),
    }
}

fn ends(value: &Value) -> [&'static str; 2] {
    if value.is_object() { ["{", "}"] } else { ["[", "]"] }
}

/// How many of so many items are shown.
fn most(value: &Value, items: usize) -> usize {
    if value.is_array() && items > MOST_ITEMS { MOST_ITEMS - 1 } else { items }
}

/// A value on one line of so many columns: whole, or as many members as fit, and how many more there are.
fn short(value: &Value, room: usize) -> String {
    let flat = inline(value);
    let [open, close] = ends(value);
    let inside = children(value);
    match value {
        _ if flat.chars().count() <= room => flat,
        Value::String(text) => Value::from(cut(text, room.saturating_sub(2).min(LONGEST_STRING))).to_string(),
        _ => match fitting(&inside.iter().collect::<Vec<_>>(), room.saturating_sub(2)) {
            Some(text) => format!("{open}{text}{close}"),
            None => flat,
        },
    }
}

/// As many members as fit into so many columns, and how many more there are. The first one is shortened where it is too long. None of none.
fn fitting(members: &[&Child<'_>], room: usize) -> Option<String> {
    let mut text = String::new();
    for (number, Child { head, value, .. }) in members.iter().enumerate() {
        let more = format!("... {} more", members.len() - number);
        let reserved = if number + 1 < members.len() { more.len() + 2 } else { 0 };
        let left = room.saturating_sub(text.chars().count() + 2 + head.chars().count() + reserved);
        text.push_str(if number == 0 { "" } else { ", " });
        if number > 0 && inline(value).chars().count() > left {
            return Some(text + &more);
        }
        text = text + head + &short(value, left);
    }
    (!members.is_empty()).then_some(text)
}

/// Writes a value on one line.
pub fn inline(value: &Value) -> String {
    match value {
        Value::String(content) => string(content),
        Value::Object(_) | Value::Array(_) => {
            let all = children(value);
            let shown = most(value, all.len());
            let parts = all[..shown].iter().map(|child| child.head.clone() + &inline(child.value));
            let more = (shown < all.len()).then(|| format!("... {} more", all.len() - shown));
            let [open, close] = ends(value);
            format!("{open}{}{close}", parts.chain(more).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn string(text: &str) -> String {
    Value::from(cut(text, LONGEST_STRING)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_stands_on_one_line() {
        assert_eq!(pretty_marked(&json!({"a": [1, "b"]}), &[], 0, 80), r#"{"a": [1, "b"]}"#);
    }

    #[test]
    fn marked_members_have_a_line_of_their_own() {
        let request = json!({"id": 1, "params": [{"sender": "0x1", "nonce": "0"}, {"mode": "ERC20"}]});
        let text = pretty_marked(&request, &["/params/0/nonce", "/id"], 0, 80);
        let expected = "{\n  \"id\": 1,   <--\n  \"params\": [\n    {\n      \"sender\": \"0x1\",\n      \"nonce\": \"0\"   <--\n    },\n    \
                        {\"mode\": \"ERC20\"}\n  ]\n}";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_has_no_mark_is_folded() {
        let quote = |decimal: Value| json!({"symbol": "USDC", "decimal": decimal, "tokenAddress": "0x27a44456bedb94dbd59d0f0a14fe977c"});
        let answer = json!({"feeQuotes": [quote(json!("6")), quote(json!(6))]});
        let text = folded(&answer, &["/feeQuotes/0/decimal"], &[], 0, 60);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert!(lines.contains(&"\"decimal\": \"6\",   <--"), "{text}");
        assert!(lines.contains(&"\"symbol\": \"USDC\","), "{text}");
        assert_eq!(lines.iter().filter(|line| line.contains("decimal")).count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }

    #[test]
    fn the_name_of_a_member_counts() {
        for width in 20..60 {
            let text = pretty_marked(&json!({"a": {"b": {"name": "abcdefg", "c": 1}}}), &[], 4, width);
            assert!(text.lines().all(|line| line.chars().count() <= width.max(28)), "{width}: {text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_broken_and_cut() {
        let value = json!({"method": "m", "params": [{"sender": "0x1", "callData": "0".repeat(500)}, (0..20).collect::<Vec<_>>()]});
        let text = pretty_marked(&value, &[], 2, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60 || line.contains("characters")), "{text}");
        assert!(text.contains("...(500 characters)..."), "{text}");
        assert!(text.contains("... 13 more"), "{text}");
        assert!(text.ends_with("\n  }"), "{text}");
    }
}
