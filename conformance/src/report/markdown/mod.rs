//! Markdown for the summary of a CI step and for a comment on a pull request: short, with details that unfold.

mod defects;

use std::fmt::Write as _;

use crate::report::{
    Finished,
    counts::{Counts, RuleState},
    text::{compact, contradictions, defects::shown as shown_defects, words},
};
use paymaster_engine::verdict::{conclusion::Verdict, summary::RuleOutcome};

/// The length at which further findings are left out, in bytes: a comment on GitHub holds 65,536 characters.
const LONGEST: usize = 60_000;

/// The page.
pub(crate) fn text(finished: &Finished<'_>) -> String {
    let summary = finished.summary;
    let counts = Counts::of(&summary.rules, finished.strictness);
    let mut text = format!(
        "## Paymaster conformance: {}\n\n{}\n\n**{}: {}** · {}\n\nSpecification {}\n",
        finished.verdict().sentence(),
        code(&finished.place.shown),
        words::count(counts.rules() as u128, "rule"),
        counts.line(),
        words::sent(summary),
        finished.context.specification().line()
    );
    // Writing to a String cannot fail.
    for warning in finished.warnings() {
        let _ = write!(text, "\nWarning: {}\n", code(&warning));
    }
    text.push_str(&contradicted(finished));
    if let Some(cause) = &summary.cut_short {
        let _ = write!(text, "\nCut short: {}\n", code(&finished.safe(cause)));
    }
    for (reason, groups) in &summary.unjudged {
        let groups = words::count(*groups as u128, "group");
        let _ = write!(text, "\nNot judged: {groups}, {}\n", code(&finished.safe(reason)));
    }
    if let Some((about, line)) = words::missing_line(finished) {
        let _ = write!(text, "\n{about}:\n\n{}", fenced("toml", &line));
    }
    let tail = stale(finished)
        + &known(finished)
        + &inconclusive(finished)
        + &unjudged(finished, Verdict::Covered, "covered by known failures")
        + &unjudged(finished, Verdict::NotApplicable, "not applicable: not judged")
        + &fingerprint(finished);
    let room = LONGEST.saturating_sub(text.len() + tail.len());
    text + &defects::broken(finished, room) + &tail
}

/// Where profile and target contradict each other.
fn contradicted(finished: &Finished<'_>) -> String {
    let all = contradictions::shown(finished, &shown_defects(finished));
    if all.is_empty() {
        return String::new();
    }
    let mut text = "\n**Profile and target contradict each other.** One of the two is wrong:\n\n".to_owned();
    for one in all {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {}: the profile states that {}", code(&one.title()), code(&one.states));
        let shows = one.defect.map_or_else(String::new, |number| format!(" (defect {number} shows it)"));
        let _ = writeln!(text, "  - Cause: {}{shows}", one.cause);
        if let Some(answer) = &one.answer {
            let _ = writeln!(text, "  - Answer: {}", code(answer));
        }
    }
    text
}

/// The out-of-date entries of the list of known failures.
fn stale(finished: &Finished<'_>) -> String {
    let known = finished.summary.known.iter();
    let mut stale = known.filter(|known| known.state.fails_the_run()).peekable();
    if stale.peek().is_none() {
        return String::new();
    }
    let mut text = "\n### Known failures that are out of date\n\n".to_owned();
    for known in stale {
        let scope = code(&finished.safe(&known.entry.scope()));
        let _ = writeln!(text, "- {scope}: {}", code(&finished.safe(&words::known_advice(known))));
    }
    text
}

fn known(finished: &Finished<'_>) -> String {
    let known = finished.summary.known.iter();
    let excused: Vec<_> = known.filter(|known| !known.state.fails_the_run()).collect();
    let mut text = String::new();
    for known in &excused {
        let entry = &known.entry;
        let _ = writeln!(
            text,
            "- {} ({}): {} ({}, until {})",
            code(&finished.safe(&entry.scope())),
            words::known_state(known),
            code(&finished.safe(&entry.reason)),
            code(&finished.safe(&entry.owner)),
            entry.expires
        );
    }
    details(&format!("{} on the list of known failures", excused.len()), &text)
}

fn inconclusive(finished: &Finished<'_>) -> String {
    let rules = &finished.summary.rules;
    let number = Counts::of(rules, finished.strictness).get(RuleState::Inconclusive);
    let mut text = String::new();
    for (advice, rules) in words::by_reason(rules, Verdict::Inconclusive) {
        let held = |outcome: &&RuleOutcome| {
            format!("{} (held {} of {} times)", code(outcome.rule.id), outcome.held, outcome.quota)
        };
        let held: Vec<String> = rules.iter().map(held).collect();
        let advice = finished.safe(advice);
        // Other reasons quote requests and the network.
        let waits = rules.iter().all(|outcome| outcome.waits_for.is_some());
        let advice = if waits { advice } else { code(&advice) };
        let _ = writeln!(text, "- {advice}: {}", held.join(", "));
    }
    details(&format!("{} inconclusive: why", words::count(number as u128, "rule")), &text)
}

fn unjudged(finished: &Finished<'_>, verdict: Verdict, meaning: &str) -> String {
    let by_reason = words::by_reason(&finished.summary.rules, verdict);
    let rules: usize = by_reason.iter().map(|(_, rules)| rules.len()).sum();
    let mut text = String::new();
    for (reason, rules) in by_reason {
        let ids: Vec<String> = rules.iter().map(|outcome| code(outcome.rule.id)).collect();
        let _ = writeln!(text, "- {}: {}", finished.safe(reason), ids.join(", "));
    }
    details(&format!("{} {meaning}", words::count(rules as u128, "rule")), &text)
}

fn fingerprint(finished: &Finished<'_>) -> String {
    let summary = finished.summary;
    if summary.observations.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for (name, value) in compact::members(&summary.dialect) {
        let _ = writeln!(text, "- {}: {}", name.replace('-', " "), code(&finished.safe(&value)));
    }
    for (clause, values) in &summary.observations {
        let listed: Vec<String> = values
            .iter()
            .take(8)
            .map(|(value, times)| format!("{} ({times})", code(&compact::cut(&finished.safe(value), 60))))
            .collect();
        let more = values.len().saturating_sub(listed.len());
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        let _ = writeln!(text, "- {}: {}{more}", code(clause), listed.join(", "));
    }
    details("Dialect and behaviour", &text)
}

/// A text as inline code, so that nothing in it is markup, a link or a mention.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Lines that unfold below a summary; nothing where there are none.
fn details(summary: &str, lines: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n<details>\n<summary>{summary}</summary>\n\n{lines}\n</details>\n")
}

/// Lines as a block of code.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use paymaster_engine::diagnosis::defect::Defect;

    #[test]
    fn a_run_with_violations() {
        let text = text(&sample::violations().finished());
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("markdown_violations", text);
    }

    #[test]
    fn a_run_with_known_failures() {
        insta::assert_snapshot!("markdown_known", text(&sample::known().finished()));
    }

    #[test]
    fn what_profile_and_target_contradict_stands_below_the_headline() {
        let text = text(&sample::contradicted().finished());
        let top = text.split("### Broken").next().unwrap();
        assert!(!top.contains("s3cr3t-key"), "{top}");
        insta::assert_snapshot!("markdown_contradicted", top);
    }

    #[test]
    fn recorded_traffic() {
        let text = text(&sample::recorded().finished());
        assert!(text.contains("250 recorded exchanges") && !text.contains("seed"), "{text}");
    }

    #[test]
    fn a_run_without_answers() {
        insta::assert_snapshot!("markdown_unanswered", text(&sample::unanswered().finished()));
    }

    #[test]
    fn texts_of_a_target_are_not_markup() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("", "```"), "````\n```\n````\n");
        let mut sample = sample::violations();
        "</details>| @somebody `x` [a](b)".clone_into(&mut sample.summary.findings[0].violation.actual);
        let text = text(&sample.finished());
        assert!(text.contains("got </details>| @somebody `x` [a](b)``\n"), "{text}");
    }

    #[test]
    fn it_fits_into_a_comment() {
        let mut sample = sample::violations();
        let finding = sample.summary.findings[0].clone();
        sample.summary.findings = vec![finding; 200];
        let defect = |number| Defect { findings: vec![number], links: Vec::new() };
        sample.summary.defects = (0..200).map(defect).collect();
        let text = text(&sample.finished());
        assert!(text.len() <= LONGEST + 200, "{}", text.len());
        assert!(text.contains("more defects in the other reports"));
        assert!(text.contains("The request is in the other reports"));
        assert!(text.contains("inconclusive: why"));
    }

    #[test]
    fn rules_without_a_defect_are_named() {
        let mut sample = sample::violations();
        sample.summary.findings.clear();
        sample.summary.defects.clear();
        let text = text(&sample.finished());
        assert!(
            text.contains("### Broken") && text.contains("(`answer.id`, section 2.10, stated)"),
            "{text}"
        );
    }
}
