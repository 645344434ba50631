//! A finding: expected and actual value, the smallest request beside its answer, and how to repeat it.

use maud::{Markup, html};

use crate::report::{
    html::{Page, json},
    text::{compact::cut, curl, words},
};
use paymaster_engine::{
    cases::case::{Member, Role},
    diagnosis::cause::Cause,
    verdict::finding::{Attempt, Finding},
};
use paymaster_exchange::Exchange;

/// The longest text that is not JSON, in characters; longer ones are cut.
const LONGEST_TEXT: usize = 2000;

/// Of larger groups only the baseline and the member that breaks the rule are shown.
const MOST_MEMBERS: usize = 4;

/// A request, its answer, and what is marked in both.
pub(super) struct Shown<'a> {
    /// The request.
    pub(super) sent: &'a Member,
    /// The places that are marked in it, as JSON pointers.
    pub(super) request_marks: Vec<&'a str>,
    /// What came back; none where it was not kept.
    pub(super) exchange: Option<&'a Exchange>,
    /// The places that are marked in the answer, as JSON pointers.
    pub(super) answer_marks: Vec<&'a str>,
    /// Whether it breaks the rule.
    pub(super) wrong: bool,
}

/// The members of the request that decide, as JSON pointers.
pub(super) fn pointers(finding: &Finding) -> Vec<&str> {
    let members = finding.cause.iter().flat_map(Cause::members);
    members.map(|member| member.pointer.as_str()).collect()
}

impl Page<'_> {
    /// A finding that is shown alone.
    pub(super) fn finding(&self, number: usize, finding: &Finding) -> Markup {
        html! {
            article.finding {
                @if let Some(entry) = self.finished.summary.known_entry(finding) {
                    p.excused { "Known to fail: " (self.foreign(&entry.reason)) " (" (self.foreign(&entry.owner)) ", until " (entry.expires) ")" }
                }
                (self.evidence(finding))
                (self.repeat(number, finding))
            }
        }
    }

    /// What was expected, and the requests with their answers.
    pub(super) fn evidence(&self, finding: &Finding) -> Markup {
        let violation = &finding.violation;
        let shown = shown(finding);
        html! {
            dl.what {
                @if let Some(member) = words::recorded(finding) {
                    div { dt { "recorded" } dd { (self.foreign(&member.label)) } }
                }
                div { dt { "at" } dd { code { (self.foreign(words::place(finding))) } } }
                div.expected { dt { "expected" } dd { code { (self.foreign(&violation.expected)) } } }
                div.actual { dt { "actual" } dd { code { (cut(&self.foreign(&violation.actual), LONGEST_TEXT)) } } }
                div { dt { "call" } dd {
                    @if let Some(pair) = finding.pair { (pair.words()) ", " }
                    (words::seen(finding))
                } }
            }
            @for member in &shown {
                (self.exchange(finding, *member))
            }
            @if shown.len() < finding.group.members.len() {
                p.meta { (finding.group.members.len() - shown.len()) " more requests of this group are in the replay file." }
            }
        }
    }

    /// How often it was seen again, and the lines that repeat it.
    pub(super) fn repeat(&self, number: usize, finding: &Finding) -> Markup {
        let broken = finding.group.members.get(finding.violation.member);
        let line = broken.and_then(|member| curl::line(self.finished.place, member));
        let replay = self.finished.replay_line(number);
        html! {
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

    fn exchange(&self, finding: &Finding, member: usize) -> Markup {
        let Some(sent) = finding.group.members.get(member) else {
            return html! {};
        };
        let of = finding.group.members.len();
        let wrong = member == finding.violation.member;
        let (request_marks, answer_marks) = if wrong {
            (pointers(finding), vec![finding.violation.pointer.as_str()])
        } else {
            (Vec::new(), Vec::new())
        };
        html! {
            @if of > 1 {
                h4 { (member + 1) " of " (of) ": " (sent.role) " " (self.foreign(&sent.label)) @if wrong { " " span.here { "broken here" } } }
            }
            (self.pair(&Shown { sent, request_marks, exchange: finding.exchanges.get(member), answer_marks, wrong }))
        }
    }

    /// A request and its answer, side by side where there is room.
    pub(super) fn pair(&self, shown: &Shown<'_>) -> Markup {
        let request = self.foreign_body(&shown.sent.body);
        html! {
            div.exchange {
                figure.request[shown.wrong] {
                    figcaption { "Request" @if let Some(client) = shown.sent.sent_as { ", with the headers of " (client.name) } }
                    (body(&request, &shown.request_marks))
                }
                figure.answer[shown.wrong] {
                    @match shown.exchange {
                        None => { figcaption { "Answer" } p.none { "not kept" } },
                        Some(Exchange { outcome: Err(failure), .. }) => {
                            figcaption { "No answer" }
                            p.none { (self.foreign(&failure.to_string())) }
                        },
                        Some(Exchange { outcome: Ok(response), .. }) => {
                            figcaption { "Answer, HTTP " (response.status) }
                            @if response.body.is_empty() { p.none { "empty body" } } @else { (body(&self.foreign_body(&response.body), &shown.answer_marks)) }
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
        self.finished.redacted(&String::from_utf8_lossy(bytes))
    }
}

/// A body: JSON in lines with these places marked, or the text as it is.
fn body(text: &str, pointers: &[&str]) -> Markup {
    html! {
        pre tabindex="0" {
            code {
                @match json::marked(text, pointers) {
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
    if first == wrong { vec![wrong] } else { vec![first, wrong] }
}
