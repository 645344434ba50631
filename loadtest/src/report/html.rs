//! The HTML report: one file without scripts and without network access, light or dark by the preference of the reader.
//!
//! The report of goose loads its plots from a CDN and distinguishes failed requests only. `--goose-report` writes it as well.

use std::fmt::Write as _;

use paymaster_cli::terminal::escape_controls;

use super::{
    RenderError, advice,
    phrases::{arrivals, verdict},
    plot::{Line, Plot, Scale, step},
    workers,
};
use crate::{
    figures::{LabelFigures, histogram::PERCENTILES, outcome::Outcome, series::TimeSlot},
    results::{
        compare::{Change, RunComparison},
        summary::{ModelName, RunSummary, RunVerdict},
    },
    text::{count, duration, number, rate, seconds, share},
};

const STYLE: &str = include_str!("page.css");
/// Characters of a body that are shown.
const EXCERPT: usize = 1_200;

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, RenderError> {
    let mut out = String::new();
    let words = verdict(summary);
    let class = match summary.verdict {
        RunVerdict::Passed => "good",
        RunVerdict::Failed => "bad",
        RunVerdict::Incomplete | RunVerdict::CouldNotTest => "odd",
    };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{words}: load test</title><style>\n{STYLE}</style></head><body>\n<h1><span class=\"{class}\">{words}</span></h1>\n<p><code>{}</code> <span class=\"soft\">{}, {}</span></p>\n",
        escaped(&summary.target),
        escaped(&summary.scenarios.join(", ")),
        model_words(summary)
    )?;
    if let Some(sentence) = arrivals(&summary.figures.arrivals) {
        let class = if summary.figures.arrivals.is_reached() {
            "soft"
        } else {
            "odd"
        };
        writeln!(out, "<p class=\"{class}\">{sentence}</p>")?;
    }
    if let Some(why) = &summary.cut_short {
        writeln!(out, "<p class=\"odd\">Cut short: {}</p>", escaped(why))?;
    }
    tiles(&mut out, summary)?;
    wrong(&mut out, summary)?;
    failures(&mut out, summary)?;
    thresholds(&mut out, summary)?;
    if let Some(comparison) = comparison {
        compared(&mut out, comparison)?;
    }
    plots(&mut out, summary)?;
    table(&mut out, summary)?;
    let shares = workers::lines(summary);
    if !shares.is_empty() {
        out.push_str("<h2>Workers</h2><ul>\n");
        for line in shares {
            writeln!(out, "<li>{}</li>", escaped(&line))?;
        }
        out.push_str("</ul>\n");
    }
    let next = advice::next(summary);
    if !next.is_empty() {
        out.push_str("<h2>Next</h2><ul>\n");
        for advice in next {
            writeln!(out, "<li>{}</li>", escaped(&advice))?;
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</body></html>\n");
    Ok(out)
}

fn model_words(summary: &RunSummary) -> String {
    let model = &summary.model;
    let rate = match &model.rate {
        Some(rate) if model.name == ModelName::Open => {
            let spread = if model.poisson { " at random (Poisson)" } else { "" };
            format!(
                "open model, {} arrivals per second{spread} requested",
                escaped(rate)
            )
        }
        Some(rate) => format!("closed model, at most {} requests per second", escaped(rate)),
        None => "closed model".to_owned(),
    };
    format!(
        "{rate}, {}, seed {}",
        count(model.users as u64, "user"),
        summary.seed
    )
}

fn tiles(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let total = summary.figures.total(None);
    let p = |percent| {
        total
            .latency
            .percentile(percent)
            .map_or_else(|| "-".to_owned(), duration)
    };
    let wrong = total.counts.of(Outcome::Wrong);
    out.push_str("<div class=\"tiles\">\n");
    for (value, name, class) in [
        (rate(summary.rate()), "answers", ""),
        (p(50.0), "p50", ""),
        (p(95.0), "p95", ""),
        (p(99.0), "p99", ""),
        (
            share(wrong, total.judged),
            "wrong of judged",
            if wrong > 0 { "bad" } else { "good" },
        ),
        (
            share(total.counts.failed() - wrong, total.counts.all()),
            "failed otherwise",
            if total.counts.failed() > wrong {
                "odd"
            } else {
                "good"
            },
        ),
        (number(total.counts.all()), "requests", ""),
        (seconds(summary.seconds), "measured", ""),
    ] {
        writeln!(
            out,
            "<div><b class=\"{class}\">{value}</b><span>{name}</span></div>"
        )?;
    }
    out.push_str("</div>\n");
    Ok(())
}

fn wrong(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if summary.figures.wrong.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Wrong answers</h2>\n");
    let judged = summary.figures.total(None).judged;
    for wrong in &summary.figures.wrong {
        let example = &wrong.example;
        writeln!(
            out,
            "<div class=\"wrong\"><b>{}</b> in {}: {} ({})<dl><dt>where</dt><dd><code>{}</code></dd><dt>expected</dt><dd>{}</dd><dt>got</dt><dd>{}</dd><dt>request</dt><dd><code>{}</code></dd><dt>answer</dt><dd><code>{}</code></dd></dl></div>",
            escaped(&wrong.key.rule),
            escaped(&wrong.key.label),
            count(wrong.times, "answer"),
            escaped(&share(wrong.times, judged)),
            if wrong.key.pointer.is_empty() {
                "the whole answer".to_owned()
            } else {
                escaped(&wrong.key.pointer)
            },
            escaped(&example.expected),
            escaped(&example.actual),
            excerpt(&example.request),
            excerpt(&example.response)
        )?;
    }
    Ok(())
}

fn failures(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let counts = summary.figures.total(None).counts;
    let outcomes: Vec<_> = Outcome::ALL
        .into_iter()
        .filter(|outcome| !matches!(outcome, Outcome::Good | Outcome::Wrong) && counts.of(*outcome) > 0)
        .collect();
    if outcomes.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Without a good answer</h2><div class=\"scroll\"><table>\n");
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

fn thresholds(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if summary.thresholds.is_empty() || summary.verdict == RunVerdict::CouldNotTest {
        return Ok(());
    }
    out.push_str("<h2>Thresholds</h2><div class=\"scroll\"><table>\n");
    for judged in &summary.thresholds {
        let (class, mark) = if judged.met {
            ("good", "met")
        } else {
            ("bad", "missed")
        };
        writeln!(
            out,
            "<tr><td><code>{}</code>{}</td><td>{}</td><td class=\"{class}\">{mark}</td></tr>",
            escaped(&judged.threshold.to_string()),
            if judged.by_default {
                " <span class=\"soft\">default</span>"
            } else {
                ""
            },
            escaped(&judged.observed)
        )?;
    }
    out.push_str("</table></div>\n");
    Ok(())
}

fn compared(out: &mut String, comparison: &RunComparison) -> std::fmt::Result {
    writeln!(
        out,
        "<h2>Compared with {}</h2><div class=\"scroll\"><table><tr><th></th><th>before</th><th>now</th><th></th><th></th></tr>",
        escaped(&comparison.before)
    )?;
    for row in &comparison.rows {
        let (class, mark) = match row.direction {
            Change::Worse => ("bad", "worse"),
            Change::Better => ("good", "better"),
            Change::Same => ("soft", "same"),
            Change::Unclear => ("odd", "unclear"),
        };
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{mark}</td><td class=\"left soft\">{}</td></tr>",
            escaped(&row.name),
            escaped(&row.before),
            escaped(&row.after),
            escaped(&row.note)
        )?;
    }
    out.push_str("</table></div>\n");
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "three plots, one after the other")]
fn plots(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let series = &summary.figures.series;
    let at = |place: usize| f64::from(series.seconds) * f64::from(u32::try_from(place).unwrap_or(u32::MAX));
    let ticks = time_ticks(summary.seconds);
    let rates = |of: fn(&TimeSlot) -> u64| -> Vec<(f64, f64)> {
        let slots = series.whole(summary.length()).iter().enumerate();
        slots
            .map(|(place, slot)| (at(place), series.rate(of(slot))))
            .collect()
    };
    let mut lines = vec![Line {
        name: "answers",
        class: "a",
        points: rates(|slot| slot.counts.answered()),
    }];
    if summary.figures.arrivals.requested_rate().is_some() {
        lines.push(Line {
            name: "requests due",
            class: "d",
            points: rates(|slot| slot.due),
        });
    }
    if summary.figures.total(None).counts.failed() > 0 {
        lines.push(Line {
            name: "wrong or failed",
            class: "c",
            points: rates(|slot| slot.counts.failed()),
        });
    }
    let throughput = Plot {
        title: "Requests a second",
        lines,
        y: Scale::Linear,
        ticks: ticks.clone(),
        shown: |value| {
            if value >= 10.0 {
                format!("{value:.0}")
            } else {
                format!("{value:.1}")
            }
        },
    };
    let percentile = |percent| -> Vec<(f64, f64)> {
        let places = series.slots.iter().enumerate();
        places
            .filter_map(|(place, slot)| Some((at(place), slot.percentile(percent)?.as_secs_f64())))
            .collect()
    };
    let latency = Plot {
        title: "Latency over time",
        lines: vec![
            Line {
                name: "p50",
                class: "d",
                points: percentile(50.0),
            },
            Line {
                name: "p95",
                class: "b",
                points: percentile(95.0),
            },
            Line {
                name: "p99",
                class: "c",
                points: percentile(99.0),
            },
        ],
        y: Scale::Logarithmic,
        ticks,
        shown: shown_latency,
    };
    // The x axis counts the nines of the percentage.
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10();
    let distribution = Plot {
        title: "Latency by percentile",
        lines: vec![Line {
            name: "all requests",
            class: "a",
            points: summary
                .figures
                .total(None)
                .latency
                .distribution()
                .into_iter()
                .map(|(percent, latency)| (nines(percent), latency.as_secs_f64()))
                .collect(),
        }],
        y: Scale::Logarithmic,
        ticks: [
            (0.0, "0"),
            (nines(50.0), "50"),
            (1.0, "90"),
            (2.0, "99"),
            (3.0, "99.9"),
            (4.0, "99.99"),
        ]
        .into_iter()
        .map(|(x, label)| (x, label.to_owned()))
        .collect(),
        shown: shown_latency,
    };
    let drawn = [throughput.svg(), latency.svg(), distribution.svg()].concat();
    if !drawn.is_empty() {
        write!(out, "<h2>Plots</h2>\n{drawn}")?;
    }
    Ok(())
}

fn shown_latency(value: f64) -> String {
    let latency = duration(std::time::Duration::try_from_secs_f64(value).unwrap_or_default());
    // The labels are powers of ten, so their decimals are zeros.
    latency.replace(".00", "").replace(".0", "")
}

fn time_ticks(seconds: f64) -> Vec<(f64, String)> {
    let step = step(seconds.max(1.0)).max(1.0);
    (0..=10)
        .map(|n| f64::from(n) * step)
        .take_while(|at| *at <= seconds)
        .map(|at| (at, format!("{at:.0} s")))
        .collect()
}

fn table(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if summary.figures.labels.is_empty() {
        return Ok(());
    }
    out.push_str(
        "<h2>Scenarios</h2><div class=\"scroll\"><table><tr><th>scenario</th><th>requests</th><th>rate</th>",
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
    let mut notes = Vec::new();
    if summary.figures.warm_up.all() > 0 {
        notes.push(format!(
            "{} of the warm-up are in no figure",
            count(summary.figures.warm_up.all(), "request")
        ));
    }
    for generator in &summary.generators {
        if let Some(own) = generator.cpu_share {
            notes.push(format!(
                "the generator used {:.0} % of {} cores",
                own * 100.0,
                generator.cores
            ));
        }
    }
    notes.extend(
        summary
            .left_out
            .iter()
            .map(|cause| format!("left out: {}", escaped(cause))),
    );
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
    let latencies = PERCENTILES.map(|percent| figures.latency.percentile(percent));
    for latency in latencies.into_iter().chain([figures.latency.max()]) {
        write!(
            out,
            "<td>{}</td>",
            latency.map_or_else(|| "-".to_owned(), duration)
        )?;
    }
    writeln!(
        out,
        "<td class=\"{}\">{}</td><td>{}</td></tr>",
        if wrong > 0 { "bad" } else { "" },
        number(wrong),
        number(figures.counts.failed() - wrong)
    )
}

fn excerpt(raw: &str) -> String {
    match raw.char_indices().nth(EXCERPT) {
        None => escaped(raw),
        Some((cut, _)) => format!("{}... ({} bytes)", escaped(&raw[..cut]), raw.len()),
    }
}

/// Escapes a text for HTML.
fn escaped(raw: &str) -> String {
    let mut safe = String::new();
    for letter in escape_controls(raw).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_page_has_no_references_and_texts_of_the_target_are_escaped() {
        let page = render(&fixtures::failed(), None).unwrap();
        assert!(page.contains("FAILED: 2 thresholds missed"));
        assert_eq!(page.matches("<figure>").count(), 3);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>\u{1b}"));
        for outside in ["<script", "http-equiv", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn an_unreachable_target_has_a_page() {
        let page = render(&fixtures::unreachable(), None).unwrap();
        assert!(page.contains("COULD NOT TEST") && page.contains("no connection: refused"));
    }
}
