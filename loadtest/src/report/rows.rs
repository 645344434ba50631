//! The figures by scenario as a table of texts, which every report for people shows.

use crate::{
    figures::{histogram::PERCENTILES, outcome::Outcome},
    results::summary::RunSummary,
    text::{latency, number, rate},
};

/// The column of the longest latency.
pub(super) const MAXIMUM: usize = 3 + PERCENTILES.len();

/// The titles of the columns, a row for each scenario or step, and one for all of them.
pub(super) fn figures(summary: &RunSummary) -> Vec<Vec<String>> {
    let titles = ["scenario", "requests", "rate"].into_iter().map(str::to_owned);
    let titles = titles.chain(PERCENTILES.map(|percent| format!("p{percent}")));
    let titles = titles.chain(["max", "wrong", "failed"].map(str::to_owned));
    let total = summary.figures.total(None);
    let labels = summary.figures.labels.iter().map(|(label, figures)| (label.as_str(), figures));
    let rows = labels.chain([("all", &total)]).map(|(label, figures)| {
        let wrong = figures.counts.of(Outcome::Wrong);
        let mut row =
            vec![label.to_owned(), number(figures.counts.all()), rate(figures.rate(summary.seconds))];
        row.extend(PERCENTILES.map(|percent| latency(figures.latency.percentile(percent))));
        row.extend([latency(figures.latency.max()), number(wrong), number(figures.counts.failed() - wrong)]);
        row
    });
    [titles.collect()].into_iter().chain(rows).collect()
}
