//! The report for a browser: one file that loads nothing from the network. Everything can be read without scripts; they only filter,
//! copy and open.

mod finding;
mod fingerprint;
pub(crate) mod json;
pub(crate) mod shell;
mod tree;

pub(crate) use tree::mark;

use std::time::SystemTime;

use maud::{Markup, html};

use crate::report::{
    Finished,
    counts::RuleState,
    machine::moment,
    text::{compact, known_failures, words},
};
use paymaster_cli::terminal::escape_controls;
use paymaster_judge::verdict::{
    conclusion::{Conclusion, Verdict},
    finding::Finding,
    known::EntryOutcome,
    line::VerdictLine,
    summary::RuleOutcome,
};

/// The page.
pub(crate) fn page(finished: &Finished<'_>) -> String {
    let page = Page {
        finished,
        verdict: finished.verdict(),
    };
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
                ", " (moment(SystemTime::now())) ". The same seed sends the same requests. Secrets of the URL and of headers are replaced by ***."
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
}

impl Page<'_> {
    /// A text from the target with its secrets replaced and its control characters escaped. Markup is escaped where it is written.
    fn foreign(&self, text: &str) -> String {
        escape_controls(&self.finished.redactor.apply(text))
    }

    fn standing(&self, outcome: &RuleOutcome) -> RuleState {
        RuleState::of(outcome, self.finished.strictness)
    }

    fn head(&self) -> Markup {
        let summary = self.finished.summary;
        let conclusion = summary.conclusion;
        let counts = &self.verdict.counts;
        html! {
            header.verdict data-conclusion=(conclusion.name()) {
                div.inner {
                    p.tool { "paymaster-conformance" }
                    h1 {
                        span.word { (conclusion.headline()) }
                        @let limits = self.verdict.qualification();
                        @if !limits.is_empty() { span.limits { (limits.trim_start_matches([':', ';', ' '])) } }
                        " "
                        span.target { (self.finished.place.shown) }
                    }
                    p.meaning { (self.meaning()) }
                    (shell::bar(counts))
                    p.counts {
                        @for standing in RuleState::ALL {
                            @let number = counts.get(standing);
                            @if number > 0 {
                                span.count data-standing=(standing.name()) { b { (number) } " " (standing.word()) }
                            }
                        }
                    }
                    dl.facts {
                        div { dt { "rules" } dd { (counts.rules()) } }
                        @if let Some(recorded) = &summary.recorded {
                            div { dt { "recorded exchanges" } dd { (recorded.exchanges) } }
                        } @else {
                            div { dt { "requests" } dd { (summary.requests) } }
                            div { dt { "time" } dd { (words::time(summary.took)) } }
                            div { dt { "seed" } dd { (summary.seed) } }
                        }
                        div { dt { "exit code" } dd { (paymaster_cli::exit::code(conclusion)) } }
                        @if self.finished.strictness.strict { div { dt { "strict" } dd { "yes" } } }
                    }
                    @for warning in &self.finished.place.warnings {
                        p.note { b { "Warning: " } (self.foreign(warning)) }
                    }
                    @if let Some(cause) = &summary.cut_short {
                        p.note { b { "Cut short: " } (self.foreign(cause)) }
                    }
                    @for (reason, entries) in summary.recorded.iter().flat_map(|recorded| &recorded.skipped) {
                        p.note { b { "Left out: " } (words::count(*entries, "exchange")) ", " (self.foreign(reason)) }
                    }
                    @for (reason, groups) in &summary.unjudged {
                        p.note {
                            b { "Not judged: " }
                            (words::count(*groups as u128, "group")) " of requests: " (self.foreign(reason))
                        }
                    }
                }
            }
        }
    }

    fn meaning(&self) -> &'static str {
        match self.finished.summary.conclusion {
            Conclusion::ListOutOfDate => {
                "Nothing new failed, but the list of known failures is out of date: update it, as described below."
            }
            Conclusion::Conforms if self.verdict.counts.get(RuleState::KnownFailing) > 0 => {
                "Everything that fails a run was judged, and held, but for what is known to fail."
            }
            Conclusion::Conforms => "Everything that fails a run was judged, and held.",
            Conclusion::NothingBroken => {
                "What was judged held. The other rules were left out, or could not be judged, which this run accepts."
            }
            Conclusion::Violations => {
                "Each broken rule is below, with the smallest request that shows it and a line that repeats it."
            }
            Conclusion::Incomplete => {
                "Nothing failed, but not everything could be judged: below is what was missing."
            }
            Conclusion::CouldNotTest => {
                "Check that the target is running and that host, port, path and headers are right, then run again."
            }
        }
    }

    /// The broken rules, one line each. The findings are shown at the rules.
    fn broken(&self) -> Markup {
        let rules = &self.finished.summary.rules;
        let of = |wanted| rules.iter().filter(move |rule| self.standing(rule) == wanted);
        let groups = [
            (RuleState::Broken, "What is broken"),
            (RuleState::Warned, "What only warns"),
        ];
        html! {
            @for (standing, title) in groups {
                @if self.verdict.counts.get(standing) > 0 {
                    section id=(standing.name()) {
                        h2 { (title) }
                        ol.broken {
                            @for outcome in of(standing) {
                                li data-standing=(standing.name()) {
                                    a href=(format!("#{}", outcome.rule.id)) { (outcome.rule.id) }
                                    span.ground { "section " (outcome.rule.clause().section) }
                                    p { (self.brief(outcome)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn brief(&self, outcome: &RuleOutcome) -> Markup {
        let summary = self.finished.summary;
        let own =
            |finding: &&Finding| finding.rule.id == outcome.rule.id && summary.known_entry(finding).is_none();
        let Some(finding) = summary.findings.iter().find(own) else {
            return tree::code_spans(outcome.rule.clause().text);
        };
        let violation = &finding.violation;
        let short = |text: &str| compact::cut(&self.foreign(text), 160);
        html! {
            "expected " code { (short(&violation.expected)) }
            ", got " code { (short(&violation.actual)) }
            " at " code { (self.foreign(words::place(finding))) }
        }
    }

    /// The list of known failures: the entries that are out of date, then the others.
    fn known(&self) -> Markup {
        let known = &self.finished.summary.known;
        let (stale, rest): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.standing.fails_the_run());
        html! {
            @if !known.is_empty() {
                section #known {
                    h2 { "Known failures" }
                    ul.known {
                        @for known in stale {
                            li.stale {
                                (self.scope(known))
                                p { b { "Out of date, which fails the run: " } (self.foreign(&known_failures::advice(known))) }
                            }
                        }
                        @for known in rest {
                            li {
                                (self.scope(known))
                                p { (known_failures::state(known)) ": " (self.foreign(&known.entry.reason)) }
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

    /// The inconclusive rules, grouped by what would make them conclusive.
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
                    p { "These rules were exercised too seldom to pass. What to add to " code { "paymaster.toml" } ", or to look at:" }
                    ul.advice {
                        @for (advice, rules) in by_advice {
                            li {
                                @if !advice.is_empty() { p { (advice) } }
                                p.those {
                                    @for outcome in rules {
                                        a href=(format!("#{}", outcome.rule.id)) { (outcome.rule.id) }
                                        " "
                                        span.held { (outcome.held) " of " (outcome.quota) " times" }
                                        " "
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
