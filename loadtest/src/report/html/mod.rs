//! The HTML report: one file without network access, in the look of the page of a conformance run, light or dark by the preference of the
//! reader.
//!
//! The report of goose loads its plots from a CDN and distinguishes failed requests only. `--goose-report` writes it as well.

mod defects;
mod plot;
mod plots;

use maud::{Markup, html};
use paymaster_settings::{
    escape_controls,
    output::page::{self, Head, Own},
};

use super::{
    ReportError, advice,
    phrases::{arrivals, commands, early_end, load, verdict},
    tables::{self, Cell, Table, Tone},
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

const OWN: Own = Own { style: include_str!("page.css"), script: include_str!("page.js") };

#[expect(clippy::unnecessary_wraps, reason = "the signature of every format")]
pub(super) fn render(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
) -> Result<String, ReportError> {
    let words = verdict(summary);
    let body = html! {
        (head(summary, &words))
        main {
            (defects::section(summary))
            (table(&tables::failures(summary, usize::MAX)))
            (table(&tables::thresholds(summary)))
            @if let Some(comparison) = comparison { (table(&tables::compared(comparison))) }
            (plots::section(summary))
            (table(&tables::scenarios(summary)))
            (list("Workers", &workers::lines(summary)))
            (list("Next", &advice::next(summary)))
        }
        footer {
            p { "Written by paymaster-loadtest " (env!("CARGO_PKG_VERSION")) ". Secrets of the URL and of headers are replaced by ***." }
        }
    };
    Ok(page::document(&format!("{words}: load test"), OWN, &body))
}

/// The verdict, the most important figures, and under which conditions the run was made.
fn head(summary: &RunSummary, words: &str) -> Markup {
    let (word, limits) = words.split_once(": ").unwrap_or((words, ""));
    let began = date(summary.began).map(|date| format!(", {date}"));
    let top = Head {
        tool: &format!("paymaster-loadtest {}{}", env!("CARGO_PKG_VERSION"), began.unwrap_or_default()),
        state: match summary.verdict {
            RunVerdict::Passed => "passed",
            RunVerdict::Failed => "broken",
            RunVerdict::Incomplete | RunVerdict::CouldNotTest => "inconclusive",
        },
        word,
        limits,
        target: &summary.target,
    };
    let counts = summary.figures.total(None).counts;
    let outcomes = Outcome::all().map(|outcome| {
        let state = match outcome {
            Outcome::Good => "passed",
            Outcome::Wrong => "broken",
            _ => "warned",
        };
        (state, outcome.description(), counts.of(outcome))
    });
    page::head(
        top,
        &html! {
            (tiles(summary))
            (page::counts(outcomes))
            dl.facts {
                div { dt { "scenarios" } dd { (escape_controls(&summary.scenarios.join(", "))) } }
                div { dt { "load" } dd { (escape_controls(&load(summary, ""))) } }
                @for (name, command) in commands(summary) { div { dt { (name) } dd { code { (escape_controls(command)) } } } }
            }
            @if let Some(sentence) = arrivals(&summary.figures.arrivals) { p.note { (sentence) } }
            @if let Some(why) = early_end(summary, false) { p.note { b { "Cut short: " } (escape_controls(why)) } }
        },
    )
}

/// A section with a table; nothing without rows.
fn table(table: &Table) -> Markup {
    let title = escape_controls(&table.title);
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { (title) }
                (numbers(&title, &table.columns, table.rows.iter().map(|row| (None, row.clone()))))
                @for note in &table.notes { p.meta { (escape_controls(note)) } }
            }
        }
    }
}

/// A table that scrolls where it has no room. A row may have a place in a drawing.
fn numbers(
    title: &str,
    columns: &[impl maud::Render],
    rows: impl Iterator<Item = (Option<String>, Vec<Cell>)>,
) -> Markup {
    let state = |tone| match tone {
        Tone::Plain => None,
        Tone::Good => Some("passed"),
        Tone::Bad => Some("broken"),
        Tone::Odd => Some("warned"),
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table.numbers {
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody {
                    @for (place, row) in rows {
                        tr data-at=[place] {
                            @for (column, Cell { text, tone }) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (escape_controls(text)) } }
                                @else { td data-state=[state(*tone)] { (escape_controls(text)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A list with a title; nothing if it is empty.
fn list(title: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section { h2 { (title) } ul.advice { @for line in lines { li { (page::code_spans(&escape_controls(line))) } } } }
        }
    }
}

fn tiles(summary: &RunSummary) -> Markup {
    let total = summary.figures.total(None);
    let p = |percent| latency(total.latency.percentile(percent));
    let wrong = total.counts.of(Outcome::Wrong);
    let failed = total.counts.failed() - wrong;
    let tiles = [
        (rate(summary.rate()), "answers", None),
        (p(50.0), "p50", None),
        (p(95.0), "p95", None),
        (p(99.0), "p99", None),
        (share(wrong, total.judged), "wrong of judged", Some(if wrong > 0 { "broken" } else { "passed" })),
        (
            share(failed, total.counts.all()),
            "failed otherwise",
            Some(if failed > 0 { "warned" } else { "passed" }),
        ),
        (number(total.counts.all()), "requests", None),
        (seconds(summary.seconds), "measured", None),
    ];
    html! {
        div.tiles { @for (value, name, state) in tiles { div { b data-state=[state] { (value) } span { (name) } } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_page_has_no_references_and_texts_of_the_target_are_escaped() {
        let page = render(&fixtures::failed(), None).unwrap();
        assert!(page.contains("FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed"));
        assert_eq!(page.matches("<figure class=\"plot\">").count(), 3);
        assert!(page.contains("&lt;b&gt;") && !page.contains('\u{1b}'));
        for outside in [" src=", "@import", "url(", "<link", "fetch(", " style="] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn date_command_and_the_verdict_in_words_stand_at_the_top() {
        let page = render(&fixtures::passed(), None).unwrap();
        let top = page.split("</header>").next().unwrap();
        for part in [
            "<span class=\"word\">PASSED</span>",
            "<span class=\"limits\">every answer was right</span>",
            ", 2026-03-01 12:00:00 UTC</p>",
            "<dt>command</dt><dd><code>paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95&lt;200ms'</code></dd>",
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
    fn the_warm_up_is_named_only_where_there_was_one() {
        let mut summary = fixtures::passed();
        for expected in [false, true] {
            let page = render(&summary, None).unwrap();
            assert_eq!(page.contains("The time counts from the end of the warm-up."), expected);
            assert!(page.contains("Each step is the mean of 1 s. Point at a plot"), "{page}");
            summary.figures.warm_up.add(Outcome::Good);
        }
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
        assert_eq!(page.matches("<article class=\"defect\"").count(), 1);
        assert_eq!(page.matches("<div class=\"exchange\">").count(), 3);
        assert!(page.contains(" in scenario0, scenario1, scenario2, scenario3, scenario4: "), "{page}");
        assert!(page.contains("2 more examples of other scenarios or places"), "{page}");
        let times = format!(": {} answers (", first.times * 5);
        assert!(page.contains(&times), "{times}: {page}");
    }

    #[test]
    fn an_unreachable_target_has_a_page() {
        let page = render(&fixtures::unreachable(), None).unwrap();
        assert!(page.contains("COULD NOT TEST") && page.contains("no connection: refused"));
    }
}
