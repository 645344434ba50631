//! A broken rule in the terminal report.

use crate::report::{
    terminal::{Page, WIDTH},
    text::{compact, curl, words},
};
use paymaster_judge::{
    cases::case::{Group, Role},
    verdict::{conclusion::Verdict, finding::Finding, summary::RuleOutcome},
};

/// Longest part of an answer that is shown, in characters.
const LONGEST_ANSWER: usize = 320;

/// The column of the values.
const COLUMN: usize = 13;

/// Writes a broken rule: the first finding in full, each other finding in one line.
pub(crate) fn write(page: &mut Page<'_>, outcome: &RuleOutcome, failing: bool) {
    let clause = outcome.rule.clause();
    let label = match (failing, outcome.verdict) {
        (false, _) => page.paint.odd("WARNING"),
        (true, Verdict::Flaky) => page.paint.bad("FLAKY"),
        (true, _) => page.paint.bad("FAILED"),
    };
    let rule = page.paint.name(outcome.rule.id);
    let ground = page
        .paint
        .dim(&format!("section {}, {}", clause.section, clause.basis));
    page.line(&format!("{label} {rule}  {ground}"));
    page.hanging("  ", 2, clause.text);
    if !outcome.rule.hint.is_empty() {
        page.hanging("  hint: ", 8, outcome.rule.hint);
    }
    let finished = page.finished;
    let own = finished.summary.findings.iter().enumerate();
    let known = |finding: &Finding| finished.summary.known_entry(finding).is_some();
    let mut own = own.filter(|(_, finding)| finding.rule.id == outcome.rule.id && !known(finding));
    if let Some((number, finding)) = own.next() {
        write_finding(page, number, finding);
    }
    for (number, finding) in own {
        let pair = finding.pair.map_or("any request", |pair| pair.name());
        let pointer = words::place(finding);
        let text = format!(
            "{pair} at {}: expected {}, got {} ({}){}",
            page.foreign(pointer),
            page.foreign(&finding.violation.expected),
            compact::cut(&page.foreign(&finding.violation.actual), 200),
            words::reproduced(finding),
            replay(page, number).map_or(String::new(), |path| format!(", {path}")),
        );
        page.hanging("  also       ", COLUMN, &text);
    }
}

fn write_finding(page: &mut Page<'_>, number: usize, finding: &Finding) {
    let violation = &finding.violation;
    let group = &finding.group;
    if let Some(pair) = finding.pair {
        let times = words::count(finding.times, "time");
        row(
            page,
            "call",
            &format!("{} in mode {}, {times}", pair.method, pair.mode),
        );
    }
    if let Some(member) = words::recorded(finding) {
        row(page, "recorded", &member.label);
    }
    let pointer = page.foreign(words::place(finding));
    row(page, "at", &pointer);
    let expected = page.foreign(&violation.expected);
    row(page, "expected", &expected);
    let actual = compact::cut(&page.foreign(&violation.actual), LONGEST_ANSWER);
    row(page, "actual", &actual);
    for member in shown(group, violation.member) {
        request(page, finding, member);
    }
    let again = words::reproduced(finding);
    // Not in columns: `reproduced 3/3` is one phrase.
    page.hanging("  ", COLUMN, &again);
    let finished = page.finished;
    let broken = group.members.get(violation.member);
    if let Some(client) = broken.and_then(|member| member.sent_as) {
        row(page, "headers", &format!("those of {}", client.name));
    }
    match broken.and_then(|member| curl::line(finished.place, member)) {
        Some(line) => page.line(&format!("  cURL       {line}")),
        None => row(
            page,
            "cURL",
            "the body is too long for a command line: use the replay file",
        ),
    }
    if let Some(line) = finished.replay_line(number) {
        page.line(&format!("  replay     {line}"));
    }
    if let Some(names) = curl::needs(finished.place) {
        row(page, "", &format!("(export {names} first)"));
    }
}

/// The members that are shown: the one that breaks the rule, and the one it is compared with.
fn shown(group: &Group, wrong: usize) -> Vec<usize> {
    let baseline = group
        .members
        .iter()
        .position(|member| member.role == Role::Baseline);
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
        let text = format!("{} of {of}: {} {}", number + 1, member.role, member.label);
        row(page, "request", text.trim_end());
    }
    let body = match serde_json::from_slice(&member.body) {
        Ok(value) => compact::pretty(&value, COLUMN, WIDTH),
        Err(_) => compact::cut(
            &paymaster_cli::terminal::escape_controls(&String::from_utf8_lossy(&member.body)),
            LONGEST_ANSWER,
        ),
    };
    let head = if alone { "request" } else { "" };
    page.line(&format!("  {head:<11}{body}"));
    if let Some(exchange) = finding.exchanges.get(number) {
        let answer = compact::cut(&page.foreign(&words::answer(exchange)), LONGEST_ANSWER);
        row(page, "answer", &answer);
    }
}

fn row(page: &mut Page<'_>, name: &str, text: &str) {
    page.hanging(&format!("  {name:<11}"), COLUMN, text);
}

fn replay(page: &Page<'_>, number: usize) -> Option<String> {
    let path = page.finished.replays.get(number)?.as_ref()?;
    Some(path.display().to_string())
}
