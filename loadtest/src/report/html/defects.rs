//! Wrong answers: each defect as the report of a conformance run shows one, with at most three examples.

use maud::{Markup, html};
use paymaster_settings::{
    escape_controls,
    output::{
        page::{code_spans, copyable, expectation, id, side},
        shell::quoted,
        terminal::{cut, wrapped},
    },
    specifications::find_rule,
};

use crate::{
    figures::{Example, LONGEST_BODY, WrongAnswers},
    report::wrong::{WrongGroup, groups},
    results::summary::RunSummary,
    text::count,
};

/// Longer values are cut in titles, in characters.
const LONGEST_VALUE: usize = 60;

/// The wrong answers.
pub(super) fn section(summary: &RunSummary) -> Markup {
    let groups = groups(&summary.figures.wrong);
    html! {
        @if !groups.is_empty() {
            section #wrong {
                h2 { "Wrong answers" }
                @for (place, group) in groups.iter().enumerate() { (defect(summary, place + 1, group)) }
            }
        }
    }
}

fn defect(summary: &RunSummary, place: usize, group: &WrongGroup<'_>) -> Markup {
    let Some((first, others)) = group.examples().split_first() else { return html! {} };
    let Example { expected, actual, .. } = &first.example;
    html! {
        article.defect id=(format!("defect-{place}")) data-state="broken" {
            h3 {
                span.number { "Defect " (place) }
                span.said { "expected " (escape_controls(expected)) "; found: " (short(&escape_controls(actual))) }
                span.held { (escape_controls(&group.headline(summary.figures.total(None).judged))) }
            }
            dl.what {
                (expectation(expected, actual, place_of(first)))
                @if let Some(rule) = find_rule(group.rule) {
                    div { dt { "breaks" } dd { (code_spans(rule.clause().text)) " " span.rule-id { (id(rule.id)) } } }
                    @if !rule.hint.is_empty() { div { dt { "hint" } dd { (rule.hint) } } }
                } @else {
                    div { dt { "breaks" } dd.rule-id { (escape_controls(group.rule)) } }
                }
            }
            (example(summary, &format!("curl-{place}"), first))
            @for (number, kind) in others.iter().enumerate() {
                details.more {
                    summary { "in " (escape_controls(&kind.key.label)) ", " (escape_controls(place_of(kind))) ": " (count(kind.times, "answer")) }
                    dl.what { (expectation(&kind.example.expected, &kind.example.actual, place_of(kind))) }
                    (example(summary, &format!("curl-{place}-{number}"), kind))
                }
            }
            @if group.hidden() > 0 {
                p.meta { (count(group.hidden(), "more example")) " of other scenarios or places: see the JSON report" }
            }
        }
    }
}

/// A request beside its answer, and the command that sends it again, whose id on the page is `curl`.
fn example(summary: &RunSummary, curl: &str, kind: &WrongAnswers) -> Markup {
    let Example { request, status, response, pointer, .. } = &kind.example;
    let status = status.map_or_else(|| "No answer".to_owned(), |status| format!("Answer, HTTP {status}"));
    html! {
        div.exchange {
            (side(&html! { "Request" }, Ok((request, &[]))))
            (side(&html! { (status) }, Ok((response, &[pointer]))))
        }
        @if summary.curl.without_body.is_empty() || request.len() >= LONGEST_BODY {
            p.meta { "The request is too long for this report, or was sent by an earlier version." }
        } @else {
            div.commands { (copyable(curl, "cURL", &format!("{} --data-raw {}", summary.curl.without_body, quoted(request)))) }
            @if let Some(names) = &summary.curl.needs { p.meta { "Export " code { (names) } " first." } }
        }
    }
}

/// A value for a title: cut between words, or in the middle of a long word.
fn short(value: &str) -> String {
    match wrapped(value, LONGEST_VALUE).as_slice() {
        [_] => value.to_owned(),
        [first, ..] if first.len() > LONGEST_VALUE / 2 && value[first.len()..].starts_with(' ') => {
            format!("{first} …")
        }
        _ => cut(value, LONGEST_VALUE),
    }
}

fn place_of(kind: &WrongAnswers) -> &str {
    if kind.key.pointer.is_empty() { "the whole answer" } else { &kind.key.pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_cut_between_words_unless_one_word_is_too_long() {
        let address = format!("0x{}", "5a".repeat(20));
        let listed = format!("{address}, which is not in tokens");
        assert_eq!(short(&address), address);
        assert_eq!(short(&listed), format!("{address}, which is not in …"));
        for long in [format!("0x{}", "5a".repeat(65)), format!("got 0x{}", "5a".repeat(65))] {
            assert_eq!(short(&long), cut(&long, LONGEST_VALUE));
        }
    }
}
