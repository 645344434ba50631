//! JSON as it was received, on several lines, with the place of the violation marked. Duplicate members, the notation of numbers and
//! escapes are kept; only long strings and long lists are cut.

use maud::{Markup, PreEscaped, html};

use crate::report::text::{
    compact::cut,
    raw_json::{self, Node, unquoted},
};
use paymaster_cli::terminal::escape_controls;

/// Longer strings are cut in the middle.
const LONGEST_STRING: usize = 120;

/// Of longer lists only the beginning is shown, and what is marked.
const MOST_ITEMS: usize = 12;

/// What is shorter stands on one line.
const LINE: usize = 44;

/// A JSON text with the value at `pointer` marked, or a note in the object that lacks it. None where the text is not JSON.
pub(crate) fn marked(text: &str, pointer: Option<&str>) -> Option<Markup> {
    let root = raw_json::read(text)?;
    let steps = pointer.map(raw_json::steps);
    Some(write(&root, steps.as_deref(), 0))
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

/// `steps` leads from here to what is marked; none when it is elsewhere.
fn write(node: &Node<'_>, steps: Option<&[String]>, depth: usize) -> Markup {
    let marked = steps.is_some_and(<[String]>::is_empty) && depth > 0;
    let inner = match node {
        Node::Scalar(text) => scalar(text),
        Node::Object(members) => object(members, steps, depth, length(node) <= LINE),
        Node::Array(items) => array(items, steps, depth, length(node) <= LINE),
    };
    if marked {
        html! { mark { (inner) } }
    } else {
        inner
    }
}

fn object(members: &[(&str, Node<'_>)], steps: Option<&[String]>, depth: usize, flat: bool) -> Markup {
    let next = steps.and_then(|steps| steps.split_first());
    let leads = |name: &str| {
        next.filter(|(step, _)| unquoted(name) == **step)
            .map(|(_, rest)| rest)
    };
    let missing = next
        .filter(|(step, _)| members.iter().all(|(name, _)| unquoted(name) != **step))
        .map(|(step, _)| step);
    let mut lines: Vec<Markup> = members
        .iter()
        .map(|(name, value)| {
            let rest = leads(name);
            let line = html! { span.k { (cut(&escape_controls(name), LONGEST_STRING)) } ": " (write(value, rest, depth + 1)) };
            if rest.is_some_and(<[String]>::is_empty) {
                html! { mark { span.k { (cut(&escape_controls(name), LONGEST_STRING)) } ": " (write(value, None, depth + 1)) } }
            } else {
                line
            }
        })
        .collect();
    if let Some(step) = missing {
        lines.push(html! { mark.missing { (escape_controls(&serde_json::Value::from(step.as_str()).to_string())) " is missing" } });
    }
    enclosed(["{", "}"], &lines, depth, flat)
}

fn array(items: &[Node<'_>], steps: Option<&[String]>, depth: usize, flat: bool) -> Markup {
    let next = steps.and_then(|steps| steps.split_first());
    let place = next.and_then(|(step, _)| step.parse::<usize>().ok());
    let mut lines = Vec::new();
    let mut hidden = 0;
    for (number, item) in items.iter().enumerate() {
        let rest = next.filter(|_| place == Some(number)).map(|(_, rest)| rest);
        if number >= MOST_ITEMS && rest.is_none() {
            hidden += 1;
            continue;
        }
        lines.push(write(item, rest, depth + 1));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str, pointer: &str) -> String {
        marked(json, Some(pointer)).unwrap().into_string()
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
        text.replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }

    fn marks(markup: &str) -> Vec<String> {
        let parts = markup.split("<mark").skip(1);
        parts
            .map(|part| bare(&format!("<mark{}", part.split("</mark>").next().unwrap())))
            .collect()
    }

    #[test]
    fn the_place_is_marked() {
        let json =
            r#" {"id": 7, "result": {"feeQuotes": [{"symbol": "A"}, {"symbol": ""}], "a/b": [1, 2e3]} } "#;
        assert_eq!(
            marks(&text(json, "/result/feeQuotes/1/symbol")),
            [r#""symbol": """#]
        );
        assert_eq!(marks(&text(json, "/id")), [r#""id": 7"#]);
        assert_eq!(marks(&text(json, "/result/a~1b/1")), ["2e3"]);
        assert_eq!(marks(&text(json, "/result/MODE")), [r#""MODE" is missing"#]);
        assert_eq!(
            marks(&text(json, "/result/feeQuotes/0/decimal")),
            [r#""decimal" is missing"#]
        );
        assert!(
            marks(&text(json, "")).is_empty(),
            "a mark on everything marks nothing"
        );
        assert!(marks(&marked(json, None).unwrap().into_string()).is_empty());
    }

    #[test]
    fn nothing_but_white_space_changes() {
        let odd = r#"{"a":1,"a":1.0,"b":"\u0041\"}","c":[],"d":{},"e":[true,null,-1E+5],"f":"é"}"#;
        let shown = bare(&text(odd, "/a"));
        let squeezed: String = shown.split_whitespace().collect();
        assert_eq!(squeezed, odd);
        assert_eq!(
            marks(&text(odd, "/a")).len(),
            2,
            "both of a member that stands twice"
        );
        assert!(marked("{\"a\":", None).is_none());
        assert!(marked("", None).is_none());
    }

    #[test]
    fn markup_in_a_text_stays_text() {
        let shown = text(r#"{"</script><img src=x>":"<b>&amp;\u003c"}"#, "/x<y");
        assert!(
            !shown.contains("<img") && !shown.contains("</script") && !shown.contains("<b>"),
            "{shown}"
        );
        assert!(shown.contains("&lt;/script&gt;"), "{shown}");
    }

    #[test]
    fn long_lists_keep_what_is_marked() {
        let json = format!(
            "[{}]",
            (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        );
        let shown = text(&json, "/90");
        assert_eq!(marks(&shown), ["90"]);
        assert!(shown.contains("… 87 more"), "{shown}");
    }
}
