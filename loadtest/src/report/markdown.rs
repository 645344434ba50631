//! The Markdown report, short enough for a comment on a pull request.

use std::fmt::Write as _;

use paymaster_settings::output::terminal::{cut, escape_controls};

use super::{
    ReportError, advice,
    phrases::{commands, outcome, verdict},
    tables::{self, Cell, Table, Tone},
    workers,
    wrong::{WrongGroup, groups, lines},
};
use crate::{
    results::{compare::RunComparison, summary::RunSummary},
    text::{count, date},
};

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, ReportError> {
    let mut out = String::new();
    writeln!(out, "# Load test: {}\n\nTarget: `{}`", escaped(&verdict(summary)), code(&summary.target))?;
    let began = date(summary.began).map(|date| format!("began {date}"));
    for line in outcome(summary).into_iter().chain(began) {
        writeln!(out, "\n{}", escaped(&line))?;
    }
    for (name, command) in commands(summary) {
        writeln!(out, "\n{name}: `{}`", code(command))?;
    }
    for group in groups(&summary.figures.wrong) {
        wrong(&mut out, &group, summary.figures.total(None).judged)?;
    }
    let compared = comparison.map(tables::compared);
    let tables =
        [tables::failures(summary, usize::MAX), tables::thresholds(summary), tables::scenarios(summary)];
    for table in tables.iter().chain(&compared).filter(|table| !table.rows.is_empty()) {
        self::table(&mut out, table)?;
    }
    for (title, lines) in [("Workers", workers::lines(summary)), ("Next", advice::next(summary))] {
        if !lines.is_empty() {
            writeln!(out, "\n## {title}\n")?;
        }
        for line in lines {
            writeln!(out, "- {}", escaped(&line))?;
        }
    }
    Ok(out)
}

fn table(out: &mut String, table: &Table) -> std::fmt::Result {
    let columns = table.columns.join(" | ");
    writeln!(
        out,
        "\n## {}\n\n| {columns} |\n|---|{}",
        escaped(&table.title),
        "---:|".repeat(table.columns.len() - 1)
    )?;
    for row in &table.rows {
        for Cell { text, tone } in row {
            let bold = if *tone == Tone::Bad { "**" } else { "" };
            write!(out, "| {bold}{}{bold} ", escaped(text))?;
        }
        writeln!(out, "|")?;
    }
    table.notes.iter().try_for_each(|note| writeln!(out, "\n{}.", escaped(note)))
}

/// Wrong answers of one group, with an example of each of its first kinds.
fn wrong(out: &mut String, group: &WrongGroup<'_>, judged: u64) -> std::fmt::Result {
    writeln!(out, "\n**{}**", escaped(&group.headline(judged)))?;
    for kind in group.examples() {
        writeln!(out, "\nin {}:\n", escaped(&kind.key.label))?;
        for (name, text) in lines(kind).into_iter().filter(|(_, text)| !text.is_empty()) {
            writeln!(out, "- {name} `{}`", code(&text))?;
        }
    }
    if group.hidden() > 0 {
        writeln!(out, "\n{} in the JSON report.", count(group.hidden(), "more example"))?;
    }
    Ok(())
}

/// Escapes a text, so that it is no markup of Markdown or HTML.
fn escaped(raw: &str) -> String {
    let mut safe = String::new();
    for letter in escape_controls(raw).chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

/// A text for use in backticks, of at most 600 characters.
fn code(raw: &str) -> String {
    cut(&escape_controls(raw).replace('`', "'"), 600)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn texts_of_the_target_are_escaped() {
        let page = render(&fixtures::failed(), None).unwrap();
        assert!(
            page.starts_with(
                "# Load test: FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed\n"
            ),
            "{page}"
        );
        // In backticks nothing is markup.
        assert!(page.contains("- got `\"0.25\" <b>\\u{1b}[31m`") && !page.contains('\u{1b}'), "{page}");
        assert_eq!(page.matches("<b>").count(), page.matches("- got `").count(), "{page}");
        assert!(page.contains("| wrong-rate\\<=0% (default) | "), "{page}");
        assert!(page.contains("| error-rate (wrong or failed) \\<1% (default) | "), "{page}");
        assert!(
            page.contains("\nbegan 2026-03-01 12:00:00 UTC\n")
                && page
                    .contains("\ncommand: `paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95<200ms'`\n"),
            "{page}"
        );
        // The same rule at the same place in three scenarios.
        assert_eq!(page.matches("**fee-quote.maxGasFee in ").count(), 1, "{page}");
        assert_eq!(page.matches("- got ").count(), 3, "{page}");
    }
}
