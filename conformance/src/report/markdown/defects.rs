//! The defects in Markdown: a heading with the cause and the broken rules, and details that unfold.

use std::fmt::Write as _;

use crate::report::{
    counts::RuleState,
    markdown::{code, fenced},
    model::{Defect, Exchanged, JudgedRule, Report, Request},
    text::{compact, words},
};
use paymaster_settings::output::terminal::escape_controls;

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
            let head = head(defect, report);
            let folded = folded(defect, report);
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

/// Headline, cause and broken rules of a defect.
fn head(defect: &Defect, report: &Report) -> String {
    let mut text = format!("\n#### {}. {}\n", defect.number, code(&defect.headline));
    if let Some(cause) = &defect.cause_in_words {
        let _ = write!(text, "\nCause: {}\n", code(cause));
    }
    let _ = write!(text, "\nIt {}:\n\n", report.extent(defect));
    for rule in report.rules_of(defect) {
        let _ = writeln!(text, "- {}", rule_line(rule));
    }
    text
}

/// The statement that a rule checks, its id and its section.
fn rule_line(rule: &JudgedRule) -> String {
    format!("{} ({}, section {}, {})", rule.text, code(&rule.id), rule.section, rule.basis)
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
    if let Some(rule) = report.rules_of(defect).find(|rule| !rule.hint.is_empty()) {
        let _ = write!(text, "\nWhere to look: {}\n", rule.hint);
    }
    text.push_str(&exchange(["Request", "Answer"], finding.request(), finding.exchange()));
    if let Some(contrast) = &finding.details.contrast {
        let titles = ["The nearest request that does not break it", "Its answer"];
        let nearest = contrast.requests.get(contrast.member);
        text.push_str(&exchange(titles, nearest, contrast.exchanges.get(contrast.member)));
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

/// A request and its answer, each below its title.
fn exchange(titles: [&str; 2], sent: Option<&Request>, answered: Option<&Exchanged>) -> String {
    let mut text = String::new();
    if let Some(Request { body, .. }) = sent {
        let pretty = serde_json::from_str(&body.text)
            .map_or_else(|_| escape_controls(&body.text), |value| compact::pretty(&value, 0, 100));
        let _ = write!(text, "\n{}\n\n{}", titles[0], fenced("json", &pretty));
    }
    if let Some(exchange) = answered {
        let answer = compact::cut(&escape_controls(&exchange.line()), LONGEST_ANSWER);
        let _ = write!(text, "\n{}\n\n{}", titles[1], fenced("", &answer));
    }
    text
}
