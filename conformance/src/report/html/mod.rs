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
    Finished,
    counts::RuleState,
    text::{
        defects::{self, ShownDefect},
        words,
    },
};
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    known::EntryOutcome,
    line::VerdictLine,
    summary::RuleOutcome,
};
use paymaster_settings::output::terminal::escape_controls;

/// Longer lists of rules that could not be judged for one reason are folded.
const MOST_RULES: usize = 6;

/// The page.
pub(crate) fn page(finished: &Finished<'_>) -> String {
    let page = Page { finished, verdict: finished.verdict(), defects: defects::shown(finished) };
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
    let title = format!("{} · {}", page.verdict.heading(), finished.place.shown);
    shell::document(&title, &body)
}

/// The data of the page.
struct Page<'a> {
    finished: &'a Finished<'a>,
    verdict: VerdictLine,
    defects: Vec<ShownDefect<'a>>,
}

impl Page<'_> {
    /// A text from the target with its secrets replaced and its control characters escaped. Markup is escaped where it is written.
    fn foreign(&self, text: &str) -> String {
        self.finished.safe(text)
    }

    fn state(&self, outcome: &RuleOutcome) -> RuleState {
        RuleState::of(outcome, self.finished.strictness)
    }

    /// The list of known failures: the entries that are out of date, then the others.
    fn known(&self) -> Markup {
        let known = &self.finished.summary.known;
        let (stale, rest): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.state.fails_the_run());
        html! {
            @if !known.is_empty() {
                section #known {
                    h2 { "Known failures" }
                    ul.known {
                        @for known in stale {
                            li.stale {
                                (self.scope(known))
                                p { b { "Out of date, which fails the run: " } (self.foreign(&words::known_advice(known))) }
                            }
                        }
                        @for known in rest {
                            li {
                                (self.scope(known))
                                p { (words::known_state(known)) ": " (self.foreign(&known.entry.reason)) }
                                p.meta { (self.foreign(&known.entry.owner)) ", until " (known.entry.expires) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What an entry names, as a link where the run judged its rule.
    fn scope(&self, known: &EntryOutcome) -> Markup {
        let scope = html! { code { (self.foreign(&known.entry.scope())) } };
        let rules = &self.finished.summary.rules;
        if rules.iter().any(|outcome| outcome.rule.id == known.entry.rule) {
            html! { a href=(format!("#{}", known.entry.rule)) { (scope) } }
        } else {
            scope
        }
    }

    /// The inconclusive rules, grouped by what would make them conclusive, or by why they are not.
    fn inconclusive(&self) -> Markup {
        let rules = &self.finished.summary.rules;
        let by_advice = words::by_reason(rules, Verdict::Inconclusive);
        // A target that never answered is the only reason, and the head of the page names it.
        let untested = self.finished.summary.conclusion == Conclusion::CouldNotTest
            && rules.iter().all(|outcome| outcome.held == 0);
        html! {
            @if !by_advice.is_empty() && !untested {
                section #inconclusive {
                    h2 { "What could not be judged" }
                    p { "These rules were exercised too seldom to pass, for these reasons:" }
                    ul.advice {
                        @for (advice, rules) in by_advice {
                            li {
                                @if !advice.is_empty() { p { (self.foreign(advice)) } }
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
fn those(rules: &[&RuleOutcome]) -> Markup {
    html! {
        p.those {
            @for outcome in rules {
                a href=(format!("#{}", outcome.rule.id)) { (id(outcome.rule.id)) }
                " "
                span.held { (outcome.held) " of " (outcome.quota) " times" }
                " "
            }
        }
    }
}

#[cfg(test)]
mod tests;
