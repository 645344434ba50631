//! A defect: headline, cause, the smallest request beside its answer, the nearest request that does not show it, the rules that it
//! breaks, and how to repeat it.

use maud::{Markup, html};

use crate::report::{
    counts::RuleState,
    html::{
        Page, escape_controls,
        finding::{Shown, evidence, pair},
        marks,
    },
    model::{Defect, Finding, JudgedRule},
};

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
                        @if own.len() > 1 { (self.contents(&own)) }
                        @for defect in &own { (self.defect(defect, state)) }
                        @if !unexplained.is_empty() {
                            p { "Broken, without a request that shows it:" }
                            ul.breaks { @for rule in unexplained { li { (rule_line(rule)) } } }
                        }
                    }
                }
            }
        }
    }

    fn defect(&self, defect: &Defect, state: RuleState) -> Markup {
        let rules: Vec<&JudgedRule> = self.report.rules_of(defect).collect();
        let findings =
            defect.findings.iter().filter_map(|number| Some((*number, self.report.findings.get(*number)?)));
        html! {
            article.defect id=(id(defect)) data-state=(state.name()) {
                h3 { span.number { (defect.number) } (escape_controls(&defect.headline)) "." }
                @if let Some(cause) = &defect.cause_in_words { p.cause { b { "Cause: " } (escape_controls(cause)) "." } }
                @if let Some(finding) = self.report.shown(defect) {
                    (evidence(finding))
                    (contrast(finding))
                }
                h4 { "It " (self.report.extent(defect)) }
                ul.breaks { @for rule in &rules { li { (rule_line(rule)) } } }
                @if let Some(rule) = rules.iter().find(|rule| !rule.hint.is_empty()) { p.hint { b { "Where to look: " } (rule.hint) } }
                @for (place, (number, finding)) in findings.enumerate() {
                    @if place == 0 {
                        (self.repeat(number, finding))
                    } @else {
                        details.more {
                            summary {
                                "Also " (finding.call()) " at "
                                code { (escape_controls(finding.at())) } ", " (marks::id(&finding.rule))
                            }
                            (self.finding(number, finding))
                        }
                    }
                }
            }
        }
    }

    /// The links to the defects, where there are several.
    fn contents(&self, defects: &[&Defect]) -> Markup {
        html! {
            ol.defects {
                @for defect in defects {
                    li { span.number { (defect.number) } a href=(format!("#{}", id(defect))) { (escape_controls(&defect.headline)) } " " span.held { (self.report.extent(defect)) } }
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

/// The id of a defect's part of the page.
pub(super) fn id(defect: &Defect) -> String {
    format!("defect-{}", defect.number)
}
