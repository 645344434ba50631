//! A defect in the terminal report: what is wrong, the cause, the smallest request and its answer, the rules it breaks, and how to
//! repeat it.

use crate::report::{
    terminal::{Page, WIDTH},
    text::{compact, curl, defects, words},
};
use paymaster_engine::{
    cases::case::{Group, Role},
    diagnosis::{
        cause::{Cause, Contrast},
        defect::Defect,
        sentence,
    },
    verdict::finding::Finding,
};
use paymaster_exchange::Exchange;
use paymaster_settings::output::terminal::wrapped;

/// Longest part of an answer that is shown on one line, in characters.
const LONGEST_ANSWER: usize = 320;

/// The column of the values.
const COLUMN: usize = 13;

/// Writes a defect: its first finding in full, and each rule that it breaks in one line.
pub(crate) fn write(page: &mut Page<'_>, number: usize, defect: &Defect, failing: bool) {
    let findings = &page.finished.summary.findings;
    let Some(finding) = defect.shown(findings) else {
        return;
    };
    let label = match (failing, finding.is_flaky()) {
        (false, _) => "WARNING".to_owned(),
        (true, true) => format!("FLAKY DEFECT {number}"),
        (true, false) => format!("DEFECT {number}"),
    };
    let painted = if failing { page.paint.bad(&label) } else { page.paint.odd(&label) };
    let headline = page.foreign(&defects::safe_headline(defect, page.finished));
    for (place, line) in wrapped(&format!("{label}  {headline}"), WIDTH - 2).iter().enumerate() {
        match line.strip_prefix(&label) {
            Some(rest) if place == 0 => page.line(&format!("{painted}{rest}")),
            _ => page.line(&format!("  {line}")),
        }
    }
    if let Some(cause) = sentence::cause_of(finding) {
        let cause = page.foreign(&cause);
        row(page, "cause", &cause);
    }
    write_exchanges(page, finding);
    breaks(page, defect);
    repeat(page, defect, finding);
}

/// The request and its answer, the one it is compared with, and the answer to the nearest request that does not break the rule.
fn write_exchanges(page: &mut Page<'_>, finding: &Finding) {
    if let Some(member) = words::recorded(finding) {
        row(page, "recorded", &member.label);
    }
    let pointer = page.foreign(words::place(finding));
    row(page, "at", &pointer);
    for member in shown(&finding.group, finding.violation.member) {
        request(page, finding, member);
    }
    if let (Some(cause), Some(contrast)) = (&finding.cause, &finding.contrast)
        && let condition = sentence::passing_condition(cause)
        && !condition.is_empty()
    {
        let answer = contrast_answer(page, contrast);
        let text = format!("{}: {answer}", page.foreign(&condition));
        row(page, "right", &text);
    }
    let broken = finding.group.members.get(finding.violation.member);
    if let Some(client) = broken.and_then(|member| member.sent_as) {
        row(page, "headers", &format!("those of {}", client.name));
    }
}

fn contrast_answer(page: &Page<'_>, contrast: &Contrast) -> String {
    let answer = contrast.exchanges.get(contrast.member).map(words::answer);
    compact::cut(&page.foreign(&answer.unwrap_or_default()), LONGEST_ANSWER / 2)
}

/// The rules, a line each: id, section, basis and statement; and how to look further.
fn breaks(page: &mut Page<'_>, defect: &Defect) {
    let findings = &page.finished.summary.findings;
    for (place, rule) in defect.rules(findings).into_iter().enumerate() {
        let clause = rule.clause();
        let head = if place == 0 { "breaks" } else { "" };
        let text = format!("{} (section {}, {}): {}", rule.id, clause.section, clause.basis, clause.text);
        row(page, head, &text);
    }
    if let Some(finding) = defect.shown(findings)
        && !finding.rule.hint.is_empty()
    {
        row(page, "hint", finding.rule.hint);
    }
}

/// How often it was seen, the command lines that repeat it, and the other places at which its rules are broken.
fn repeat(page: &mut Page<'_>, defect: &Defect, finding: &Finding) {
    let finished = page.finished;
    // Not in columns: `reproduced 3/3` is one phrase.
    page.hanging("  ", COLUMN, &words::seen(finding));
    let broken = finding.group.members.get(finding.violation.member);
    match broken.and_then(|member| curl::line(finished.place, member)) {
        Some(line) => page.line(&format!("  cURL       {line}")),
        None => row(page, "cURL", "the body is too long for a command line: use the replay file"),
    }
    if let Some(line) = finished.replay_line(defect.findings[0]) {
        page.line(&format!("  replay     {line}"));
    }
    if let Some(names) = curl::needs(finished.place) {
        row(page, "", &format!("(export {names} first)"));
    }
    let others = &defect.findings[1..];
    let replays: Vec<String> = others.iter().filter_map(|number| replay(page, *number)).collect();
    if !replays.is_empty() {
        row(page, "also in", &replays.join(", "));
    }
}

/// The members that are shown: the one that breaks the rule, and the one it is compared with.
fn shown(group: &Group, wrong: usize) -> Vec<usize> {
    let baseline = group.members.iter().position(|member| member.role == Role::Baseline);
    match baseline.or((wrong > 0).then_some(0)) {
        Some(first) if first != wrong => vec![first, wrong],
        _ => vec![wrong],
    }
}

fn request(page: &mut Page<'_>, finding: &Finding, number: usize) {
    let Some(member) = finding.group.members.get(number) else {
        return;
    };
    let alone = finding.group.members.len() == 1;
    if !alone {
        let of = finding.group.members.len();
        let name = match member.label.as_str() {
            "" => member.role.name(),
            label => label,
        };
        row(page, "request", &format!("{} of {of}: {name}", number + 1));
    }
    let is_wrong = number == finding.violation.member;
    let marks: Vec<&str> = match &finding.cause {
        Some(cause) if is_wrong => cause.members().iter().map(|member| member.pointer.as_str()).collect(),
        _ => Vec::new(),
    };
    let is_about_writing = is_wrong && matches!(finding.cause, Some(Cause::Writing));
    let body = match serde_json::from_slice(&member.body) {
        Ok(value) if !is_about_writing => compact::pretty_marked(&value, &marks, COLUMN, WIDTH),
        // Shown as it is written.
        _ => compact::cut(
            &paymaster_settings::output::terminal::escape_controls(&String::from_utf8_lossy(&member.body)),
            LONGEST_ANSWER,
        ),
    };
    let head = if alone { "request" } else { "" };
    page.line(&format!("  {head:<11}{body}"));
    if let Some(exchange) = finding.exchanges.get(number) {
        let pointer = is_wrong.then_some(finding.violation.pointer.as_str());
        answer(page, exchange, pointer.unwrap_or_default());
    }
}

/// The answer on one line; where it has the place at which the rule is broken, on several, with the place marked.
fn answer(page: &mut Page<'_>, exchange: &Exchange, pointer: &str) {
    if !pointer.is_empty()
        && let Ok(response) = &exchange.outcome
        && let Ok(body) = std::str::from_utf8(&response.body)
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(&page.foreign(body))
        && value.pointer(pointer).is_some()
    {
        let text = compact::folded(&value, &[pointer], COLUMN, WIDTH);
        page.line(&format!("  {:<11}HTTP {}  {text}", "answer", response.status));
        return;
    }
    let text = compact::cut(&page.foreign(&words::answer(exchange)), LONGEST_ANSWER);
    row(page, "answer", &text);
}

fn row(page: &mut Page<'_>, name: &str, text: &str) {
    page.hanging(&format!("  {name:<11}"), COLUMN, text);
}

fn replay(page: &Page<'_>, number: usize) -> Option<String> {
    let path = page.finished.replays.get(number)?.as_ref()?;
    Some(path.display().to_string())
}
