//! The tables of the page: failures, thresholds, the comparison and the figures of each scenario.

use std::fmt::{Result, Write as _};

use super::escaped;
use crate::{
    figures::outcome::Outcome,
    report::{phrases::in_no_figure, rows},
    results::{
        compare::{Change, RunComparison},
        summary::{RunSummary, RunVerdict},
    },
    text::{number, share},
};

/// A cell of a table: its class in the style sheet (empty for none), and its HTML.
type Cell = (&'static str, String);

/// A table. `name` is its title for screen readers; each row has a class and cells.
fn write(
    out: &mut String,
    title: &str,
    name: &str,
    columns: &[String],
    rows: impl IntoIterator<Item = (&'static str, Vec<Cell>)>,
) -> Result {
    let class = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    write!(
        out,
        "<h2>{title}</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table>"
    )?;
    if !columns.is_empty() {
        write!(out, "<tr><th>{}</th></tr>", columns.join("</th><th>"))?;
    }
    for (of_row, cells) in rows {
        write!(out, "\n<tr{}>", class(of_row))?;
        for (of_cell, html) in cells {
            write!(out, "<td{}>{html}</td>", class(of_cell))?;
        }
        out.push_str("</tr>");
    }
    writeln!(out, "\n</table></div>")
}

/// Why requests got no good answer.
pub(super) fn failures(out: &mut String, summary: &RunSummary) -> Result {
    let counts = summary.figures.total(None).counts;
    if counts.without_answer().next().is_none() {
        return Ok(());
    }
    let outcomes = counts.without_answer().map(|(outcome, times)| {
        let share = escaped(&share(times, counts.all()));
        vec![("", outcome.description().to_owned()), ("", number(times)), ("", share)]
    });
    let causes = summary.figures.failures.iter().map(|(description, times)| {
        vec![("soft", escaped(description)), ("", number(*times)), ("", String::new())]
    });
    let title = "Without a good answer";
    write(out, title, title, &[], outcomes.chain(causes).map(|cells| ("", cells)))
}

/// What each threshold observed.
pub(super) fn thresholds(out: &mut String, summary: &RunSummary) -> Result {
    if summary.thresholds.is_empty() || summary.verdict == RunVerdict::CouldNotTest {
        return Ok(());
    }
    let rows = summary.thresholds.iter().map(|judged| {
        let (class, mark) = if judged.met { ("good", "met") } else { ("bad", "missed") };
        let note = if judged.by_default { " <span class=\"soft\">default</span>" } else { "" };
        let threshold = format!("<code>{}</code>{note}", escaped(&judged.threshold.to_string()));
        ("", vec![("", threshold), ("", escaped(&judged.observed)), (class, mark.to_owned())])
    });
    write(out, "Thresholds", "Thresholds", &[], rows)
}

/// The comparison with an earlier run.
pub(super) fn compared(out: &mut String, comparison: &RunComparison) -> Result {
    let rows = comparison.rows.iter().map(|row| {
        let class = match row.direction {
            Change::Worse => "bad",
            Change::Better => "good",
            Change::Same => "soft",
            Change::Unclear => "odd",
        };
        let [name, before, after, note] =
            [&row.name, &row.before, &row.after, &row.note].map(|text| escaped(text));
        let change = row.direction.word().to_owned();
        ("", vec![("", name), ("", before), ("", after), (class, change), ("left soft", note)])
    });
    let title = format!("Compared with {}", escaped(&comparison.before));
    let columns = ["figure", "before", "now", "change", "note"].map(str::to_owned);
    write(out, &title, "Comparison", &columns, rows)
}

/// The figures of each scenario.
pub(super) fn table(out: &mut String, summary: &RunSummary) -> Result {
    if summary.figures.labels.is_empty() {
        return Ok(());
    }
    let mut rows = rows::figures(summary);
    let columns = rows.remove(0);
    let wrong = summary.figures.labels.values().map(|figures| figures.counts.of(Outcome::Wrong));
    let wrong = wrong.chain([summary.figures.total(None).counts.of(Outcome::Wrong)]);
    let (column_of_wrong, last) = (columns.len() - 2, rows.len() - 1);
    let rows = rows.into_iter().zip(wrong).enumerate().map(|(place, (row, wrong))| {
        let class = |column| if column == column_of_wrong && wrong > 0 { "bad" } else { "" };
        let cells = row.iter().enumerate().map(|(column, cell)| (class(column), escaped(cell)));
        (if place == last { "all" } else { "" }, cells.collect())
    });
    write(out, "Scenarios", "Scenarios", &columns, rows)?;
    let mut notes = in_no_figure(summary);
    for generator in &summary.generators {
        if let Some(own) = generator.cpu_share {
            notes.push(format!("the generator used {:.0} % of {} cores", own * 100.0, generator.cores));
        }
    }
    notes.extend(summary.left_out.iter().map(|cause| format!("left out: {}", escaped(cause))));
    for note in notes {
        writeln!(out, "<p class=\"soft\">{note}</p>")?;
    }
    Ok(())
}
