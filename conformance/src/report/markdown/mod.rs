//! Markdown for the summary of a CI step and for a comment on a pull request: short, with details that unfold.

mod defects;

use std::fmt::Write as _;

use crate::report::{
    model::{KnownFailure, Report},
    text::{
        compact::cut,
        words::{self, NotJudged},
    },
};
use paymaster_settings::escape_controls;

/// What was observed at one point is cut at this length, in characters.
const LONGEST_VALUES: usize = 400;

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
    for (title, limit) in words::limits(report) {
        let _ = write!(text, "\n{title}: {}\n", code(&limit));
    }
    text.push_str(&contradicted(report));
    if let Some((about, line)) = &report.details.missing_line {
        let _ = write!(text, "\n{about}:\n\n{}", fenced("toml", line));
    }
    let tail = known(report) + &not_judged(report) + &observed(report);
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
        let _ = writeln!(text, "  - {}", one.cause());
        if let Some(answer) = &one.answer {
            let _ = writeln!(text, "  - answer: {}", code(answer));
        }
    }
    text
}

/// The list of known failures: the entries that are out of date, then the others.
fn known(report: &Report) -> String {
    let (stale, rest) = report.stale_and_known();
    let line = |known: &&KnownFailure| format!("- {}: {}", code(&known.scope), code(&known.in_words()));
    let lines = |all: &[&KnownFailure]| all.iter().map(line).collect::<Vec<_>>().join("\n");
    let stale = match stale.as_slice() {
        [] => String::new(),
        stale => format!("\n### Known failures that are out of date\n\n{}\n", lines(stale)),
    };
    stale + &details(&format!("{} on the list of known failures", rest.len()), &lines(&rest))
}

fn not_judged(report: &Report) -> String {
    let mut text = String::new();
    for NotJudged { title, by_reason, .. } in words::not_judged(report) {
        let mut lines = String::new();
        for (reason, rules) in by_reason {
            let ids: Vec<String> =
                rules.iter().map(|rule| code(&format!("{}{}", rule.id, words::progress(rule)))).collect();
            // Reasons quote requests and the network.
            let reason = if reason.is_empty() { String::new() } else { format!("{}: ", code(reason)) };
            let _ = writeln!(lines, "- {reason}{}", ids.join(", "));
        }
        text.push_str(&details(&title, &lines));
    }
    text
}

fn observed(report: &Report) -> String {
    let observed = words::observed(report);
    let mut lines = String::new();
    for (name, text) in &observed {
        let _ = writeln!(lines, "- {name}: {}", code(&cut(text, LONGEST_VALUES)));
    }
    details(&format!("{} observations", observed.len()), &lines)
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
        assert!(text.len() <= LONGEST + 400, "{}", text.len());
        assert!(text.contains("more defects in the other reports"));
        assert!(text.contains("The request is in the other reports"));
        assert!(text.contains("inconclusive: exercised too seldom"));
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
