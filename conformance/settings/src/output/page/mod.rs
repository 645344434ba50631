//! What the HTML pages of both programs have in common: the frame with style, script and a policy that forbids everything else, the
//! verdict at the top, and a request beside its answer. A page is one file, loads nothing, and can be read without scripts.

mod json;

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::output::{Head, cut, escape_controls, number};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The longest text that is not JSON, in characters; longer ones are cut.
const LONGEST_TEXT: usize = 2000;

/// What one kind of page has besides the style and the script of all pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// Its style sheet.
    pub style: &'static str,
    /// Its script.
    pub script: &'static str,
}

/// A complete page. Its policy allows only our style and script and forbids loading anything, so that markup in a text of a target
/// would have no effect.
pub fn document(title: &str, own: Own, body: &Markup) -> String {
    let (style, script) = (STYLE.to_owned() + own.style, SCRIPT.to_owned() + own.script);
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        digest(&style),
        digest(&script)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                script { (PreEscaped(script)) }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn digest(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// The verdict, and what stands below it.
pub fn head(head: &Head, below: &Markup) -> Markup {
    html! {
        header.verdict data-state=(head.state) {
            div.inner {
                p.tool { (head.tool) }
                h1 {
                    span.word { (head.word) }
                    @if !head.limits.is_empty() { span.limits { (head.limits.to_string().trim_start_matches([':', ';', ' '])) } }
                    " "
                    span.target { (escape_controls(&head.target)) }
                }
                (below)
            }
        }
    }
}

/// How many there are of each state, as a bar and as numbers: the name of the state, its word and its number. The bar is hidden from screen
/// readers, because the numbers are beside it.
pub fn counts<'a>(all: impl Iterator<Item = (&'a str, &'a str, u64)>) -> Markup {
    let mut sum = 0;
    let parts: Vec<_> = all
        .filter(|(_, _, number)| *number > 0)
        .map(|(state, word, number)| {
            sum += number;
            (state, word, sum - number, number)
        })
        .collect();
    html! {
        svg.bar viewBox=(format!("0 0 {} 1", sum.max(1))) preserveAspectRatio="none" aria-hidden="true" {
            @for (state, _, from, number) in &parts {
                rect data-state=(state) x=(from) y="0" width=(number) height="1" {}
            }
        }
        p.counts {
            @for (state, word, _, times) in &parts {
                span.count data-state=(state) { b { (number(*times)) } " " (word) }
            }
        }
    }
}

/// An id that a narrow window breaks after a dot, never in a word.
pub fn id(id: &str) -> Markup {
    html! {
        @for (place, part) in id.split('.').enumerate() {
            @if place > 0 { "." wbr; }
            (part)
        }
    }
}

/// A request or an answer: its caption, and its body with the places that are marked in it, as JSON pointers, or a sentence where
/// there is no body.
pub fn side(caption: &Markup, body: Result<(&str, &[&str]), &str>) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            @match body {
                // JSON stands in lines with the places marked, other text as it is.
                Ok((text, pointers)) if !text.is_empty() => pre tabindex="0" {
                    code {
                        @match json::marked(text, pointers) {
                            Some(marked) => (marked),
                            None => (cut(&escape_controls(text), LONGEST_TEXT)),
                        }
                    }
                },
                Ok(_) => p.none { "empty body" },
                Err(why) => p.none { (escape_controls(why)) },
            }
        }
    }
}

/// A command, and a button that copies it.
pub fn copyable(id: &str, name: &str, line: &str) -> Markup {
    html! {
        div.command {
            div.top { span { (name) } button.copy type="button" data-copy=(id) { "Copy" span.quiet { " the " (name) " line" } } }
            pre id=(id) tabindex="0" { code { (line) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use paymaster_engine::verdict::counts::RuleState;

    use super::*;

    #[test]
    fn every_state_has_a_colour() {
        for state in RuleState::ALL {
            let name = state.name();
            assert!(
                STYLE.contains(&format!("[data-state=\"{name}\"] {{ --own: var(--{name}); }}")),
                "{name}"
            );
            assert_eq!(STYLE.matches(&format!("--{name}: #")).count(), 2, "{name}: light and dark");
        }
    }

    #[test]
    fn a_body_that_is_missing_or_no_json_is_said_and_escaped() {
        let shown = |body| side(&html! { "Answer" }, body).into_string();
        assert!(shown(Ok(("", &[]))).contains("<p class=\"none\">empty body</p>"));
        assert!(shown(Ok(("<b>\u{202e}", &[]))).contains("<code>&lt;b&gt;\\u{202e}</code>"));
        assert!(shown(Err("<b>")).contains("<p class=\"none\">&lt;b&gt;</p>"));
    }
}
