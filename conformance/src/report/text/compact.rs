//! JSON for people: on one line where it fits, otherwise on several; long strings and lists are cut.

use std::fmt::Write;

use serde_json::Value;

/// The longest string, in characters; longer ones are cut in the middle.
const LONGEST_STRING: usize = 66;

/// The largest number of items of a list; longer lists are cut.
const MOST_ITEMS: usize = 8;

/// Writes a value within `width` columns, every line but the first indented by `indent`.
pub(crate) fn pretty(value: &Value, indent: usize, width: usize) -> String {
    pretty_from(value, indent, indent, width)
}

/// As [`pretty`], with the first line beginning at column `from`.
fn pretty_from(value: &Value, from: usize, indent: usize, width: usize) -> String {
    let flat = inline(value);
    // One column is reserved for a comma.
    if flat.chars().count() + from < width {
        return flat;
    }
    let inner = " ".repeat(indent + 2);
    let lines: Vec<String> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let head = format!("{inner}{}: ", string(name));
                let from = head.chars().count();
                format!("{head}{}", pretty_from(value, from, indent + 2, width))
            })
            .collect(),
        Value::Array(items) => shortened(items)
            .map(|item| match item {
                Ok(item) => format!("{inner}{}", pretty_from(item, indent + 2, indent + 2, width)),
                Err(more) => format!("{inner}... {more} more"),
            })
            .collect(),
        _ => return flat,
    };
    let outer = " ".repeat(indent);
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    format!("{open}\n{}\n{outer}{close}", lines.join(",\n"))
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
    let shown = if items.len() > MOST_ITEMS {
        MOST_ITEMS - 1
    } else {
        items.len()
    };
    let more = items.len() - shown;
    items[..shown]
        .iter()
        .map(Ok)
        .chain((more > 0).then_some(Err(more)))
}

fn string(text: &str) -> String {
    Value::from(cut(text, LONGEST_STRING)).to_string()
}

/// The members of a value that serializes to an object, such as a dialect, as texts.
pub(crate) fn members(value: &impl serde::Serialize) -> Vec<(String, String)> {
    let Ok(Value::Object(members)) = serde_json::to_value(value) else {
        return Vec::new();
    };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    members
        .into_iter()
        .map(|(name, value)| (name, text(value)))
        .collect()
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
    fn the_name_of_a_member_counts() {
        for width in 20..60 {
            let text = pretty(&json!({"a": {"b": {"name": "abcdefg", "c": 1}}}), 4, width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width.max(28)),
                "{width}: {text}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_broken_and_cut() {
        let value = json!({"method": "m", "params": [{"sender": "0x1", "callData": "0".repeat(500)}, (0..20).collect::<Vec<_>>()]});
        let text = pretty(&value, 2, 60);
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= 60 || line.contains("characters")),
            "{text}"
        );
        assert!(text.contains("...(500 characters)..."), "{text}");
        assert!(text.contains("... 13 more"), "{text}");
        assert!(text.ends_with("\n  }"), "{text}");
    }
}
