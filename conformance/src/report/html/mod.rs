//! The report for a browser: one file that loads nothing from the network. Everything can be read without scripts; they only filter,
//! copy and open.

mod defect;
mod finding;
mod fingerprint;
mod head;
pub(crate) mod json;
mod marks;
pub(crate) mod shell;
mod tree;

pub(crate) use marks::{id, mark};

use maud::{Markup, html};

use crate::report::{
    model::{JudgedRule, KnownFailure, Report},
    text::words,
};
use paymaster_engine::verdict::{conclusion::Verdict, line::VerdictLine};
use paymaster_settings::output::terminal::escape_controls;

/// Longer lists of rules that could not be judged for one reason are folded.
const MOST_RULES: usize = 6;

/// The page.
pub(crate) fn page(report: &Report) -> String {
    let page = Page { report, verdict: report.verdict_line() };
    let body = html! {
        a.skip href="#rules" { "Skip to the rules" }
        (page.head())
        main {
            (page.broken())
            (page.known())
            (page.inconclusive())
            (page.rules())
            (page.fingerprint())
            (page.reached())
        }
        footer {
            p {
                "Written by paymaster-conformance " (env!("CARGO_PKG_VERSION"))
                ". The same seed sends the same requests. Secrets of the URL and of headers are replaced by ***."
            }
        }
    };
    let title = format!("{} · {}", page.verdict.heading(), report.target);
    shell::document(&title, &body)
}

/// The data of the page. Control characters are escaped where a text of the target is written, as markup is.
struct Page<'a> {
    report: &'a Report,
    verdict: VerdictLine,
}

impl Page<'_> {
    /// The list of known failures: the entries that are out of date, then the others.
    fn known(&self) -> Markup {
        let (stale, rest) = self.report.stale_and_known();
        html! {
            @if !self.report.known_failures.is_empty() {
                section #known {
                    h2 { "Known failures" }
                    ul.known {
                        @for known in stale {
                            li.stale {
                                (self.scope(known))
                                p { b { "Out of date, which fails the run: " } (escape_controls(&known.advice)) }
                            }
                        }
                        @for known in rest {
                            li {
                                (self.scope(known))
                                p { (known.advice) ": " (escape_controls(&known.reason)) }
                                p.meta { (escape_controls(&known.owner)) ", until " (known.expires) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What an entry names, as a link where the run judged its rule.
    fn scope(&self, known: &KnownFailure) -> Markup {
        let scope = html! { code { (escape_controls(&known.scope)) } };
        match self.report.rule(&known.rule) {
            Some(rule) => html! { a href=(format!("#{}", rule.id)) { (scope) } },
            None => scope,
        }
    }

    /// The inconclusive rules, grouped by what would make them conclusive, or by why they are not.
    fn inconclusive(&self) -> Markup {
        let by_advice = words::by_reason(self.report, Verdict::Inconclusive);
        html! {
            // A target that never answered is the only reason, and the head of the page names it.
            @if !by_advice.is_empty() && !self.report.is_untested() {
                section #inconclusive {
                    h2 { "What could not be judged" }
                    p { "These rules were exercised too seldom to pass, for these reasons:" }
                    ul.advice {
                        @for (advice, rules) in by_advice {
                            li {
                                @if !advice.is_empty() { p { (escape_controls(advice)) } }
                                @if rules.len() > MOST_RULES {
                                    details.more { summary { (rules.len()) " rules" } (those(&rules)) }
                                } @else {
                                    (those(&rules))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Links to rules that could not be judged.
fn those(rules: &[&JudgedRule]) -> Markup {
    html! {
        p.those {
            @for rule in rules {
                a href=(format!("#{}", rule.id)) { (id(&rule.id)) }
                " "
                span.held { (rule.held) " of " (rule.quota) " times" }
                " "
            }
        }
    }
}

#[cfg(test)]
mod tests;
