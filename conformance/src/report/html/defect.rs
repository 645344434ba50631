//! A defect: headline, cause, the smallest request beside its answer, the nearest request that does not show it, the rules that it
//! breaks, and how to repeat it.

use maud::{Markup, html};
use paymaster_settings::output::page::{code_spans, copyable, expectation, id, side};

use crate::report::{
    counts::RuleState,
    html::{Page, escape_controls},
    model::{Attempt, Defect, Exchanged, Finding, JudgedRule, Request},
    text::{compact::cut, words},
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
                            p.label { (finding.call()) " at " code { (escape_controls(finding.at())) } ", " (id(&finding.rule)) }
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
                (pair(sent, contrast.exchanges.get(contrast.member), &finding.deciding(), &[]))
            }
        }
    }
}

/// The statement that a rule checks, with a link to the rule.
fn rule_line(rule: &JudgedRule) -> Markup {
    html! {
        (code_spans(&rule.text)) " "
        a.rule-id href=(format!("#{}", rule.id)) { (id(&rule.id)) }
        " " span.held { "section " (rule.section) ", " (rule.basis) }
    }
}

/// Of larger groups only the baseline and the member that breaks the rule are shown.
const MOST_MEMBERS: usize = 4;

impl Page<'_> {
    /// A finding that is shown alone.
    pub(super) fn finding(&self, number: usize, finding: &Finding) -> Markup {
        html! {
            article.finding {
                @if let Some(entry) = &finding.details.known { p.excused { "Known: " (entry.in_words()) } }
                dl.what { (facts(finding)) }
                (evidence(finding))
                (self.repeat(number, finding))
            }
        }
    }

    /// How often it was seen again, and the lines that repeat it.
    fn repeat(&self, number: usize, finding: &Finding) -> Markup {
        let (line, replay) = (&finding.curl, &finding.details.replay);
        html! {
            (attempts(finding))
            div.commands {
                @if let Some(replay) = replay { (copyable(&format!("replay-{number}"), "Replay", replay)) }
                @match line {
                    Some(line) => (copyable(&format!("curl-{number}"), "cURL", line)),
                    None => p.meta { "The request is too long for a command line, or has a secret." },
                }
            }
            @if line.is_some() || replay.is_some() {
                @if let Some(names) = &self.report.details.exports { p.meta { "Export " code { (names) } " first." } }
            }
        }
    }
}

/// What was expected and found, and where.
fn facts(finding: &Finding) -> Markup {
    html! {
        @if let Some(member) = words::recorded(finding) {
            div { dt { "recorded" } dd { (escape_controls(&member.label)) } }
        }
        (expectation(&finding.expected, &finding.actual, finding.at()))
        div { dt { "call" } dd {
            @if let Some(call) = &finding.details.call_in_words { (call) ", " }
            (words::seen(finding))
        } }
    }
}

/// The requests with their answers.
fn evidence(finding: &Finding) -> Markup {
    let shown = shown(finding);
    html! {
        @for member in &shown {
            (exchange(finding, *member))
        }
        @if shown.len() < finding.requests.len() {
            p.meta { (finding.requests.len() - shown.len()) " more requests of this group are in the replay file." }
        }
    }
}

fn exchange(finding: &Finding, member: usize) -> Markup {
    let Some(sent) = finding.requests.get(member) else {
        return html! {};
    };
    let of = finding.requests.len();
    let wrong = member == finding.member;
    let (request_marks, answer_marks) =
        if wrong { (finding.deciding(), vec![finding.pointer.as_str()]) } else { (Vec::new(), Vec::new()) };
    let name = if sent.label.is_empty() { &sent.role } else { &sent.label };
    let title = html! { (member + 1) " of " (of) ": " (escape_controls(name)) };
    let pair = pair(sent, finding.exchanges.get(member), &request_marks, &answer_marks);
    html! {
        @if !wrong {
            details.more { summary { (title) } (pair) }
        } @else {
            @if of > 1 { p.label { (title) " " span.here { "broken here" } } }
            (pair)
        }
    }
}

/// A request and its answer, side by side where there is room, with these places marked in them. None where the answer was not kept.
fn pair(
    sent: &Request,
    exchange: Option<&Exchanged>,
    request_marks: &[&str],
    answer_marks: &[&str],
) -> Markup {
    let client = sent.client.as_ref().map(|client| format!(", with the headers of {client}"));
    let (title, answer) = match exchange {
        None => (html! { "Answer" }, Err("not kept")),
        Some(Exchanged { answer: Err(failure), .. }) => (html! { "No answer" }, Err(failure.as_str())),
        Some(Exchanged { answer: Ok(response), .. }) => {
            (html! { "Answer, HTTP " (response.status) }, Ok((response.body.text.as_str(), answer_marks)))
        }
    };
    html! {
        div.exchange {
            (side(&html! { "Request" (client.unwrap_or_default()) }, Ok((&sent.body.text, request_marks))))
            (side(&title, answer))
        }
    }
}

/// What the same request got when it was sent again, where that was not the same each time.
fn attempts(finding: &Finding) -> Markup {
    let gist = |attempt: &Attempt| match &attempt.actual {
        Some(actual) => format!("broken again: {}", cut(&escape_controls(actual), 200)),
        None => "held".to_owned(),
    };
    html! {
        @if finding.attempts.iter().any(|attempt| attempt.actual.as_ref() != Some(&finding.actual)) {
            details.more {
                summary { "The same bytes sent again: " (words::reproduced(finding)) }
                ol { @for attempt in &finding.attempts { li { (gist(attempt)) } } }
            }
        }
    }
}

/// The members that are shown: the one that breaks the rule, and the one it is compared with.
fn shown(finding: &Finding) -> Vec<usize> {
    let all = finding.requests.len();
    if all <= MOST_MEMBERS { (0..all).collect() } else { finding.first_and_wrong() }
}
