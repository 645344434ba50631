//! The tables of the page: failures, thresholds, the comparison and the figures of each scenario.

use std::fmt::Write as _;

use super::escaped;
use crate::{
    figures::{LabelFigures, histogram::PERCENTILES, outcome::Outcome},
    report::phrases::in_no_figure,
    results::{
        compare::{Change, RunComparison},
        summary::{RunSummary, RunVerdict},
    },
    text::{latency, number, rate, share},
};

/// Why requests got no good answer.
pub(super) fn failures(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let counts = summary.figures.total(None).counts;
    let outcomes: Vec<_> = Outcome::ALL
        .into_iter()
        .filter(|outcome| !matches!(outcome, Outcome::Good | Outcome::Wrong) && counts.of(*outcome) > 0)
        .collect();
    if outcomes.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Without a good answer</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Without a good answer\"><table>\n");
    for outcome in outcomes {
        let times = counts.of(outcome);
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            outcome.description(),
            number(times),
            escaped(&share(times, counts.all()))
        )?;
    }
    for (description, times) in &summary.figures.failures {
        writeln!(
            out,
            "<tr><td class=\"soft\">{}</td><td>{}</td><td></td></tr>",
            escaped(description),
            number(*times)
        )?;
    }
    out.push_str("</table></div>\n");
    Ok(())
}

/// What each threshold observed.
pub(super) fn thresholds(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if summary.thresholds.is_empty() || summary.verdict == RunVerdict::CouldNotTest {
        return Ok(());
    }
    out.push_str("<h2>Thresholds</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Thresholds\"><table>\n");
    for judged in &summary.thresholds {
        let (class, mark) = if judged.met { ("good", "met") } else { ("bad", "missed") };
        writeln!(
            out,
            "<tr><td><code>{}</code>{}</td><td>{}</td><td class=\"{class}\">{mark}</td></tr>",
            escaped(&judged.threshold.to_string()),
            if judged.by_default { " <span class=\"soft\">default</span>" } else { "" },
            escaped(&judged.observed)
        )?;
    }
    out.push_str("</table></div>\n");
    Ok(())
}

/// The comparison with an earlier run.
pub(super) fn compared(out: &mut String, comparison: &RunComparison) -> std::fmt::Result {
    writeln!(
        out,
        "<h2>Compared with {}</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Comparison\"><table><tr><th>figure</th><th>before</th><th>now</th><th>change</th><th>note</th></tr>",
        escaped(&comparison.before)
    )?;
    for row in &comparison.rows {
        let class = match row.direction {
            Change::Worse => "bad",
            Change::Better => "good",
            Change::Same => "soft",
            Change::Unclear => "odd",
        };
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td><td class=\"left soft\">{}</td></tr>",
            escaped(&row.name),
            escaped(&row.before),
            escaped(&row.after),
            row.direction.word(),
            escaped(&row.note)
        )?;
    }
    out.push_str("</table></div>\n");
    Ok(())
}

/// The figures of each scenario.
pub(super) fn table(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if summary.figures.labels.is_empty() {
        return Ok(());
    }
    out.push_str(
        "<h2>Scenarios</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Scenarios\"><table><tr><th>scenario</th><th>requests</th><th>rate</th>",
    );
    for percent in PERCENTILES {
        write!(out, "<th>p{percent}</th>")?;
    }
    out.push_str("<th>max</th><th>wrong</th><th>failed</th></tr>\n");
    for (label, figures) in &summary.figures.labels {
        row(out, label, "", figures, summary.seconds)?;
    }
    row(out, "all", "all", &summary.figures.total(None), summary.seconds)?;
    out.push_str("</table></div>\n");
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

fn row(out: &mut String, label: &str, class: &str, figures: &LabelFigures, seconds: f64) -> std::fmt::Result {
    let wrong = figures.counts.of(Outcome::Wrong);
    write!(
        out,
        "<tr class=\"{class}\"><td>{}</td><td>{}</td><td>{}</td>",
        escaped(label),
        number(figures.counts.all()),
        rate(figures.rate(seconds))
    )?;
    let percentiles = PERCENTILES.map(|percent| figures.latency.percentile(percent));
    for shown in percentiles.into_iter().chain([figures.latency.max()]) {
        write!(out, "<td>{}</td>", latency(shown))?;
    }
    writeln!(
        out,
        "<td class=\"{}\">{}</td><td>{}</td></tr>",
        if wrong > 0 { "bad" } else { "" },
        number(wrong),
        number(figures.counts.failed() - wrong)
    )
}
