//! The Markdown report, short enough for a comment on a pull request.

use std::fmt::Write as _;

use paymaster_settings::output::terminal::{cut, escape_controls};

use super::{
    ReportError, advice,
    phrases::{answered, arrivals, verdict},
    tables::{self, Cell, Table, Tone},
    workers,
    wrong::{WrongGroup, groups},
};
use crate::{
    figures::outcome::Outcome,
    results::{compare::RunComparison, summary::RunSummary},
    text::{count, date, number, rate, seconds},
};

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, ReportError> {
    let mut out = String::new();
    let total = summary.figures.total(None);
    writeln!(out, "# Load test: {}\n", verdict(summary))?;
    writeln!(
        out,
        "{} against `{}` in {}: **{}**, {} judged, {} wrong.",
        answered(total.counts),
        code(&summary.target),
        seconds(summary.seconds),
        rate(summary.rate()),
        number(total.judged),
        number(total.counts.of(Outcome::Wrong))
    )?;
    if let Some(sentence) = arrivals(&summary.figures.arrivals) {
        writeln!(out, "\n{sentence}.")?;
    }
    if let Some(date) = date(summary.began) {
        writeln!(out, "\nBegan {date}.")?;
    }
    for command in [&summary.command].into_iter().filter(|command| !command.is_empty()) {
        writeln!(out, "\nCommand: `{}`", code(command))?;
    }
    for command in &summary.merged_commands {
        writeln!(out, "\nMerged: `{}`", code(command))?;
    }
    if let Some(why) = &summary.cut_short {
        writeln!(out, "\nCut short: {}.", escaped(why))?;
    }
    for group in groups(&summary.figures.wrong) {
        wrong(&mut out, &group, total.judged)?;
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
        let place = match kind.key.pointer.as_str() {
            "" => "the whole answer".to_owned(),
            pointer => format!("`{}`", code(pointer)),
        };
        writeln!(
            out,
            "\n- in {}: expected {} at {place}\n- got {}\n- request `{}`",
            escaped(&kind.key.label),
            escaped(&kind.example.expected),
            escaped(&kind.example.actual),
            code(&kind.example.request)
        )?;
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
        assert!(page.starts_with("# Load test: FAILED: 2 thresholds missed\n"), "{page}");
        assert!(page.contains("\\<b\\>") && !page.contains("<b>") && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("| wrong-rate\\<=0% (default) | "), "{page}");
        assert!(
            page.contains("\nBegan 2026-03-01 12:00:00 UTC.\n")
                && page
                    .contains("\nCommand: `paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95<200ms'`\n"),
            "{page}"
        );
        // The same rule at the same place in three scenarios.
        assert_eq!(page.matches("**fee-quote.maxGasFee in ").count(), 1, "{page}");
        assert_eq!(page.matches("- got ").count(), 3, "{page}");
    }
}
