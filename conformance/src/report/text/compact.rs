//! JSON for people: on one line where it fits, otherwise on several; long strings and lists are cut.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The longest string, in characters; longer ones are cut in the middle.
const LONGEST_STRING: usize = 66;

/// The largest number of items of a list; longer lists are cut.
const MOST_ITEMS: usize = 8;

/// Follows the line of a marked member.
const MARK: &str = "   <--";

/// Writes a value within `width` columns, every line but the first indented by `indent`.
pub(crate) fn pretty(value: &Value, indent: usize, width: usize) -> String {
    pretty_marked(value, &[], indent, width)
}

/// As [`pretty`], with the members at these JSON pointers on lines of their own, each followed by an arrow.
pub(crate) fn pretty_marked(value: &Value, marks: &[&str], indent: usize, width: usize) -> String {
    let writer = Writer { marks, width, folds: false };
    writer.pretty(value, "", indent, indent)
}

/// As [`pretty_marked`], with everything that has no mark inside on one line, cut where it is too long.
pub(crate) fn folded(value: &Value, marks: &[&str], indent: usize, width: usize) -> String {
    let writer = Writer { marks, width, folds: true };
    writer.pretty(value, "", indent, indent)
}

struct Writer<'a> {
    marks: &'a [&'a str],
    width: usize,
    /// Whether values without a mark inside are cut to one line.
    folds: bool,
}

impl Writer<'_> {
    /// The first line begins at column `from`.
    fn pretty(&self, value: &Value, pointer: &str, from: usize, indent: usize) -> String {
        let flat = inline(value);
        let is_inside = |mark: &&&str| mark.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        let has_mark = self.marks.iter().any(|mark| is_inside(&mark));
        // One column is reserved for a comma.
        if !has_mark && flat.chars().count() + from < self.width {
            return flat;
        }
        if self.folds && !has_mark {
            // The arrow may follow.
            return cut(&flat, self.width.saturating_sub(from + MARK.len()));
        }
        let inner = " ".repeat(indent + 2);
        let lines: Vec<Line> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| {
                    let head = format!("{inner}{}: ", string(name));
                    let from = head.chars().count();
                    let place = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                    Line {
                        text: format!("{head}{}", self.pretty(value, &place, from, indent + 2)),
                        is_marked: self.marks.contains(&place.as_str()),
                    }
                })
                .collect(),
            Value::Array(items) => shortened(items)
                .enumerate()
                .map(|(index, item)| match item {
                    Ok(item) => {
                        let place = format!("{pointer}/{index}");
                        Line {
                            text: format!("{inner}{}", self.pretty(item, &place, indent + 2, indent + 2)),
                            is_marked: self.marks.contains(&place.as_str()),
                        }
                    }
                    Err(more) => Line { text: format!("{inner}... {more} more"), is_marked: false },
                })
                .collect(),
            _ => return flat,
        };
        let outer = " ".repeat(indent);
        let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
        let mut text = format!("{open}\n");
        let last = lines.len().saturating_sub(1);
        for (number, line) in lines.into_iter().enumerate() {
            text.push_str(&line.text);
            text.push_str(if number == last { "" } else { "," });
            text.push_str(if line.is_marked { MARK } else { "" });
            text.push('\n');
        }
        text + &outer + &close.to_string()
    }
}

/// A member or an item of a list, which may be several lines long.
struct Line {
    text: String,
    is_marked: bool,
}

/// Writes a value on one line.
pub(crate) fn inline(value: &Value) -> String {
    let mut text = String::new();
    write_inline(value, &mut text);
    text
}

fn write_inline(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            text.push('{');
            for (number, (name, value)) in members.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                // Writing to a String cannot fail.
                let _ = write!(text, "{}: ", string(name));
                write_inline(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (number, item) in shortened(items).enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                match item {
                    Ok(item) => write_inline(item, text),
                    Err(more) => {
                        let _ = write!(text, "... {more} more");
                    }
                }
            }
            text.push(']');
        }
        Value::String(content) => text.push_str(&string(content)),
        other => text.push_str(&other.to_string()),
    }
}

fn shortened(items: &[Value]) -> impl Iterator<Item = Result<&Value, usize>> {
    let shown = if items.len() > MOST_ITEMS { MOST_ITEMS - 1 } else { items.len() };
    let more = items.len() - shown;
    items[..shown].iter().map(Ok).chain((more > 0).then_some(Err(more)))
}

fn string(text: &str) -> String {
    Value::from(cut(text, LONGEST_STRING)).to_string()
}

/// The members of an object, such as a dialect, as texts.
pub(crate) fn members(object: &Map<String, Value>) -> Vec<(&String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    object.iter().map(|(name, value)| (name, text(value))).collect()
}

/// Cuts a text in the middle where it is longer than `longest` characters.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let note = format!("...({count} characters)...");
    let keep = longest.saturating_sub(note.len());
    let head: String = text.chars().take(keep.div_ceil(2)).collect();
    let tail: String = text.chars().skip(count - keep / 2).collect();
    format!("{head}{note}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_stands_on_one_line() {
        assert_eq!(pretty(&json!({"a": [1, "b"]}), 0, 80), r#"{"a": [1, "b"]}"#);
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
        let text = folded(&answer, &["/feeQuotes/0/decimal"], 0, 60);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert!(lines.contains(&"\"decimal\": \"6\",   <--"), "{text}");
        assert_eq!(lines.iter().filter(|line| line.contains("decimal")).count(), 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }

    #[test]
    fn the_name_of_a_member_counts() {
        for width in 20..60 {
            let text = pretty(&json!({"a": {"b": {"name": "abcdefg", "c": 1}}}), 4, width);
            assert!(text.lines().all(|line| line.chars().count() <= width.max(28)), "{width}: {text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_broken_and_cut() {
        let value = json!({"method": "m", "params": [{"sender": "0x1", "callData": "0".repeat(500)}, (0..20).collect::<Vec<_>>()]});
        let text = pretty(&value, 2, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60 || line.contains("characters")), "{text}");
        assert!(text.contains("...(500 characters)..."), "{text}");
        assert!(text.contains("... 13 more"), "{text}");
        assert!(text.ends_with("\n  }"), "{text}");
    }
}
