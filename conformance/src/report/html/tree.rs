//! The clauses by section of the specification: every rule with its verdict, and the observed values.

use std::collections::BTreeMap;

use maud::{Markup, html};
use paymaster_schemas::{Basis, Clause, find_clause};

use crate::report::{
    counts::{Counts, RuleState},
    html::{
        Page, defect, escape_controls,
        fingerprint::value_list,
        marks::{OBSERVED, code_spans, id, legend, mark, observed_mark},
    },
    model::JudgedRule,
    text::{compact, sections, words},
};
use paymaster_engine::verdict::conclusion::Verdict;

/// A row of the tree.
enum Row<'a> {
    Rule(&'a JudgedRule),
    /// A clause that cannot fail a run, and the values seen.
    Observed(&'static Clause, &'a BTreeMap<String, u64>),
}

impl Page<'_> {
    pub(super) fn rules(&self) -> Markup {
        let report = self.report;
        let name = &report.specification.name;
        let mut sections: BTreeMap<Vec<u32>, (&str, Vec<Row<'_>>)> = BTreeMap::new();
        let mut add = |section, row| {
            let (_, rows) = sections.entry(sections::key(section)).or_insert((section, Vec::new()));
            rows.push(row);
        };
        for rule in &report.rules {
            add(&rule.section, Row::Rule(rule));
        }
        let mut observed = 0;
        for (id, values) in &report.observations {
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
                                    span.number { (section) } " " (sections::name(name, section))
                                    (self.dots(rows))
                                } }
                            }
                        }
                    }
                    div.tree {
                        @for (section, rows) in sections.values() {
                            section.part id=(format!("section-{section}")) {
                                h3 { span.number { (section) } " " (sections::name(name, section)) }
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
        let report = self.report;
        let seen = |basis: Basis| {
            let watched = report.observations.keys();
            report.rules.iter().any(|rule| rule.basis() == basis)
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
            Row::Rule(rule) => Some(self.report.state(rule)),
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
            Row::Rule(rule) => self.rule(rule),
            Row::Observed(clause, values) => observed(clause, values),
        }
    }

    /// Rules that need no attention stand in a fold at the end of their section.
    fn is_folded(&self, row: &Row<'_>) -> bool {
        matches!(row, Row::Rule(rule)
            if matches!(self.report.state(rule), RuleState::Passed | RuleState::NotApplicable))
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

    fn rule(&self, rule: &JudgedRule) -> Markup {
        let state = self.report.state(rule);
        let open = rule.verdict.is_broken();
        html! {
            details.rule id=(rule.id) open[open] data-state=(state.name()) data-basis=(rule.basis) {
                summary {
                    (mark(state))
                    span.title { (code_spans(&rule.text)) }
                    span.state { (word(rule, state)) }
                    span.under {
                        span.id { (id(&rule.id)) } " "
                        span.basis { (rule.basis) } " "
                        span.times { (times(rule)) }
                    }
                }
                div.about {
                    @for defect in self.report.defects.iter().filter(|defect| defect.rules.contains(&rule.id)) {
                        p.defect-link { a href=(format!("#{}", defect::id(defect))) { "Defect " (defect.number) } ": " (escape_controls(&defect.headline)) "." }
                    }
                    @if rule.verdict.is_broken() && !rule.hint.is_empty() { p.hint { b { "Where to look: " } (rule.hint) } }
                    @if let Some(reason) = &rule.reason { p.hint { b { (reason_title(rule, state)) } (escape_controls(reason)) } }
                    // The page does not know where the repository is, so it names the file instead of linking to it.
                    p.meta {
                        "Held " (words::count(rule.held, "time"))
                        @if rule.broken > 0 { ", broken " (rule.broken) "." } @else { "; it passes with " (rule.quota) "." }
                        @if rule.id != rule.clause { " Clause " code { (rule.clause) } "." }
                        " " "Specification: " code { (sections::place(&self.report.specification.name, &rule.section)) } "."
                        " "
                        a.permalink href=(format!("#{}", rule.id)) { "Link to this rule" }
                    }
                    (self.excused(rule))
                }
            }
        }
    }

    /// The findings of a rule that are known failures. The others are shown at their defects.
    fn excused(&self, rule: &JudgedRule) -> Markup {
        let all = self.report.findings.iter().enumerate();
        let known = all.filter(|(_, finding)| finding.rule == rule.id && finding.details.known.is_some());
        html! { @for (number, finding) in known { (self.finding(number, finding)) } }
    }
}

fn observed(clause: &Clause, values: &BTreeMap<String, u64>) -> Markup {
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
                    span.times { (sorted.first().map_or(String::new(), |(value, _)| compact::cut(&escape_controls(value), 48))) }
                }
            }
            div.about {
                p.hint { "The specification leaves this open: it cannot fail a run." }
                (value_list(&sorted))
            }
        }
    }
}

fn word(rule: &JudgedRule, state: RuleState) -> &'static str {
    if rule.verdict == Verdict::Flaky {
        return "flaky";
    }
    match state {
        RuleState::Broken => "failed",
        other => other.word(),
    }
}

fn reason_title(rule: &JudgedRule, state: RuleState) -> &'static str {
    match state {
        RuleState::Inconclusive if rule.waits => "To judge it: ",
        RuleState::UnexpectedlyPassing => "To do: ",
        _ => "Why: ",
    }
}

fn times(rule: &JudgedRule) -> String {
    match (rule.held, rule.broken) {
        (0, 0) => "never exercised".to_owned(),
        (held, 0) => format!("held {held}×"),
        (held, broken) => format!("broken {broken}×, held {held}×"),
    }
}
