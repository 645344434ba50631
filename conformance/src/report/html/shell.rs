//! The frame of every page: head, style, script, and a policy that forbids everything else.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::report::counts::{Counts, RuleState};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A complete page. Its policy allows only our style and script and forbids loading anything, so that markup in a text of a target
/// would have no effect.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
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
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
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

/// A bar with the share of each state. It is hidden from screen readers: the numbers are beside it.
pub(crate) fn bar(counts: &Counts) -> Markup {
    let mut from = 0;
    let parts: Vec<(RuleState, usize, usize)> = RuleState::ALL
        .into_iter()
        .map(|state| {
            let number = counts.get(state);
            from += number;
            (state, from - number, number)
        })
        .filter(|(_, _, number)| *number > 0)
        .collect();
    html! {
        svg.bar viewBox=(format!("0 0 {} 1", counts.rules().max(1))) preserveAspectRatio="none" aria-hidden="true" {
            @for (state, from, number) in parts {
                rect data-state=(state.name()) x=(from) y="0" width=(number) height="1" {}
            }
        }
    }
}
