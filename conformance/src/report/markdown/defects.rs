//! The defects in Markdown: a heading with the cause and the broken rules, and details that unfold.

use std::fmt::Write as _;

use crate::report::{
    counts::RuleState,
    markdown::{code, details, fenced},
    model::{Defect, Exchanged, JudgedRule, Report, Request},
    text::{compact, words},
};
use maud::html;
use paymaster_settings::escape_controls;

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
        let as_received = || compact::cut(&escape_controls(&exchange.line()), LONGEST_ANSWER);
        let answer = exchange.marked(pointer, true, 0, 100).unwrap_or_else(as_received);
        let _ = write!(text, "\n{}\n\n{}", titles[1], fenced("", &answer));
    }
    text
}
