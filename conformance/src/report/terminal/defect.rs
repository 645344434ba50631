//! A defect in the terminal report: what is wrong, the cause, the smallest request and its answer, the rules it breaks, and how to
//! repeat it.

use crate::report::{
    model::{Contrast, Defect, Exchanged, Finding},
    terminal::{Page, WIDTH},
    text::{compact, words},
};
use paymaster_engine::cases::case::Role;
use paymaster_settings::output::terminal::{escape_controls, wrapped};

/// Longest part of an answer that is shown on one line, in characters.
const LONGEST_ANSWER: usize = 320;

/// The column of the values.
const COLUMN: usize = 13;

/// Writes a defect: its first finding in full, and each rule that it breaks in one line.
pub(crate) fn write(page: &mut Page<'_>, defect: &Defect) {
    let Some(finding) = page.report.shown(defect) else {
        return;
    };
    let label = match (defect.fails, finding.is_flaky()) {
        (false, _) => "WARNING".to_owned(),
        (true, true) => format!("FLAKY DEFECT {}", defect.number),
        (true, false) => format!("DEFECT {}", defect.number),
    };
    let painted = if defect.fails { page.paint.bad(&label) } else { page.paint.odd(&label) };
    let headline = escape_controls(&defect.headline);
    for (place, line) in wrapped(&format!("{label}  {headline}"), WIDTH - 2).iter().enumerate() {
        match line.strip_prefix(&label) {
            Some(rest) if place == 0 => page.line(&format!("{painted}{rest}")),
            _ => page.line(&format!("  {line}")),
        }
    }
    if let Some(cause) = &defect.cause_in_words {
        row(page, "cause", cause);
    }
    write_exchanges(page, finding);
    breaks(page, defect, finding);
    repeat(page, defect, finding);
}

/// The request and its answer, the one it is compared with, and the answer to the nearest request that does not break the rule.
fn write_exchanges(page: &mut Page<'_>, finding: &Finding) {
    if let Some(request) = words::recorded(finding) {
        row(page, "recorded", &request.label);
    }
    row(page, "at", finding.at());
    for member in shown(finding) {
        request(page, finding, member);
    }
    if let (Some(cause), Some(contrast)) = (&finding.details.cause, &finding.details.contrast)
        && !cause.right.is_empty()
    {
        let text = format!("{}: {}", escape_controls(&cause.right), contrast_answer(contrast));
        row(page, "right", &text);
    }
    if let Some(client) = finding.request().and_then(|request| request.client.as_ref()) {
        row(page, "headers", &format!("those of {client}"));
    }
}

fn contrast_answer(contrast: &Contrast) -> String {
    let answer = contrast.exchanges.get(contrast.member).map(Exchanged::line);
    compact::cut(&escape_controls(&answer.unwrap_or_default()), LONGEST_ANSWER / 2)
}

/// The rules, a line each: id, section, basis and statement; and how to look further.
fn breaks(page: &mut Page<'_>, defect: &Defect, finding: &Finding) {
    let report = page.report;
    for (place, rule) in report.rules_of(defect).enumerate() {
        let head = if place == 0 { "breaks" } else { "" };
        let text = format!("{} (section {}, {}): {}", rule.id, rule.section, rule.basis, rule.text);
        row(page, head, &text);
    }
    if let Some(rule) = report.rule(&finding.rule)
        && !rule.hint.is_empty()
    {
        row(page, "hint", &rule.hint);
    }
}

/// How often it was seen, the command lines that repeat it, and the other places at which its rules are broken.
fn repeat(page: &mut Page<'_>, defect: &Defect, finding: &Finding) {
    let report = page.report;
    // Not in columns: `reproduced 3/3` is one phrase.
    page.hanging("  ", COLUMN, &words::seen(finding));
    match &finding.curl {
        Some(line) => page.line(&format!("  cURL       {line}")),
        None => row(page, "cURL", "none: the body is too long for a command line, or has a secret"),
    }
    if let Some(line) = &finding.details.replay {
        page.line(&format!("  replay     {line}"));
    }
    if let Some(names) = &report.details.exports {
        row(page, "", &format!("(export {names} first)"));
    }
    let others = defect.findings.iter().skip(1).filter_map(|number| report.findings.get(*number));
    let replays: Vec<&str> = others.filter_map(|finding| finding.replay_file.as_deref()).collect();
    if !replays.is_empty() {
        row(page, "also in", &replays.join(", "));
    }
}

/// The requests that are shown: the one that breaks the rule, and the one it is compared with.
fn shown(finding: &Finding) -> Vec<usize> {
    let wrong = finding.member;
    let baseline = finding.requests.iter().position(|request| request.role == Role::Baseline.name());
    match baseline.or((wrong > 0).then_some(0)) {
        Some(first) if first != wrong => vec![first, wrong],
        _ => vec![wrong],
    }
}

fn request(page: &mut Page<'_>, finding: &Finding, number: usize) {
    let Some(request) = finding.requests.get(number) else {
        return;
    };
    let of = finding.requests.len();
    if of > 1 {
        let name = if request.label.is_empty() { &request.role } else { &request.label };
        row(page, "request", &format!("{} of {of}: {name}", number + 1));
    }
    let is_wrong = number == finding.member;
    let marks = if is_wrong { finding.deciding() } else { Vec::new() };
    let is_about_writing = is_wrong && finding.details.cause.as_ref().is_some_and(|cause| cause.is_writing);
    let body = match serde_json::from_str(&request.body.text) {
        Ok(value) if !is_about_writing => compact::pretty_marked(&value, &marks, COLUMN, WIDTH),
        // Shown as it is written.
        _ => compact::cut(&escape_controls(&request.body.text), LONGEST_ANSWER),
    };
    let head = if of == 1 { "request" } else { "" };
    page.line(&format!("  {head:<11}{body}"));
    if let Some(exchange) = finding.exchanges.get(number) {
        answer(page, exchange, if is_wrong { &finding.pointer } else { "" });
    }
}

/// The answer on one line; where it has the place at which the rule is broken, on several, with the place marked.
fn answer(page: &mut Page<'_>, exchange: &Exchanged, pointer: &str) {
    if !pointer.is_empty()
        && let Ok(response) = &exchange.answer
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(&response.body.text)
        && value.pointer(pointer).is_some()
    {
        let text = compact::folded(&value, &[pointer], COLUMN, WIDTH);
        page.line(&format!("  {:<11}HTTP {}  {text}", "answer", response.status));
        return;
    }
    row(page, "answer", &compact::cut(&escape_controls(&exchange.line()), LONGEST_ANSWER));
}

fn row(page: &mut Page<'_>, name: &str, text: &str) {
    page.hanging(&format!("  {name:<11}"), COLUMN, &escape_controls(text));
}
