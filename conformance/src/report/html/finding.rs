//! A finding: expected and actual value, the smallest request beside its answer, and how to repeat it.

use maud::{Markup, html};

use crate::report::{
    html::{Page, json},
    text::{compact::cut, curl, words},
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Role,
    verdict::{
        finding::{Attempt, Finding},
        summary::RuleOutcome,
    },
};

/// The longest text that is not JSON, in characters; longer ones are cut.
const LONGEST_TEXT: usize = 2000;

/// Of larger groups only the baseline and the member that breaks the rule are shown.
const MOST_MEMBERS: usize = 4;

impl Page<'_> {
    /// The findings of a rule.
    pub(super) fn findings(&self, outcome: &RuleOutcome) -> Markup {
        let all = self.finished.summary.findings.iter().enumerate();
        let mut own: Vec<_> = all
            .filter(|(_, finding)| finding.rule.id == outcome.rule.id)
            .collect();
        // Findings that are not known failures come first.
        own.sort_by_key(|(_, finding)| self.finished.summary.known_entry(finding).is_some());
        html! {
            @for (place, (number, finding)) in own.iter().enumerate() {
                @if place == 0 {
                    (self.finding(*number, finding))
                } @else {
                    details.more {
                        summary {
                            "Also " (finding.pair.map_or("any request", |pair| pair.name())) " at "
                            code { (self.foreign(words::place(finding))) }
                        }
                        (self.finding(*number, finding))
                    }
                }
            }
        }
    }

    fn finding(&self, number: usize, finding: &Finding) -> Markup {
        let violation = &finding.violation;
        let broken = finding.group.members.get(violation.member);
        let line = broken.and_then(|member| curl::line(self.finished.place, member));
        let replay = self.finished.replay_line(number);
        html! {
            article.finding {
                @if let Some(entry) = self.finished.summary.known_entry(finding) {
                    p.excused { "Known to fail: " (self.foreign(&entry.reason)) " (" (self.foreign(&entry.owner)) ", until " (entry.expires) ")" }
                }
                dl.what {
                    @if let Some(member) = words::recorded(finding) {
                        div { dt { "recorded" } dd { (self.foreign(&member.label)) } }
                    }
                    div { dt { "at" } dd { code { (self.foreign(words::place(finding))) } } }
                    div.expected { dt { "expected" } dd { code { (self.foreign(&violation.expected)) } } }
                    div.actual { dt { "actual" } dd { code { (cut(&self.foreign(&violation.actual), LONGEST_TEXT)) } } }
                    div { dt { "call" } dd {
                        @if let Some(pair) = finding.pair { (pair.method) " in mode " (pair.mode) ", " }
                        (words::count(finding.times, "time")) "; " (words::reproduced(finding))
                    } }
                }
                @let shown = shown(finding);
                @for member in &shown {
                    (self.exchange(finding, *member))
                }
                @if shown.len() < finding.group.members.len() {
                    p.meta { (finding.group.members.len() - shown.len()) " more requests of this group are in the replay file." }
                }
                (self.attempts(finding))
                @match &line {
                    Some(line) => (copyable(&format!("curl-{number}"), "cURL", line)),
                    None => p.meta { "The request is too long for a command line: use the replay file." },
                }
                @if let Some(replay) = &replay {
                    (copyable(&format!("replay-{number}"), "Replay", replay))
                }
                @if line.is_some() || replay.is_some() {
                    @if let Some(names) = curl::needs(self.finished.place) { p.meta { "Export " code { (names) } " first." } }
                }
            }
        }
    }

    /// A request and its answer, side by side where there is room.
    fn exchange(&self, finding: &Finding, member: usize) -> Markup {
        let Some(sent) = finding.group.members.get(member) else {
            return html! {};
        };
        let of = finding.group.members.len();
        let wrong = member == finding.violation.member;
        let pointer = wrong.then_some(finding.violation.pointer.as_str());
        let request = self.foreign_body(&sent.body);
        html! {
            @if of > 1 {
                h4 { (member + 1) " of " (of) ": " (sent.role) " " (self.foreign(&sent.label)) @if wrong { " " span.here { "broken here" } } }
            }
            div.exchange {
                figure {
                    figcaption { "Request" }
                    (body(&request, None))
                }
                figure.answer[wrong] {
                    @match finding.exchanges.get(member) {
                        None => { figcaption { "Answer" } p.none { "not kept" } },
                        Some(Exchange { outcome: Err(failure), .. }) => {
                            figcaption { "No answer" }
                            p.none { (self.foreign(&failure.to_string())) }
                        },
                        Some(Exchange { outcome: Ok(response), .. }) => {
                            figcaption { "Answer, HTTP " (response.status) }
                            @if response.body.is_empty() { p.none { "empty body" } } @else { (body(&self.foreign_body(&response.body), pointer)) }
                        },
                    }
                }
            }
        }
    }

    fn attempts(&self, finding: &Finding) -> Markup {
        let gist = |attempt: &Attempt| match &attempt.violation {
            Some(violation) => format!("broken again: {}", cut(&self.foreign(&violation.actual), 200)),
            None => "held".to_owned(),
        };
        html! {
            @if !finding.attempts.is_empty() {
                details.more {
                    summary { "The same bytes sent again: " (words::reproduced(finding)) }
                    ol { @for attempt in &finding.attempts { li { (gist(attempt)) } } }
                }
            }
        }
    }

    fn foreign_body(&self, bytes: &[u8]) -> String {
        self.finished
            .redactor
            .apply(&String::from_utf8_lossy(bytes))
            .into_owned()
    }
}

/// A body: JSON in lines with the place marked, or the text as it is.
fn body(text: &str, pointer: Option<&str>) -> Markup {
    html! {
        pre tabindex="0" {
            code {
                @match json::marked(text, pointer) {
                    Some(marked) => (marked),
                    None => (cut(&super::escape_controls(text), LONGEST_TEXT)),
                }
            }
        }
    }
}

/// A command, and a button that copies it.
fn copyable(id: &str, name: &str, line: &str) -> Markup {
    html! {
        div.command {
            div.top { span { (name) } button.copy type="button" data-copy=(id) { "Copy" span.quiet { " the " (name) " line" } } }
            pre id=(id) tabindex="0" { code { (line) } }
        }
    }
}

/// The members that are shown: the one that breaks the rule, and the one it is compared with.
fn shown(finding: &Finding) -> Vec<usize> {
    let (members, wrong) = (&finding.group.members, finding.violation.member);
    if members.len() <= MOST_MEMBERS {
        return (0..members.len()).collect();
    }
    let baseline = members.iter().position(|member| member.role == Role::Baseline);
    let first = baseline.unwrap_or(0);
    if first == wrong {
        vec![wrong]
    } else {
        vec![first, wrong]
    }
}
