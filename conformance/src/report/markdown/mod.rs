//! Markdown for the summary of a CI step and for a comment on a pull request: short, with details that unfold.

mod defects;

use std::fmt::Write as _;

use crate::report::{
    counts::RuleState,
    model::{JudgedRule, Report},
    text::{compact, words},
};
use paymaster_engine::verdict::conclusion::Verdict;
use paymaster_settings::output::terminal::escape_controls;

/// The length at which further findings are left out, in bytes: a comment on GitHub holds 65,536 characters.
const LONGEST: usize = 60_000;

/// The page.
pub(crate) fn text(report: &Report) -> String {
    let counts = report.counts();
    let mut text = format!(
        "## Paymaster conformance: {}\n\n{}\n\n**{}: {}** · {}\n\nSpecification {}\n",
        report.verdict,
        code(&report.target),
        words::count(counts.rules() as u128, "rule"),
        counts.line(),
        words::sent(report),
        report.details.specification
    );
    // Writing to a String cannot fail.
    for warning in &report.warnings {
        let _ = write!(text, "\nWarning: {}\n", code(warning));
    }
    text.push_str(&contradicted(report));
    if let Some(cause) = &report.cut_short {
        let _ = write!(text, "\nCut short: {}\n", code(cause));
    }
    for unjudged in &report.unjudged {
        let groups = words::count(unjudged.groups as u128, "group");
        let _ = write!(text, "\nNot judged: {groups}, {}\n", code(&unjudged.reason));
    }
    if let Some((about, line)) = &report.details.missing_line {
        let _ = write!(text, "\n{about}:\n\n{}", fenced("toml", line));
    }
    let tail = stale(report)
        + &known(report)
        + &inconclusive(report)
        + &unjudged(report, Verdict::Covered, "covered by known failures")
        + &unjudged(report, Verdict::NotApplicable, "not applicable: not judged")
        + &fingerprint(report);
    let room = LONGEST.saturating_sub(text.len() + tail.len());
    text + &defects::broken(report, room) + &tail
}

/// Where profile and target contradict each other.
fn contradicted(report: &Report) -> String {
    let all = &report.details.contradictions;
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
fn stale(report: &Report) -> String {
    let (stale, _) = report.stale_and_known();
    if stale.is_empty() {
        return String::new();
    }
    let mut text = "\n### Known failures that are out of date\n\n".to_owned();
    for known in stale {
        let _ = writeln!(text, "- {}: {}", code(&known.scope), code(&known.advice));
    }
    text
}

fn known(report: &Report) -> String {
    let (_, excused) = report.stale_and_known();
    let mut text = String::new();
    for known in &excused {
        let (scope, reason, owner) = (code(&known.scope), code(&known.reason), code(&known.owner));
        let _ = writeln!(text, "- {scope} ({}): {reason} ({owner}, until {})", known.advice, known.expires);
    }
    details(&format!("{} on the list of known failures", excused.len()), &text)
}

fn inconclusive(report: &Report) -> String {
    let number = report.counts().get(RuleState::Inconclusive);
    let mut text = String::new();
    for (advice, rules) in words::by_reason(report, Verdict::Inconclusive) {
        let held =
            |rule: &&JudgedRule| format!("{} (held {} of {} times)", code(&rule.id), rule.held, rule.quota);
        let held: Vec<String> = rules.iter().map(held).collect();
        // Other reasons quote requests and the network.
        let waits = rules.iter().all(|rule| rule.waits);
        let advice = if waits { escape_controls(advice) } else { code(advice) };
        let _ = writeln!(text, "- {advice}: {}", held.join(", "));
    }
    details(&format!("{} inconclusive: why", words::count(number as u128, "rule")), &text)
}

fn unjudged(report: &Report, verdict: Verdict, meaning: &str) -> String {
    let by_reason = words::by_reason(report, verdict);
    let rules: usize = by_reason.iter().map(|(_, rules)| rules.len()).sum();
    let mut text = String::new();
    for (reason, rules) in by_reason {
        let ids: Vec<String> = rules.iter().map(|rule| code(&rule.id)).collect();
        let _ = writeln!(text, "- {}: {}", escape_controls(reason), ids.join(", "));
    }
    details(&format!("{} {meaning}", words::count(rules as u128, "rule")), &text)
}

fn fingerprint(report: &Report) -> String {
    if report.observations.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for (name, value) in compact::members(&report.dialect) {
        let _ = writeln!(text, "- {}: {}", name.replace('-', " "), code(&value));
    }
    for (clause, values) in &report.observations {
        let listed: Vec<String> = values
            .iter()
            .take(8)
            .map(|(value, times)| format!("{} ({times})", code(&compact::cut(&escape_controls(value), 60))))
            .collect();
        let more = values.len().saturating_sub(listed.len());
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        let _ = writeln!(text, "- {}: {}{more}", code(clause), listed.join(", "));
    }
    details("Dialect and behaviour", &text)
}

/// A text on one line as inline code, so that nothing in it is markup, a link or a mention.
fn code(text: &str) -> String {
    let text = &escape_controls(text);
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
        let text = text(&sample::violations().report());
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("markdown_violations", text);
    }

    #[test]
    fn a_run_with_known_failures() {
        insta::assert_snapshot!("markdown_known", text(&sample::known().report()));
    }

    #[test]
    fn what_profile_and_target_contradict_stands_below_the_headline() {
        let text = text(&sample::contradicted().report());
        let top = text.split("### Broken").next().unwrap();
        assert!(!top.contains("s3cr3t-key"), "{top}");
        insta::assert_snapshot!("markdown_contradicted", top);
    }

    #[test]
    fn recorded_traffic() {
        let text = text(&sample::recorded().report());
        assert!(text.contains("250 recorded exchanges") && !text.contains("seed"), "{text}");
    }

    #[test]
    fn a_run_without_answers() {
        insta::assert_snapshot!("markdown_unanswered", text(&sample::unanswered().report()));
    }

    #[test]
    fn texts_of_a_target_are_not_markup() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("", "```"), "````\n```\n````\n");
        let mut sample = sample::violations();
        "</details>| @somebody `x` [a](b)".clone_into(&mut sample.summary.findings[0].violation.actual);
        let text = text(&sample.report());
        assert!(text.contains("got </details>| @somebody `x` [a](b)``\n"), "{text}");
    }

    #[test]
    fn it_fits_into_a_comment() {
        let mut sample = sample::violations();
        let finding = sample.summary.findings[0].clone();
        sample.summary.findings = vec![finding; 200];
        let defect = |number| Defect { findings: vec![number], links: Vec::new() };
        sample.summary.defects = (0..200).map(defect).collect();
        let text = text(&sample.report());
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
        let text = text(&sample.report());
        assert!(
            text.contains("### Broken") && text.contains("(`answer.id`, section 2.10, stated)"),
            "{text}"
        );
    }
}
