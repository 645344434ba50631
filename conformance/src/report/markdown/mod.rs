//! Markdown for the summary of a CI step and for a comment on a pull request: short, with details that unfold.

use std::fmt::Write as _;

use maud::html;
use paymaster_engine::verdict::conclusion::Conclusion;
use paymaster_settings::escape_controls;

use crate::report::{
    counts::RuleState,
    model::{Defect, Exchanged, JudgedRule, KnownFailure, Report, Request},
    terminal::WIDTH,
    text::{
        compact::{self, cut},
        words::{self, NotJudged},
    },
};

/// What was observed at one point is cut at this length, in characters.
const LONGEST_VALUES: usize = 400;

/// The length at which further findings are left out, in bytes: a comment on GitHub holds 65,536 characters.
const LONGEST: usize = 60_000;

/// The page.
pub(crate) fn text(report: &Report) -> String {
    let counts = report.counts();
    let (target, mut verdict, counted) = (code(&report.target), report.verdict.clone(), counts.line());
    // What a target answers is quoted: a comment on GitHub would read it as Markdown.
    if let Some(why) = report.cut_short.as_deref().filter(|_| report.conclusion == Conclusion::CouldNotTest) {
        verdict = format!("{}\n\n{}", report.conclusion.headline().to_lowercase(), code(why));
    }
    let rules = words::count(counts.rules() as u128, "rule");
    let (sent, specification) = (words::sent(report), &report.details.specification);
    let mut text =
        format!("## Paymaster conformance: {verdict}\n\n{target}\n\n**{rules}: {counted}** · {sent}\n\n");
    let _ = writeln!(text, "Specification {specification}");
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
    text + &broken(report, room) + &tail
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
        let _ = writeln!(text, "- {}: the profile states that {}", code(&one.title), code(&one.states));
        let _ = writeln!(text, "  - {}", one.cause);
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

/// The longest answer, in characters.
const LONGEST_ANSWER: usize = 2000;

/// The defects, and the broken rules that no defect explains, within that many bytes.
pub(super) fn broken(report: &Report, room: usize) -> String {
    let mut text = String::new();
    let mut left_out = 0_u32;
    for (state, title) in [(RuleState::Broken, "Broken"), (RuleState::Warned, "Warnings")] {
        let fails = state == RuleState::Broken;
        let own: Vec<_> = report.defects.iter().filter(|defect| defect.fails == fails).collect();
        let unexplained = report.unexplained(state);
        if own.len() + unexplained.len() > 0 {
            let _ = write!(text, "\n### {title}\n");
        }
        for defect in own {
            let fits = |part: &String| text.len() + part.len() <= room;
            let mut parts = [true, false].into_iter().map(|is_whole| part(defect, report, is_whole));
            match parts.find(fits) {
                Some(part) => text.push_str(&part),
                None => left_out += 1,
            }
        }
        for rule in unexplained {
            let _ = write!(text, "\n- {}\n", rule_line(rule));
        }
    }
    if left_out > 0 {
        let defects = words::count(left_out, "more defect");
        let _ = write!(text, "\n{defects} in the other reports: this one would be too long for a comment.\n");
    }
    text
}

/// Headline, cause and broken rules of a defect, and its requests; of a warning, below a line that folds open.
fn part(defect: &Defect, report: &Report, is_whole: bool) -> String {
    let mut text = String::new();
    if let Some(cause) = &defect.cause_in_words {
        let _ = write!(text, "\nCause: {}\n", code(cause));
    }
    if let Some(finding) = report.shown(defect).filter(|finding| !finding.details.hint.is_empty()) {
        let _ = write!(text, "\nHint: {}\n", code(&finding.details.hint));
    }
    let _ = write!(text, "\nIt {}:\n\n", report.extent(defect));
    for rule in report.rules_of(defect) {
        let _ = writeln!(text, "- {}", rule_line(rule));
    }
    text.push_str(&if is_whole {
        folded(defect, report)
    } else {
        "\nThe request is in the other reports.\n".to_owned()
    });
    let headline = escape_controls(&defect.headline);
    if defect.fails {
        format!("\n#### {}: {}\n{text}", defect.label, code(&headline))
    } else {
        details(&html! { (defect.label) ": " code { (headline) } }.into_string(), &text)
    }
}

/// The statement that a rule checks, its id and its section.
fn rule_line(rule: &JudgedRule) -> String {
    rule.line(&code(&rule.id))
}

/// What unfolds below a defect: request, answer, the nearest request that does not break the rule, and how to repeat it.
fn folded(defect: &Defect, report: &Report) -> String {
    let Some(finding) = report.shown(defect) else {
        return String::new();
    };
    let mut text = format!(
        "\n<details>\n<summary>Request, answer and how to repeat it: {}</summary>\n",
        words::seen(finding),
    );
    text.push_str(&exchange(
        ["Request", "Answer"],
        finding.request(),
        finding.exchange(),
        Some(&finding.pointer),
    ));
    if let Some(contrast) = &finding.details.contrast {
        let titles = ["The nearest request that does not break it", "Its answer"];
        let nearest = contrast.requests.get(contrast.member);
        text.push_str(&exchange(titles, nearest, contrast.exchanges.get(contrast.member), None));
    }
    if let Some(line) = &finding.curl {
        let needs = report
            .details
            .exports
            .as_ref()
            .map_or(String::new(), |names| format!(" (export {} first)", code(names)));
        let _ = write!(text, "\ncURL{needs}\n\n{}", fenced("sh", line));
    }
    let own = defect.findings.iter().filter_map(|number| report.findings.get(*number));
    let replays: Vec<&str> = own.filter_map(|finding| finding.details.replay.as_deref()).collect();
    if !replays.is_empty() {
        let _ = write!(text, "\n{}", fenced("sh", &replays.join("\n")));
    }
    text.push_str("\n</details>\n");
    text
}

/// A request and its answer, each below its title. What breaks a rule at that place of the answer is marked.
fn exchange(
    titles: [&str; 2],
    sent: Option<&Request>,
    answered: Option<&Exchanged>,
    pointer: Option<&str>,
) -> String {
    let mut text = String::new();
    if let Some(Request { body, .. }) = sent {
        let pretty = serde_json::from_str(&body.text)
            .map_or_else(|_| escape_controls(&body.text), |value| compact::pretty(&value, 0, 100));
        let _ = write!(text, "\n{}\n\n{}", titles[0], fenced("json", &pretty));
    }
    if let Some(exchange) = answered {
        let as_received = || cut(&escape_controls(&exchange.line()), LONGEST_ANSWER);
        let answer = exchange.marked(pointer, true, (0, WIDTH)).unwrap_or_else(as_received);
        let _ = write!(text, "\n{}\n\n{}", titles[1], fenced("", &answer));
    }
    text
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
