//! What only the page has: the rules by section of the specification, each with its verdict, with filters and a legend. Everything can be
//! read without scripts; they only filter, copy and open.

use std::collections::BTreeMap;

use maud::{Markup, html};
use paymaster_schemas::{Basis, Section};

use crate::report::counts::{Counts, RuleState};
use crate::report::{JudgedRule, Report, finding, sections, words};
use paymaster_engine::verdict::Verdict;
use paymaster_settings::escape_controls;
use paymaster_settings::output::document::html::text;
use paymaster_settings::output::{Block, Table, Text, html, id};

pub(crate) fn rules(report: &Report) -> Markup {
    let name = &report.specification.name;
    let mut sections: BTreeMap<Vec<u32>, (&str, Vec<&JudgedRule>)> = BTreeMap::new();
    for rule in &report.rules {
        let (_, rules) = sections.entry(Section::order(&rule.section)).or_insert((&rule.section, Vec::new()));
        rules.push(rule);
    }
    html! {
        section #rules {
            h2 { "The rules, by section of the specification" }
            (legend())
            (filters(report))
            @for (section, rules) in sections.values() {
                details.part {
                    summary {
                        span.number { (section) } " " (sections::name(name, section)) " "
                        (tally(report, rules))
                    }
                    @for rule in rules { (self::rule(report, rule)) }
                }
            }
            p.nothing hidden { "No rule matches these filters." }
        }
    }
}

fn filters(report: &Report) -> Markup {
    let seen = |basis: Basis| report.rules.iter().any(|rule| rule.basis() == basis);
    html! {
        div.filters role="group" aria-label="Filters" {
            div.chips role="group" aria-label="By verdict" {
                @for (state, number) in report.counts().present() {
                    button type="button" aria-pressed="false" data-filter="state" data-value=(state.name()) {
                        (mark(state)) (state.word()) " " span.number { (number) }
                    }
                }
            }
            div.chips role="group" aria-label="By basis" {
                @for basis in Basis::ALL.into_iter().filter(|basis| seen(*basis)) {
                    button type="button" aria-pressed="false" data-filter="basis" data-value=(basis.into_str()) { (basis.into_str()) }
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

/// `✓ 12 passed – 1 not applicable`.
fn tally(report: &Report, rules: &[&JudgedRule]) -> Markup {
    let counts = Counts::of_states(rules.iter().map(|rule| report.state(rule)));
    html! {
        @for (state, number) in counts.present() {
            span.part-count { (mark(state)) (number) " " (state.word()) }
        }
    }
}

fn rule(report: &Report, rule: &JudgedRule) -> Markup {
    let state = report.state(rule);
    html! {
        details.rule id=(rule.id) data-state=(state.name()) data-basis=(rule.basis) {
            summary {
                (mark(state))
                span.title { (text(&(&rule.text).into())) }
                span.state { (word(rule, state)) }
                span.under {
                    span.id { (id(&rule.id)) } " "
                    span.basis { (rule.basis) } " "
                    span.times { (times(rule)) }
                }
            }
            div.about {
                @for defect in report.defects.iter().filter(|defect| defect.rules.contains(&rule.id)) {
                    p.defect-link { a href=(format!("#{}", defect.anchor())) { (defect.label) } ": " (escape_controls(&defect.headline)) "." }
                }
                @if rule.verdict.is_broken() && !rule.hint.is_empty() { p.hint { b { "Hint: " } (rule.hint) } }
                @if let Some(reason) = &rule.reason { p.hint { b { (reason_title(rule, state)) } (escape_controls(reason)) } }
                // The page does not know where the repository is, so it names the file instead of linking to it.
                p.meta {
                    "Held " (words::count(rule.held, "time"))
                    @if rule.broken > 0 { ", broken " (rule.broken) "." } @else { "; it passes with " (rule.quota) "." }
                    @if rule.id != rule.clause { " Clause " code { (rule.clause) } "." }
                    " " "Specification: " code { (sections::place(&report.specification.name, &rule.section)) } "."
                    " "
                    a.permalink href=(format!("#{}", rule.id)) { "Link to this rule" }
                }
                (excused(report, rule))
            }
        }
    }
}

/// The findings of a rule that are known failures. The others are shown at their defects.
fn excused(report: &Report, rule: &JudgedRule) -> Markup {
    let all = report.findings.iter().enumerate();
    let known = all.filter(|(_, finding)| finding.rule == rule.id && finding.details.known.is_some());
    html! { @for (number, finding) in known { (self::finding(report, number, finding)) } }
}

fn word(rule: &JudgedRule, state: RuleState) -> &'static str {
    match (rule.verdict, state) {
        (Verdict::Flaky, _) => "flaky",
        (_, RuleState::Broken) => "failed",
        (_, state) => state.word(),
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

/// The sign of a state, in its colour.
pub(crate) fn mark(state: RuleState) -> Markup {
    html! { span.mark data-state=(state.name()) aria-hidden="true" { (state.sign()) } }
}

/// The legend.
fn legend() -> Markup {
    let table = |title: &str, rows: Vec<Vec<Text>>| {
        let columns = vec![title.to_owned(), "meaning".to_owned()];
        Block::Table(Table { title: title.to_owned(), columns, rows, ..Table::default() })
    };
    let states = RuleState::ALL
        .map(|state| vec![format!("{} {}", state.sign(), state.word()).into(), verdict(state).into()]);
    let bases = Basis::ALL.map(|basis| vec![basis.into_str().into(), reason(basis).into()]);
    let tables = vec![table("verdict", states.to_vec()), table("basis", bases.to_vec())];
    html::blocks(&[Block::details("What the signs and words mean", false, tables)])
}

const fn verdict(state: RuleState) -> &'static str {
    match state {
        RuleState::Broken => "it did not hold, and fails the run",
        RuleState::Warned => "it did not hold; only a strict run fails",
        RuleState::KnownFailing => "it did not hold, as the list of known failures says",
        RuleState::UnexpectedlyPassing => "it held, although the list of known failures names it",
        RuleState::Passed => "it held as often as it must",
        RuleState::Covered => "it can be judged once a known failure is mended",
        RuleState::Inconclusive => "it was exercised too seldom to pass",
        RuleState::NotApplicable => "the profile excludes it, or the run did not try it",
    }
}

const fn reason(basis: Basis) -> &'static str {
    match basis {
        Basis::Stated => "the specification says so: only this fails a run that is not strict",
        Basis::Recommended => "the specification recommends it",
        Basis::JsonRpc => "JSON-RPC or its use over HTTP recommends it",
        Basis::Interoperability => "published clients need it",
        Basis::Plausibility => "lawful in form, without it senseless in content",
        Basis::OnChain => "a simulation on the chain shows it",
        Basis::Ambiguous => "the specification disagrees with itself",
        Basis::NotShown => "the specification does not mention it",
    }
}

#[cfg(test)]
mod tests;
