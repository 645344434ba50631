//! The HTML report: one file without scripts and without network access, light or dark by the preference of the reader.
//!
//! The report of goose loads its plots from a CDN and distinguishes failed requests only. `--goose-report` writes it as well.

mod defects;
mod plot;
mod plots;
mod tables;

use std::fmt::Write as _;

use paymaster_settings::output::terminal::escape_controls;

use super::{
    ReportError, advice,
    phrases::{arrivals, load, verdict},
    workers,
};
use crate::{
    figures::outcome::Outcome,
    results::{
        compare::RunComparison,
        summary::{RunSummary, RunVerdict},
    },
    text::{date, latency, number, rate, seconds, share},
};

const STYLE: &str = include_str!("page.css");

pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, ReportError> {
    let mut out = String::new();
    head(&mut out, summary)?;
    tiles(&mut out, summary)?;
    defects::write(&mut out, summary)?;
    tables::failures(&mut out, summary)?;
    tables::thresholds(&mut out, summary)?;
    if let Some(comparison) = comparison {
        tables::compared(&mut out, comparison)?;
    }
    plots::write(&mut out, summary)?;
    tables::table(&mut out, summary)?;
    list(&mut out, "Workers", &workers::lines(summary))?;
    list(&mut out, "Next", &advice::next(summary))?;
    writeln!(
        out,
        "<footer>Written by paymaster-loadtest {}. Secrets of the URL and of headers are replaced by ***.</footer>\n</main></body></html>",
        env!("CARGO_PKG_VERSION")
    )?;
    Ok(out)
}

/// The verdict, and under which conditions the run was made.
fn head(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let words = verdict(summary);
    let class = match summary.verdict {
        RunVerdict::Passed => "good",
        RunVerdict::Failed => "bad",
        RunVerdict::Incomplete | RunVerdict::CouldNotTest => "odd",
    };
    let (word, details) = words.split_once(": ").unwrap_or((&words, ""));
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{words}: load test</title><style>\n{STYLE}</style></head><body><main>\n<h1><span class=\"{class}\">{word}</span>"
    )?;
    if !details.is_empty() {
        writeln!(out, "<span class=\"details\">{details}</span>")?;
    }
    out.push_str("</h1>\n<dl class=\"facts\">\n");
    let mut facts = vec![
        ("target", format!("<code>{}</code>", escaped(&summary.target))),
        ("scenarios", escaped(&summary.scenarios.join(", "))),
        ("load", escaped(&load(summary, ""))),
    ];
    facts.extend(date(summary.began).map(|date| ("began", date)));
    let commands = [&summary.command].into_iter().filter(|command| !command.is_empty());
    facts.extend(commands.map(|command| ("command", format!("<code>{}</code>", escaped(command)))));
    let merged = summary.merged_commands.iter();
    facts.extend(merged.map(|command| ("merged", format!("<code>{}</code>", escaped(command)))));
    for (name, value) in facts {
        writeln!(out, "<dt>{name}</dt><dd>{value}</dd>")?;
    }
    out.push_str("</dl>\n");
    if let Some(sentence) = arrivals(&summary.figures.arrivals) {
        let class = if summary.figures.arrivals.is_reached() { "soft" } else { "odd" };
        writeln!(out, "<p class=\"{class}\">{sentence}</p>")?;
    }
    if let Some(why) = &summary.cut_short {
        writeln!(out, "<p class=\"odd\">Cut short: {}</p>", escaped(why))?;
    }
    Ok(())
}

/// A list with a title; nothing if it is empty.
fn list(out: &mut String, title: &str, lines: &[String]) -> std::fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>{title}</h2><ul>")?;
    for line in lines {
        writeln!(out, "<li>{}</li>", escaped(line))?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

fn tiles(out: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let total = summary.figures.total(None);
    let p = |percent| latency(total.latency.percentile(percent));
    let wrong = total.counts.of(Outcome::Wrong);
    out.push_str("<div class=\"tiles\">\n");
    for (value, name, class) in [
        (rate(summary.rate()), "answers", ""),
        (p(50.0), "p50", ""),
        (p(95.0), "p95", ""),
        (p(99.0), "p99", ""),
        (share(wrong, total.judged), "wrong of judged", if wrong > 0 { "bad" } else { "good" }),
        (
            share(total.counts.failed() - wrong, total.counts.all()),
            "failed otherwise",
            if total.counts.failed() > wrong { "odd" } else { "good" },
        ),
        (number(total.counts.all()), "requests", ""),
        (seconds(summary.seconds), "measured", ""),
    ] {
        writeln!(out, "<div><b class=\"{class}\">{value}</b><span>{name}</span></div>")?;
    }
    out.push_str("</div>\n");
    Ok(())
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
        assert_eq!(page.matches("<figure>").count(), 4);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>\u{1b}"));
        for outside in ["<script", "http-equiv", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn date_command_and_the_verdict_in_words_stand_at_the_top() {
        let page = render(&fixtures::passed(), None).unwrap();
        let top = page.split("<div class=\"tiles\">").next().unwrap();
        for part in [
            "<span class=\"good\">PASSED</span>",
            "<span class=\"details\">every answer was right</span>",
            "<dt>began</dt><dd>2026-03-01 12:00:00 UTC</dd>",
            "<dt>command</dt><dd><code>paymaster-loadtest &#39;http://127.0.0.1:3000/***&#39; -t &#39;p95&lt;200ms&#39;</code></dd>",
        ] {
            assert!(top.contains(part), "{part}: {top}");
        }
        let merged = RunSummary {
            merged_commands: vec!["paymaster-loadtest worker".to_owned()],
            ..fixtures::passed()
        };
        let page = render(&merged, None).unwrap();
        assert!(page.contains("<dt>merged</dt><dd><code>paymaster-loadtest worker</code></dd>"));
    }

    #[test]
    fn a_defect_of_many_scenarios_is_shown_once_with_three_examples() {
        let mut summary = fixtures::failed();
        let first = summary.figures.wrong[0].clone();
        summary.figures.wrong = (0..5)
            .map(|n| {
                let mut kind = first.clone();
                kind.key.label = format!("scenario{n}");
                kind
            })
            .collect();
        let page = render(&summary, None).unwrap();
        assert_eq!(page.matches("<div class=\"wrong\">").count(), 1);
        assert_eq!(page.matches("<dl class=\"example\">").count(), 3);
        assert!(page.contains("in scenario0, scenario1, scenario2, scenario3, scenario4</p>"), "{page}");
        assert!(page.contains("2 more examples of other scenarios or places"), "{page}");
        let times = format!("<p>{} of the judged answers", first.times * 5);
        assert!(page.contains(&times), "{times}: {page}");
    }

    #[test]
    fn an_unreachable_target_has_a_page() {
        let page = render(&fixtures::unreachable(), None).unwrap();
        assert!(page.contains("COULD NOT TEST") && page.contains("no connection: refused"));
    }
}
