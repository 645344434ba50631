//! The report on a terminal: verdict, failures with examples, figures and advice.

use std::fmt::Write as _;

use paymaster_settings::output::terminal::{Paint, escape_controls, wrapped};

use super::{
    advice,
    phrases::{answered, arrivals, in_no_figure, load, verdict},
    rows, workers,
    wrong::{WrongGroup, groups},
};
use crate::{
    figures::outcome::Outcome,
    number::float,
    results::{
        compare::{Change, RunComparison},
        summary::{RunSummary, RunVerdict},
    },
    text::{count, latency, number, rate, seconds, share},
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
    failures(&mut out, summary, paint);
    thresholds(&mut out, summary, paint);
    if !summary.figures.labels.is_empty() {
        figures(&mut out, summary, paint);
    }
    list(&mut out, "workers", &workers::lines(summary), paint);
    if let Some(comparison) = comparison {
        compared(&mut out, comparison, paint);
    }
    list(&mut out, "next", &advice::next(summary), paint);
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
    let target = escape_controls(&summary.target);
    let mut lines = wrapped(&words, WIDTH).join("\n");
    let last = lines.lines().last().unwrap_or_default();
    let gap = if last.len() + 2 + target.chars().count() > WIDTH { "\n  " } else { "  " };
    let word = words.split(':').next().unwrap_or_default();
    let painted = match summary.verdict {
        RunVerdict::Passed => paint.good(word),
        RunVerdict::Failed => paint.bad(word),
        RunVerdict::Incomplete | RunVerdict::CouldNotTest => paint.odd(word),
    };
    lines.replace_range(..word.len(), &painted);
    let total = summary.figures.total(None);
    let all = total.counts.all();
    let _ = writeln!(out, "{lines}{gap}{target}");
    if let Some(why) = &summary.cut_short {
        let _ = writeln!(out, "cut short: {}", escape_controls(why));
    }
    if all == 0 {
        let _ = writeln!(out, "nothing was measured");
        return;
    }
    let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| latency(total.latency.percentile(percent)));
    let _ = writeln!(
        out,
        "{} in {}: {}   p50 {p50}   p95 {p95}   p99 {p99}   max {}",
        answered(total.counts),
        seconds(summary.seconds),
        paint.bold(&rate(summary.rate())),
        latency(total.latency.max()),
    );
    if let Some(text) = arrivals(&summary.figures.arrivals) {
        let _ = writeln!(out, "{text}");
    }
    let _ = writeln!(
        out,
        "{} answers judged, {} wrong",
        match (total.judged, total.counts.answered()) {
            (judged, answered) if judged >= answered => format!("all {}", number(judged)),
            (judged, answered) => format!("{} of {}", number(judged), number(answered)),
        },
        number(total.counts.of(Outcome::Wrong)),
    );
}

fn wrong_answers(out: &mut String, summary: &RunSummary, paint: Paint) {
    let groups = groups(&summary.figures.wrong);
    for group in groups.iter().take(SHOWN) {
        let _ = writeln!(out);
        one_group(out, group, summary.figures.total(None).judged, paint);
    }
    let more = groups.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        let _ = writeln!(out, "\n{} more of wrong answers: see the JSON report", count(more, "kind"));
    }
}

/// A group with an example of its most frequent kind. The page has more.
fn one_group(out: &mut String, group: &WrongGroup<'_>, judged: u64, paint: Paint) {
    let Some(wrong) = group.kinds.first() else {
        return;
    };
    let place = if wrong.key.pointer.is_empty() {
        String::new()
    } else {
        format!(" at {}", escape_controls(&wrong.key.pointer))
    };
    let _ = writeln!(
        out,
        "{} {} in {}: {} ({} of judged answers)",
        paint.bad("WRONG"),
        paint.name(group.rule),
        group.labels().join(", "),
        count(group.times, "answer"),
        share(group.times, judged),
    );
    let example = &wrong.example;
    for (name, text) in [
        ("expected", format!("{}{place}", example.expected)),
        ("got", example.actual.clone()),
        ("request", example.request.clone()),
        (
            "answer",
            match example.status {
                Some(200) | None => example.response.clone(),
                Some(status) => format!("HTTP {status} {}", example.response),
            },
        ),
    ] {
        let _ = writeln!(out, "  {:>8}  {}", paint.dim(name), excerpt(&text));
    }
}

fn excerpt(text: &str) -> String {
    let text = escape_controls(text);
    match text.char_indices().nth(EXCERPT) {
        None => text,
        Some((cut, _)) => format!("{}... ({} bytes)", &text[..cut], text.len()),
    }
}

fn failures(out: &mut String, summary: &RunSummary, paint: Paint) {
    let counts = summary.figures.total(None).counts;
    for (place, (outcome, times)) in counts.without_answer().enumerate() {
        if place == 0 {
            let _ = writeln!(out, "\n{}", paint.bold("without a good answer"));
        }
        let (what, share) = (outcome.description(), share(times, counts.all()));
        let _ = writeln!(out, "  {what:<18} {:>10}  {share}", number(times));
    }
    for (description, times) in summary.figures.failures.iter().take(SHOWN) {
        let _ = writeln!(out, "  {:>10} x {}", number(*times), escape_controls(description));
    }
}

fn thresholds(out: &mut String, summary: &RunSummary, paint: Paint) {
    if summary.thresholds.is_empty() || summary.verdict == RunVerdict::CouldNotTest {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("thresholds"));
    for judged in &summary.thresholds {
        let mark = if judged.met { paint.good("met   ") } else { paint.bad("missed") };
        let note = if judged.by_default { paint.dim("  (default)") } else { String::new() };
        let _ = writeln!(out, "  {mark} {:<28} {}{note}", judged.threshold, judged.observed);
    }
}

fn figures(out: &mut String, summary: &RunSummary, paint: Paint) {
    let mut rows = rows::figures(summary);
    if summary.figures.labels.len() == 1 {
        // The sum of one scenario is the scenario.
        rows.pop();
    }
    let widest = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    for (place, row) in rows.iter().enumerate() {
        let mut line = format!("{:<widest$}", row[0]);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let width = if column < 3 { 10 } else { 8 };
            let _ = write!(line, " {cell:>width$}");
        }
        let _ = if place == 0 { writeln!(out, "\n{}", paint.bold(&line)) } else { writeln!(out, "{line}") };
    }
    let _ = writeln!(out);
    let _ = writeln!(out, "{}", load(summary, ", latency from the intended start"));
    for line in in_no_figure(summary) {
        let _ = writeln!(out, "{line}");
    }
    let one_line = workers::generators(&summary.generators);
    if let Some(line) = &one_line {
        let _ = writeln!(out, "{line}");
    }
    for generator in summary.generators.iter().filter(|_| one_line.is_none()) {
        if let (Some(own), Some(cpu)) = (generator.cpu_share, generator.cpu_seconds) {
            let each = cpu * 1e6 / float(summary.figures.total(None).counts.all().max(1));
            let _ = writeln!(
                out,
                "the generator used {:.0} % of {} cores, {each:.1} us a request",
                own * 100.0,
                generator.cores
            );
        }
    }
    for cause in &summary.left_out {
        let _ = writeln!(out, "left out: {}", escape_controls(cause));
    }
}

/// Renders a comparison: a part of the report, and the output of `compare`.
pub fn compared(out: &mut String, comparison: &RunComparison, paint: Paint) {
    let _ =
        writeln!(out, "\n{}", paint.bold(&format!("compared with {}", escape_controls(&comparison.before))));
    for row in &comparison.rows {
        let word = format!("{:<6}", row.direction.word());
        let mark = match row.direction {
            Change::Worse => paint.bad(&word),
            Change::Better => paint.good(&word),
            Change::Same => word,
            Change::Unclear => paint.odd(&word),
        };
        let _ =
            writeln!(out, "  {mark} {:<28} {:>12} -> {:>12}  {}", row.name, row.before, row.after, row.note);
    }
}
