//! A defect: headline, cause, the smallest request beside its answer, the nearest request that does not show it, the rules that it
//! breaks, and how to repeat it.

use maud::{Markup, html};

use crate::report::{
    counts::RuleState,
    html::{
        Page, escape_controls,
        finding::{Shown, evidence, facts, pair},
        marks,
    },
    model::{Defect, Finding, JudgedRule},
    text::words,
};

/// Longer values are cut in titles, in characters.
const LONGEST_VALUE: usize = 132;

impl Page<'_> {
    /// The defects: those that fail the run, then those that only warn.
    pub(super) fn broken(&self) -> Markup {
        let groups = [(RuleState::Broken, "What is broken"), (RuleState::Warned, "What only warns")];
        html! {
            @for (state, title) in groups {
                @let fails = state == RuleState::Broken;
                @let own: Vec<&Defect> = self.report.defects.iter().filter(|defect| defect.fails == fails).collect();
                @let unexplained = self.report.unexplained(state);
                @if own.len() + unexplained.len() > 0 {
                    section id=(state.name()) {
                        h2 { (title) }
                        @for defect in own { (self.defect(defect, state)) }
                        @if !unexplained.is_empty() {
                            p { "Broken, without a request that shows it:" }
                            ul.breaks { @for rule in unexplained { li { (rule_line(rule)) } } }
                        }
                    }
                }
            }
        }
    }

    /// A defect; a warning, as a line that folds open.
    fn defect(&self, defect: &Defect, state: RuleState) -> Markup {
        let Some(shown) = self.report.shown(defect) else { return html! {} };
        let title = html! {
            span.number { (defect.label) }
            span.said { (shown.what(LONGEST_VALUE)) }
            span.held { (shown.call()) ", " (self.report.extent(defect)) }
        };
        html! {
            @if defect.fails {
                article.defect id=(defect.anchor()) data-state=(state.name()) { h3 { (title) } (self.body(defect, shown)) }
            } @else {
                details.defect id=(defect.anchor()) data-state=(state.name()) { summary { h3 { (title) } } (self.body(defect, shown)) }
            }
        }
    }

    fn body(&self, defect: &Defect, shown: &Finding) -> Markup {
        let all = defect.findings.iter();
        let findings: Vec<(usize, &Finding)> =
            all.filter_map(|number| Some((*number, self.report.findings.get(*number)?))).collect();
        html! {
            dl.what {
                @if let Some(cause) = &defect.cause_in_words { div { dt { "cause" } dd { (escape_controls(cause)) } } }
                (facts(shown))
                div { dt { "breaks" } dd { ul.breaks { @for rule in self.report.rules_of(defect) { li { (rule_line(rule)) } } } } }
                @if !shown.details.hint.is_empty() { div { dt { "hint" } dd { (escape_controls(&shown.details.hint)) } } }
            }
            (evidence(shown))
            (contrast(shown))
            @if let Some(((number, _), others)) = findings.split_first() {
                (self.repeat(*number, shown))
                @if !others.is_empty() {
                    details.more {
                        summary { "The same at " (words::count(others.len() as u128, "other place")) }
                        @for (number, finding) in others {
                            p.label { (finding.call()) " at " code { (escape_controls(finding.at())) } ", " (marks::id(&finding.rule)) }
                            (self.finding(*number, finding))
                        }
                    }
                }
            }
        }
    }
}

/// The nearest request that does not break the rule, and its answer.
fn contrast(finding: &Finding) -> Markup {
    let contrast = finding.details.contrast.as_ref();
    html! {
        @if let Some((contrast, sent)) = contrast.and_then(|contrast| Some((contrast, contrast.requests.get(contrast.member)?))) {
            details.more.contrast {
                summary { "The nearest request that does not break it" }
                (pair(&Shown {
                    sent,
                    request_marks: finding.deciding(),
                    exchange: contrast.exchanges.get(contrast.member),
                    answer_marks: Vec::new(),
                    wrong: false,
                }))
            }
        }
    }
}

/// The statement that a rule checks, with a link to the rule.
fn rule_line(rule: &JudgedRule) -> Markup {
    html! {
        (marks::code_spans(&rule.text)) " "
        a.rule-id href=(format!("#{}", rule.id)) { (marks::id(&rule.id)) }
        " " span.held { "section " (rule.section) ", " (rule.basis) }
    }
}
