//! A defect: headline, cause, the smallest request beside its answer, the nearest request that does not show it, the rules that it
//! breaks, and how to repeat it.

use maud::{Markup, html};

use crate::report::{
    counts::RuleState,
    html::{
        Page,
        finding::{Shown, pointers},
        marks,
    },
    text::{
        defects::{self, ShownDefect},
        words,
    },
};
use paymaster_engine::{rules::Rule, verdict::finding::Finding};

impl Page<'_> {
    /// The defects: those that fail the run, then those that only warn.
    pub(super) fn broken(&self) -> Markup {
        let groups = [(RuleState::Broken, "What is broken"), (RuleState::Warned, "What only warns")];
        html! {
            @for (state, title) in groups {
                @let fails = state == RuleState::Broken;
                @let own: Vec<&ShownDefect<'_>> = self.defects.iter().filter(|defect| defect.fails == fails).collect();
                @let unexplained = defects::unexplained(self.finished, state, &self.defects);
                @if own.len() + unexplained.len() > 0 {
                    section id=(state.name()) {
                        h2 { (title) }
                        @if own.len() > 1 { (contents(&own)) }
                        @for defect in &own { (self.defect(defect, state)) }
                        @if !unexplained.is_empty() {
                            p { "Broken, without a request that shows it:" }
                            ul.breaks { @for outcome in unexplained { li { (rule_line(outcome.rule)) } } }
                        }
                    }
                }
            }
        }
    }

    fn defect(&self, defect: &ShownDefect<'_>, state: RuleState) -> Markup {
        let finding = defect.shown;
        let hints: Vec<&Rule> = defect.rules.iter().copied().filter(|rule| !rule.hint.is_empty()).collect();
        html! {
            article.defect id=(id(defect)) data-state=(state.name()) {
                h3 { span.number { (defect.number) } (defect.headline) "." }
                @if let Some(cause) = &defect.cause { p.cause { b { "Cause: " } (cause) "." } }
                (self.evidence(finding))
                (self.contrast(finding))
                h4 { "It " (defect.extent()) }
                ul.breaks { @for rule in &defect.rules { li { (rule_line(rule)) } } }
                @if let Some(rule) = hints.first() { p.hint { b { "Where to look: " } (rule.hint) } }
                @if let Some(first) = defect.findings.first() { (self.repeat(*first, finding)) }
                @for (number, other) in self.others(defect) {
                    details.more {
                        summary {
                            "Also " (other.pair.map_or("any request", |pair| pair.name)) " at "
                            code { (self.foreign(words::place(other))) } ", " (marks::id(other.rule.id))
                        }
                        (self.finding(number, other))
                    }
                }
            }
        }
    }

    /// The findings of a defect, but for the one that is shown.
    fn others(&self, defect: &ShownDefect<'_>) -> Vec<(usize, &Finding)> {
        let findings = &self.finished.summary.findings;
        let others = defect.findings.iter().skip(1);
        others.filter_map(|number| Some((*number, findings.get(*number)?))).collect()
    }

    /// The nearest request that does not break the rule, and its answer.
    fn contrast(&self, finding: &Finding) -> Markup {
        let Some(contrast) = &finding.contrast else {
            return html! {};
        };
        let Some(sent) = contrast.group.members.get(contrast.member) else {
            return html! {};
        };
        html! {
            details.more.contrast {
                summary { "The nearest request that does not break it" }
                (self.pair(&Shown {
                    sent,
                    request_marks: pointers(finding),
                    exchange: contrast.exchanges.get(contrast.member),
                    answer_marks: Vec::new(),
                    wrong: false,
                }))
            }
        }
    }
}

/// The links to the defects, where there are several.
fn contents(defects: &[&ShownDefect<'_>]) -> Markup {
    html! {
        ol.defects {
            @for defect in defects {
                li { span.number { (defect.number) } a href=(format!("#{}", id(defect))) { (defect.headline) } " " span.held { (defect.extent()) } }
            }
        }
    }
}

/// The statement that a rule checks, with a link to the rule.
fn rule_line(rule: &Rule) -> Markup {
    let clause = rule.clause();
    html! {
        (marks::code_spans(clause.text)) " "
        a.rule-id href=(format!("#{}", rule.id)) { (marks::id(rule.id)) }
        " " span.held { "section " (clause.section) ", " (clause.basis.name()) }
    }
}

/// The id of a defect's part of the page.
pub(super) fn id(defect: &ShownDefect<'_>) -> String {
    format!("defect-{}", defect.number)
}
