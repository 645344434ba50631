//! The clauses by section of the specification: every rule with its verdict, and the observed values.

use std::collections::BTreeMap;

use maud::{Markup, html};
use paymaster_schemas::{Basis, Clause, find_clause};

use crate::report::{
    counts::{Counts, RuleState},
    html::{
        Page, defect,
        marks::{OBSERVED, code_spans, id, legend, mark, observed_mark},
    },
    text::{compact, sections, words},
};
use paymaster_engine::verdict::summary::RuleOutcome;

/// A row of the tree.
enum Row<'a> {
    Rule(&'a RuleOutcome),
    /// A clause that cannot fail a run, and the values seen.
    Observed(&'static Clause, &'a BTreeMap<String, u64>),
}

impl Page<'_> {
    pub(super) fn rules(&self) -> Markup {
        let summary = self.finished.summary;
        let mut sections: BTreeMap<Vec<u32>, (&str, Vec<Row<'_>>)> = BTreeMap::new();
        let mut add = |section: &'static str, row| {
            let (_, rows) = sections.entry(sections::key(section)).or_insert((section, Vec::new()));
            rows.push(row);
        };
        for outcome in &summary.rules {
            add(outcome.rule.clause().section, Row::Rule(outcome));
        }
        let mut observed = 0;
        for (id, values) in &summary.observations {
            if let Some(clause) = find_clause(id) {
                add(clause.section, Row::Observed(clause, values));
                observed += 1;
            }
        }
        html! {
            section #rules {
                h2 { "The rules, by section of the specification" }
                (legend())
                (self.filters(observed))
                div.layout {
                    nav.toc aria-label="Sections" {
                        ol {
                            @for (section, rows) in sections.values() {
                                li { a href=(format!("#section-{section}")) {
                                    span.number { (section) } " " (sections::name(section))
                                    (self.dots(rows))
                                } }
                            }
                        }
                    }
                    div.tree {
                        @for (section, rows) in sections.values() {
                            section.part id=(format!("section-{section}")) {
                                h3 { span.number { (section) } " " (sections::name(section)) }
                                @let (folded, open): (Vec<&Row<'_>>, Vec<&Row<'_>>) = rows.iter().partition(|row| self.is_folded(row));
                                @for row in open { (self.row(row)) }
                                @if !folded.is_empty() {
                                    details.fold {
                                        summary { (self.tally(&folded)) }
                                        @for row in folded { (self.row(row)) }
                                    }
                                }
                            }
                        }
                        p.nothing hidden { "No rule matches these filters." }
                    }
                }
            }
        }
    }

    fn filters(&self, observed: usize) -> Markup {
        let rules = &self.finished.summary.rules;
        let seen = |basis: Basis| {
            let watched = self.finished.summary.observations.keys();
            rules.iter().any(|rule| rule.rule.basis() == basis)
                || watched.filter_map(|id| find_clause(id)).any(|clause| clause.basis == basis)
        };
        html! {
            div.filters role="group" aria-label="Filters" {
                div.chips role="group" aria-label="By verdict" {
                    @for state in RuleState::ALL {
                        @let number = self.verdict.counts.get(state);
                        @if number > 0 {
                            button type="button" aria-pressed="false" data-filter="state" data-value=(state.name()) {
                                (mark(state)) (state.word()) " " span.number { (number) }
                            }
                        }
                    }
                    @if observed > 0 {
                        button type="button" aria-pressed="false" data-filter="state" data-value=(OBSERVED) {
                            (observed_mark()) "observed " span.number { (observed) }
                        }
                    }
                }
                div.chips role="group" aria-label="By basis" {
                    @for basis in Basis::ALL.into_iter().filter(|basis| seen(*basis)) {
                        button type="button" aria-pressed="false" data-filter="basis" data-value=(basis.name()) { (basis.name()) }
                    }
                }
                div.search {
                    label for="search" { "Find" }
                    input #search type="search" placeholder="rule, member or word" autocomplete="off" spellcheck="false";
                    button #clear type="button" hidden { "Show all" }
                    button #unfold type="button" aria-pressed="false" { "Open all" }
                }
                p #shown role="status" {}
            }
        }
    }

    fn counts<'r>(&self, rows: impl IntoIterator<Item = &'r Row<'r>>) -> Counts {
        Counts::of_states(rows.into_iter().filter_map(|row| match row {
            Row::Rule(outcome) => Some(self.state(outcome)),
            Row::Observed(..) => None,
        }))
    }

    /// The counts of a section, for its line in the contents.
    fn dots(&self, rows: &[Row<'_>]) -> Markup {
        let counts = self.counts(rows);
        html! {
            @for state in [RuleState::Broken, RuleState::Warned, RuleState::Inconclusive] {
                @if counts.get(state) > 0 {
                    span.dot data-state=(state.name()) { (counts.get(state)) span.quiet { " " (state.word()) } }
                }
            }
        }
    }

    fn row(&self, row: &Row<'_>) -> Markup {
        match row {
            Row::Rule(outcome) => self.rule(outcome),
            Row::Observed(clause, values) => self.observed(clause, values),
        }
    }

    /// Rules that need no attention stand in a fold at the end of their section.
    fn is_folded(&self, row: &Row<'_>) -> bool {
        matches!(row, Row::Rule(outcome)
            if matches!(self.state(outcome), RuleState::Passed | RuleState::NotApplicable))
    }

    /// `✓ 12 passed – 1 not applicable`.
    fn tally(&self, rows: &[&Row<'_>]) -> Markup {
        let counts = self.counts(rows.iter().copied());
        html! {
            @for state in RuleState::ALL {
                @if counts.get(state) > 0 {
                    span.part-count { (mark(state)) (counts.get(state)) " " (state.word()) }
                }
            }
        }
    }

    fn rule(&self, outcome: &RuleOutcome) -> Markup {
        let rule = outcome.rule;
        let clause = rule.clause();
        let state = self.state(outcome);
        let open = outcome.verdict.is_broken();
        html! {
            details.rule id=(rule.id) open[open] data-state=(state.name()) data-basis=(clause.basis.name()) {
                summary {
                    (mark(state))
                    span.title { (code_spans(clause.text)) }
                    span.state { (word(outcome, state)) }
                    span.under {
                        span.id { (id(rule.id)) } " "
                        span.basis { (clause.basis.name()) } " "
                        span.times { (times(outcome)) }
                    }
                }
                div.about {
                    @for defect in self.defects.iter().filter(|defect| defect.breaks(rule)) {
                        p.defect-link { a href=(format!("#{}", defect::id(defect))) { "Defect " (defect.number) } ": " (defect.headline) "." }
                    }
                    @if outcome.verdict.is_broken() && !rule.hint.is_empty() { p.hint { b { "Where to look: " } (rule.hint) } }
                    @if let Some(reason) = &outcome.reason { p.hint { b { (reason_title(outcome, state)) } (self.foreign(reason)) } }
                    p.meta {
                        "Held " (words::count(outcome.held, "time"))
                        @if outcome.broken > 0 { ", broken " (outcome.broken) "." } @else { "; it passes with " (outcome.quota) "." }
                        @if rule.id != clause.id { " Clause " code { (clause.id) } "." }
                        " " (specification(clause))
                        " "
                        a.permalink href=(format!("#{}", rule.id)) { "Link to this rule" }
                    }
                    (self.excused(outcome))
                }
            }
        }
    }

    /// The findings of a rule that are known failures. The others are shown at their defects.
    fn excused(&self, outcome: &RuleOutcome) -> Markup {
        let all = self.finished.summary.findings.iter().enumerate();
        let known = all.filter(|(_, finding)| {
            finding.rule.id == outcome.rule.id && self.finished.summary.known_entry(finding).is_some()
        });
        html! { @for (number, finding) in known { (self.finding(number, finding)) } }
    }

    fn observed(&self, clause: &Clause, values: &BTreeMap<String, u64>) -> Markup {
        let sorted = words::by_frequency(values);
        html! {
            details.rule id=(clause.id) data-state=(OBSERVED) data-basis=(clause.basis.name()) {
                summary {
                    (observed_mark())
                    span.title { (code_spans(clause.text)) }
                    span.state { "observed" }
                    span.under {
                        span.id { (id(clause.id)) } " "
                        span.basis { (clause.basis.name()) } " "
                        span.times { (sorted.first().map_or(String::new(), |(value, _)| compact::cut(&self.foreign(value), 48))) }
                    }
                }
                div.about {
                    p.hint { "The specification leaves this open: it cannot fail a run." }
                    (self.values(&sorted))
                }
            }
        }
    }
}

/// Where the documentation describes the section of a clause. The page does not know where the repository is, so it names the
/// file instead of linking to it.
fn specification(clause: &Clause) -> Markup {
    html! { "Specification: " code { (sections::place(clause.section)) } "." }
}

fn word(outcome: &RuleOutcome, state: RuleState) -> &'static str {
    if outcome.verdict == paymaster_engine::verdict::conclusion::Verdict::Flaky {
        return "flaky";
    }
    match state {
        RuleState::Broken => "failed",
        other => other.word(),
    }
}

fn reason_title(outcome: &RuleOutcome, state: RuleState) -> &'static str {
    match state {
        RuleState::Inconclusive if outcome.waits_for.is_some() => "To judge it: ",
        RuleState::UnexpectedlyPassing => "To do: ",
        _ => "Why: ",
    }
}

fn times(outcome: &RuleOutcome) -> String {
    match (outcome.held, outcome.broken) {
        (0, 0) => "never exercised".to_owned(),
        (held, 0) => format!("held {held}×"),
        (held, broken) => format!("broken {broken}×, held {held}×"),
    }
}
