//! The defects in Markdown: a heading with the cause and the broken rules, and details that unfold.

use std::fmt::Write as _;

use crate::report::{
    Finished,
    counts::RuleState,
    markdown::{code, fenced},
    text::{
        compact, curl,
        defects::{self, ShownDefect},
        words,
    },
};
use paymaster_engine::{cases::case::Member, rules::Rule};
use paymaster_exchange::Exchange;

/// The longest answer, in characters.
const LONGEST_ANSWER: usize = 2000;

/// The defects, and the broken rules that no defect explains, within that many bytes.
pub(super) fn broken(finished: &Finished<'_>, room: usize) -> String {
    let defects = defects::shown(finished);
    let mut text = String::new();
    let mut left_out = 0_u32;
    for (state, title) in [(RuleState::Broken, "Broken"), (RuleState::Warned, "Warnings")] {
        let fails = state == RuleState::Broken;
        let own: Vec<_> = defects.iter().filter(|defect| defect.fails == fails).collect();
        let unexplained = defects::unexplained(finished, state, &defects);
        if own.len() + unexplained.len() > 0 {
            let _ = write!(text, "\n### {title}\n");
        }
        for defect in own {
            let head = head(defect);
            let folded = folded(defect, finished);
            let used = text.len() + head.len();
            if used > room {
                left_out += 1;
                continue;
            }
            text.push_str(&head);
            if used + folded.len() <= room {
                text.push_str(&folded);
            } else {
                text.push_str("\nThe request is in the other reports.\n");
            }
        }
        for outcome in unexplained {
            let _ = write!(text, "\n- {}\n", rule_line(outcome.rule));
        }
    }
    if left_out > 0 {
        let defects = words::count(left_out, "more defect");
        let _ = write!(text, "\n{defects} in the other reports: this one would be too long for a comment.\n");
    }
    text
}

/// Headline, cause and broken rules of a defect.
fn head(defect: &ShownDefect<'_>) -> String {
    let mut text = format!("\n#### {}. {}\n", defect.number, code(&defect.headline));
    if let Some(cause) = &defect.cause {
        let _ = write!(text, "\nCause: {}\n", code(cause));
    }
    let _ = write!(text, "\nIt {}:\n\n", defect.extent());
    for rule in &defect.rules {
        let _ = writeln!(text, "- {}", rule_line(rule));
    }
    text
}

/// The statement that a rule checks, its id and its section.
fn rule_line(rule: &Rule) -> String {
    let clause = rule.clause();
    format!("{} ({}, section {}, {})", clause.text, code(rule.id), clause.section, clause.basis)
}

/// What unfolds below a defect: request, answer, the nearest request that does not break the rule, and how to repeat it.
fn folded(defect: &ShownDefect<'_>, finished: &Finished<'_>) -> String {
    let finding = defect.shown;
    let violation = &finding.violation;
    let mut text = format!(
        "\n<details>\n<summary>Request, answer and how to repeat it: {}</summary>\n",
        words::seen(finding),
    );
    let mut hints: Vec<&str> = defect.rules.iter().map(|rule| rule.hint).collect();
    hints.retain(|hint| !hint.is_empty());
    if let Some(hint) = hints.first() {
        let _ = write!(text, "\nWhere to look: {hint}\n");
    }
    let broken = finding.group.members.get(violation.member);
    let answer = finding.exchanges.get(violation.member);
    text.push_str(&exchange(["Request", "Answer"], broken, answer, finished));
    if let Some(contrast) = &finding.contrast {
        let titles = ["The nearest request that does not break it", "Its answer"];
        let nearest = contrast.group.members.get(contrast.member);
        text.push_str(&exchange(titles, nearest, contrast.exchanges.get(contrast.member), finished));
    }
    if let Some(line) = broken.and_then(|member| curl::line(finished.place, member)) {
        let needs = curl::needs(finished.place)
            .map_or(String::new(), |names| format!(" (export {} first)", code(&names)));
        let _ = write!(text, "\ncURL{needs}\n\n{}", fenced("sh", &line));
    }
    let replays: Vec<String> =
        defect.findings.iter().filter_map(|number| finished.replay_line(*number)).collect();
    if !replays.is_empty() {
        let _ = write!(text, "\n{}", fenced("sh", &replays.join("\n")));
    }
    text.push_str("\n</details>\n");
    text
}

/// A request and its answer, each below its title.
fn exchange(
    titles: [&str; 2],
    sent: Option<&Member>,
    answered: Option<&Exchange>,
    finished: &Finished<'_>,
) -> String {
    let mut text = String::new();
    if let Some(member) = sent {
        let request = String::from_utf8_lossy(&member.body);
        let pretty = serde_json::from_str(&finished.redactor.apply(&request))
            .map_or_else(|_| finished.safe(&request), |value| compact::pretty(&value, 0, 100));
        let _ = write!(text, "\n{}\n\n{}", titles[0], fenced("json", &pretty));
    }
    if let Some(exchange) = answered {
        let answer = compact::cut(&finished.safe(&words::answer(exchange)), LONGEST_ANSWER);
        let _ = write!(text, "\n{}\n\n{}", titles[1], fenced("", &answer));
    }
    text
}
