//! A defect in the terminal report: what is wrong, the cause, the smallest request and its answer, the rules it breaks, and how to
//! repeat it.

use crate::report::{
    model::{Defect, Exchanged, Finding, JudgedRule},
    terminal::Page,
    text::{compact, words},
};
use paymaster_settings::{escape_controls, wrapped};
use serde_json::Value;

/// Longest part of an answer that is shown on one line, in characters.
const LONGEST_ANSWER: usize = 320;

/// The column of the values.
const COLUMN: usize = 13;

/// How many rules and other replay files of a defect are shown. The rest is counted.
const MOST: usize = 3;

/// Writes a defect: its first finding, and each rule that it breaks. A warning has three lines, unless everything is shown.
pub(crate) fn write(page: &mut Page<'_>, defect: &Defect) {
    let Some(finding) = page.report.shown(defect) else {
        return;
    };
    headline(page, defect);
    if !defect.fails && !page.extent.verbose {
        let more = match defect.rules.len() - 1 {
            0 => String::new(),
            more => format!(" and {}", words::count(more as u128, "other rule")),
        };
        let times = words::count(finding.times, "time");
        page.out.line(&format!("  breaks {}{more}, seen {times}; -v shows it whole", finding.rule));
        return;
    }
    if let Some(cause) = &defect.cause_in_words {
        row(page, "cause", cause);
    }
    write_exchanges(page, finding);
    breaks(page, defect, finding);
    repeat(page, defect, finding);
}

/// Writes what is wrong: of a warning, on two lines at most.
pub(crate) fn headline(page: &mut Page<'_>, defect: &Defect) {
    let is_flaky = page.report.shown(defect).is_some_and(Finding::is_flaky);
    let flaky = if defect.fails && is_flaky { "FLAKY " } else { "" };
    let label = format!("{flaky}{}", defect.label.to_uppercase());
    let painted = if defect.fails { page.paint.bad(&label) } else { page.paint.odd(&label) };
    let longest =
        if defect.fails || page.extent.verbose { usize::MAX } else { 2 * page.out.width - label.len() - 24 };
    let headline = beginning_of(escape_controls(&defect.headline), longest);
    for (place, line) in wrapped(&format!("{label}  {headline}"), page.out.width - 2).iter().enumerate() {
        match line.strip_prefix(&label) {
            Some(rest) if place == 0 => page.out.line(&format!("{painted}{rest}")),
            _ => page.out.line(&format!("  {line}")),
        }
    }
}

/// A text, or the beginning of a long one, up to the end of a word or of a JSON value where that leaves more than half.
fn beginning_of(text: String, longest: usize) -> String {
    let note = format!("… ({} characters)", text.chars().count());
    let (Some(_), Some((end, _))) = (
        text.char_indices().nth(longest),
        text.char_indices().nth(longest.saturating_sub(note.chars().count())),
    ) else {
        return text;
    };
    let start = &text[..end];
    let between = start.rfind([' ', ',']).filter(|place| 2 * place > end);
    format!("{}{note}", between.map_or(start, |place| &start[..place]))
}

/// The request and its answer, the one it is compared with, and the answer to the nearest request that does not break the rule.
fn write_exchanges(page: &mut Page<'_>, finding: &Finding) {
    if let Some(request) = words::recorded(finding) {
        row(page, "recorded", &request.label);
    }
    for member in finding.first_and_wrong() {
        request(page, finding, member);
    }
    if let (Some(cause), Some(contrast)) = (&finding.details.cause, &finding.details.contrast)
        && !cause.right.is_empty()
    {
        let answer = contrast.exchanges.get(contrast.member).map(Exchanged::line).unwrap_or_default();
        let answer = compact::cut(&escape_controls(&answer), LONGEST_ANSWER / 2);
        let text = format!("{}: {answer}", escape_controls(&cause.right));
        row(page, if cause.compares { "other" } else { "right" }, &text);
    }
    if let Some(client) = finding.request().and_then(|request| request.client.as_ref()) {
        row(page, "headers", &format!("those of {client}"));
    }
}

/// The rules, a line each: id, section, basis and statement; and what to change.
fn breaks(page: &mut Page<'_>, defect: &Defect, finding: &Finding) {
    let report = page.report;
    let rules: Vec<&JudgedRule> = report.rules_of(defect).collect();
    let whole = if page.extent.verbose { rules.len() } else { MOST };
    for (place, rule) in rules.iter().take(whole).enumerate() {
        let head = if place == 0 { "breaks" } else { "" };
        let text = format!("{} (section {}, {}): {}", rule.id, rule.section, rule.basis, rule.text);
        row(page, head, &text);
    }
    if rules.len() > whole {
        let ids: Vec<&str> = rules[whole..].iter().map(|rule| rule.id.as_str()).collect();
        row(page, "", &format!("and {}", some(&ids)));
    }
    if !finding.details.hint.is_empty() {
        row(page, "hint", &finding.details.hint);
    }
}

/// The first ones, and how many more there are.
fn some(all: &[&str]) -> String {
    let shown = all[..all.len().min(MOST)].join(", ");
    if all.len() > MOST { format!("{shown} and {} more", all.len() - MOST) } else { shown }
}

/// How often it was seen, the command lines that repeat it, and the other places at which its rules are broken.
fn repeat(page: &mut Page<'_>, defect: &Defect, finding: &Finding) {
    let report = page.report;
    // Not in columns: `reproduced 3/3` is one phrase.
    page.out.hanging("  ", COLUMN, &words::seen(finding));
    match &finding.curl {
        Some(line) if page.extent.verbose || line.len() + COLUMN <= page.out.width => {
            page.out.line(&format!("  cURL       {line}"));
        }
        Some(line) => {
            row(page, "cURL", &format!("-v prints the line of {} characters", line.chars().count()));
        }
        None => row(page, "cURL", "none: the body is too long for a command line, or has a secret"),
    }
    if let Some(line) = &finding.details.replay {
        page.out.line(&format!("  replay     {line}"));
    }
    if let Some(names) = &report.details.exports {
        row(page, "", &format!("(export {names} first)"));
    }
    let others = defect.findings.iter().skip(1).filter_map(|number| report.findings.get(*number));
    let replays: Vec<&str> = others.filter_map(|finding| finding.replay_file.as_deref()).collect();
    if !replays.is_empty() {
        row(page, "also in", &if page.extent.verbose { replays.join(", ") } else { some(&replays) });
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
    let head = if of == 1 { "request" } else { "" };
    match serde_json::from_str::<Value>(&request.body.text) {
        Ok(value) if !is_about_writing => {
            let whole = compact::pretty_marked(&value, &marks, COLUMN, page.out.width);
            let params = value["params"].as_array().map_or(0, Vec::len);
            let params: Vec<String> = (0..params).map(|place| format!("/params/{place}")).collect();
            let params: Vec<&str> = params.iter().map(String::as_str).collect();
            let shown = if page.extent.verbose {
                whole.clone()
            } else {
                compact::folded(&value, &marks, &params, COLUMN, page.out.width)
            };
            page.out.line(&format!("  {head:<11}{shown}"));
            let lines = whole.lines().count().saturating_sub(shown.lines().count());
            if lines > 0 {
                let lines = words::count(lines as u128, "line");
                row(page, "", &format!("({lines} folded: -v, or the replay file, has the whole request)"));
            }
        }
        // Shown as it is written.
        _ => {
            let text = compact::cut(&escape_controls(&request.body.text), LONGEST_ANSWER);
            page.out.line(&format!("  {head:<11}{text}"));
        }
    }
    if let Some(exchange) = finding.exchanges.get(number) {
        let pointer = is_wrong.then_some(finding.pointer.as_str());
        match exchange.marked(pointer, page.extent.verbose, (COLUMN, page.out.width)) {
            Some(answer) => page.out.line(&format!("  {:<11}{answer}", "answer")),
            None => row(page, "answer", &compact::cut(&escape_controls(&exchange.line()), LONGEST_ANSWER)),
        }
    }
}

fn row(page: &mut Page<'_>, name: &str, text: &str) {
    page.out.hanging(&format!("  {name:<11}"), COLUMN, &escape_controls(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_headline_ends_after_a_word() {
        let text = "expected a result as for the baseline, got an error with a code";
        let cut = beginning_of(text.to_owned(), 50);
        assert_eq!(cut, "expected a result as for the… (63 characters)");
        assert_eq!(beginning_of(text.to_owned(), 63), text);
        let value = "5a".repeat(40);
        assert!(beginning_of(value.clone(), 50).starts_with(&value[..30]), "no word ends in it");
    }
}
