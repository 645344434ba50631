//! The report on a terminal: verdict, failures with examples, figures and advice.

use std::fmt::Write as _;

use paymaster_settings::output::terminal::{Paint, cut, escape_controls, wrapped};

use super::{
    advice,
    phrases::{load, outcome, verdict},
    tables::{self, Cell, Table, Tone},
    workers,
    wrong::{groups, lines},
};
use crate::{
    results::{
        compare::RunComparison,
        summary::{RunSummary, RunVerdict},
    },
    text::count,
};

/// The width of text in columns.
const WIDTH: usize = 110;
/// Most kinds of wrong answers, and most failures, that are shown.
const SHOWN: usize = 5;
/// Characters of a body that are shown.
const EXCERPT: usize = 400;

/// Renders a summary, and the comparison with an earlier run if there is one.
pub fn render(summary: &RunSummary, comparison: Option<&RunComparison>, paint: Paint) -> String {
    let mut out = String::new();
    headline(&mut out, summary, paint);
    wrong_answers(&mut out, summary, paint);
    table(&mut out, &tables::failures(summary, SHOWN), paint);
    table(&mut out, &tables::thresholds(summary), paint);
    let scenarios = tables::scenarios(summary);
    table(&mut out, &scenarios, paint);
    if !scenarios.rows.is_empty() {
        let load = load(summary, ", latency from the intended start");
        for line in [&load].into_iter().chain(&scenarios.notes) {
            let _ = writeln!(out, "{}", escape_controls(line));
        }
    }
    list(&mut out, "Workers", &workers::lines(summary), paint);
    if let Some(comparison) = comparison {
        compared(&mut out, comparison, paint);
    }
    list(&mut out, "Next", &advice::next(summary), paint);
    out
}

/// A list with a title; nothing if it is empty.
fn list(out: &mut String, title: &str, items: &[String], paint: Paint) {
    if !items.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold(title));
    }
    for text in items {
        for (place, line) in wrapped(&escape_controls(text), WIDTH - 4).into_iter().enumerate() {
            let _ = writeln!(out, "  {} {line}", if place == 0 { "-" } else { " " });
        }
    }
}

fn headline(out: &mut String, summary: &RunSummary, paint: Paint) {
    let words = verdict(summary);
    let word = words.split(':').next().unwrap_or_default();
    let painted = match summary.verdict {
        RunVerdict::Passed => paint.good(word),
        RunVerdict::Failed => paint.bad(word),
        RunVerdict::Incomplete | RunVerdict::CouldNotTest => paint.odd(word),
    };
    let lines = wrapped(&words, WIDTH).join("\n").replacen(word, &painted, 1);
    let _ = writeln!(out, "{lines}\n  {}", escape_controls(&summary.target));
    for line in outcome(summary) {
        let _ = writeln!(out, "{}", escape_controls(&line));
    }
}

/// The wrong answers, each group with its first example. The page has more.
fn wrong_answers(out: &mut String, summary: &RunSummary, paint: Paint) {
    let groups = groups(&summary.figures.wrong);
    let judged = summary.figures.total(None).judged;
    for group in groups.iter().take(SHOWN) {
        let _ = writeln!(out, "\n{} {}", paint.bad("WRONG"), escape_controls(&group.headline(judged)));
        for (name, text) in group.kinds.iter().take(1).flat_map(|kind| lines(kind)) {
            let _ = writeln!(out, "  {:>8}  {}", paint.dim(name), cut(&escape_controls(&text), EXCERPT));
        }
    }
    let more = groups.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        let _ = writeln!(out, "\n{} more of wrong answers: see the JSON report", count(more, "kind"));
    }
}

/// Renders a comparison: the output of `compare`.
pub fn compared(out: &mut String, comparison: &RunComparison, paint: Paint) {
    table(out, &tables::compared(comparison), paint);
}

/// A table: names on the left, everything else on the right of its column. Nothing without rows.
fn table(out: &mut String, table: &Table, paint: Paint) {
    if table.rows.is_empty() {
        return;
    }
    let clean = |cell: &Cell| cut(&escape_controls(&cell.text), WIDTH - 30);
    let rows: Vec<Vec<String>> = [table.columns.clone()]
        .into_iter()
        .chain(table.rows.iter().map(|row| row.iter().map(clean).collect()))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let _ = writeln!(out, "\n{}", paint.bold(&escape_controls(&table.title)));
    for (number, row) in rows.iter().enumerate() {
        for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
            let text = if column == 0 { format!("  {text:<width$}") } else { format!("  {text:>width$}") };
            let tone = number.checked_sub(1).map(|number| table.rows[number][column].tone);
            out.push_str(&match tone {
                None => paint.dim(&text),
                Some(Tone::Plain) => text,
                Some(Tone::Good) => paint.good(&text),
                Some(Tone::Bad) => paint.bad(&text),
                Some(Tone::Odd) => paint.odd(&text),
            });
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}
