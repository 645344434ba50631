//! Wrong answers: one part for each defect, with at most three examples.

use paymaster_settings::specifications::find_rule;
use std::fmt::Write as _;

use super::escaped;
use crate::{
    figures::{Example, WrongAnswers},
    report::wrong::{WrongGroup, groups},
    results::summary::RunSummary,
    text::{count, number, share},
};

/// Characters of a body that are shown.
const EXCERPT: usize = 1_200;

/// The wrong answers.
pub(super) fn write(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let groups = groups(&summary.figures.wrong);
    if groups.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Wrong answers</h2>\n");
    let judged = summary.figures.total(None).judged;
    for group in &groups {
        defect(out, group, judged)?;
    }
    Ok(())
}

fn defect(out: &mut String, group: &WrongGroup<'_>, judged: u64) -> std::fmt::Result {
    let statement = find_rule(group.rule).map_or("", |rule| rule.clause().text);
    writeln!(
        out,
        "<div class=\"wrong\"><h3>{} <code class=\"soft\">{}</code></h3>\n<p>{} of the judged answers ({}), in {}</p>",
        code_spans(statement),
        escaped(group.rule),
        number(group.times),
        share(group.times, judged),
        escaped(&group.labels().join(", ")),
    )?;
    for (place, kind) in group.examples().iter().enumerate() {
        if place == 0 {
            example(out, kind)?;
        } else {
            writeln!(
                out,
                "<details><summary>in {}, {}: {}</summary>",
                escaped(&kind.key.label),
                place_of(kind),
                count(kind.times, "answer")
            )?;
            example(out, kind)?;
            out.push_str("</details>\n");
        }
    }
    if group.hidden() > 0 {
        writeln!(
            out,
            "<p class=\"soft\">{} of other scenarios or places: see the JSON report</p>",
            count(group.hidden(), "more example")
        )?;
    }
    out.push_str("</div>\n");
    Ok(())
}

fn example(out: &mut String, kind: &WrongAnswers) -> std::fmt::Result {
    let Example { expected, actual, request, status, response } = &kind.example;
    let http = status.filter(|status| *status != 200);
    let http = http.map_or_else(String::new, |status| format!("HTTP {status} "));
    writeln!(
        out,
        "<dl class=\"example\"><dt>where</dt><dd><code>{}</code></dd><dt>expected</dt><dd>{}</dd><dt>got</dt><dd>{}</dd><dt>request</dt><dd><code>{}</code></dd><dt>answer</dt><dd><code>{http}{}</code></dd></dl>",
        place_of(kind),
        escaped(expected),
        escaped(actual),
        excerpt(request),
        excerpt(response)
    )
}

fn place_of(kind: &WrongAnswers) -> String {
    if kind.key.pointer.is_empty() { "the whole answer".to_owned() } else { escaped(&kind.key.pointer) }
}

fn excerpt(raw: &str) -> String {
    match raw.char_indices().nth(EXCERPT) {
        None => escaped(raw),
        Some((cut, _)) => format!("{}... ({} bytes)", escaped(&raw[..cut]), raw.len()),
    }
}

/// A text of ours in which backticks mark code.
fn code_spans(text: &str) -> String {
    let mut html = String::new();
    for (place, part) in text.split('`').enumerate() {
        if place % 2 == 1 {
            // Writing to a String cannot fail.
            let _ = write!(html, "<code>{}</code>", escaped(part));
        } else {
            html.push_str(&escaped(part));
        }
    }
    html
}
