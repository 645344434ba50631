//! The report for a browser: one file that loads nothing from the network. Everything can be read without scripts; they only filter,
//! copy and open.

mod defect;
mod head;
mod marks;
mod tree;

pub(crate) use marks::mark;

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use crate::report::{
    model::{KnownFailure, Report},
    text::words::{self, NotJudged},
};
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    line::VerdictLine,
};
use paymaster_schemas::find_clause;
use paymaster_settings::{
    escape_controls,
    output::page::{Own, code_spans, document, id},
};

/// The page.
pub(crate) fn page(report: &Report) -> String {
    let page = Page { report, verdict: report.verdict_line() };
    let body = html! {
        a.skip href="#rules" { "Skip to the rules" }
        (page.head())
        main {
            (page.broken())
            (page.known())
            (page.not_judged())
            (page.rules())
            (observed(&[("values, and how often", report)]))
        }
        footer {
            p {
                "Written by paymaster-conformance " (env!("CARGO_PKG_VERSION"))
                ". The same seed sends the same requests. Secrets of the URL and of headers are replaced by ***."
            }
        }
    };
    let title = format!("{} · {}", page.verdict.heading(), report.target);
    document(&title, Own::default(), &body)
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
                            li.stale { (self.scope(known)) p { b { "Out of date, which fails the run: " } (known.in_words()) } }
                        }
                        @for known in rest { li { (self.scope(known)) p { (known.in_words()) } } }
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

    /// The rules that were not judged: those that decide the verdict open, the others behind a line.
    fn not_judged(&self) -> Markup {
        let all = words::not_judged(self.report);
        let is_incomplete = self.report.conclusion == Conclusion::Incomplete;
        html! {
            @if !all.is_empty() {
                section #inconclusive {
                    h2 { "What could not be judged" }
                    @for NotJudged { verdict, title, by_reason } in all {
                        details.more open[is_incomplete && verdict == Verdict::Inconclusive] {
                            summary { (title) }
                            ul.advice {
                                @for (reason, rules) in by_reason {
                                    li {
                                        @if !reason.is_empty() { p { (escape_controls(reason)) } }
                                        p.those {
                                            @for rule in rules {
                                                a href=(format!("#{}", rule.id)) { (id(&rule.id)) }
                                                span.held { (words::progress(rule)) } " "
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What targets do where the specification leaves it open, and what valid requests reached: a column for each report, with its title.
pub(crate) fn observed(columns: &[(&str, &Report)]) -> Markup {
    let all: Vec<BTreeMap<String, String>> =
        columns.iter().map(|(_, report)| words::observed(report).into_iter().collect()).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    html! {
        @if !names.is_empty() {
            section #observed {
                h2 { "What was observed" }
                details.more {
                    summary { (names.len()) " observations where the specification leaves it open: none of them is a failure" }
                    div.scroll tabindex="0" role="region" aria-label="What was observed" {
                        table {
                            thead { tr { th scope="col" { "observed" } @for (title, _) in columns { th scope="col" { (title) } } } }
                            tbody {
                                @for name in names {
                                    tr {
                                        th scope="row" {
                                            (id(name))
                                            @if let Some(clause) = find_clause(name) { p.meta { (code_spans(clause.text)) } }
                                        }
                                        @for seen in &all { td { @if let Some(text) = seen.get(name) { (text) } } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
