//! The tables of a report: every format that people read shows the same rows in the same words.

use std::collections::BTreeMap;

use crate::{
    figures::{LabelFigures, histogram::PERCENTILES, outcome::Outcome},
    report::{phrases::in_no_figure, workers},
    results::{
        compare::{Change, RunComparison},
        summary::{RunSummary, RunVerdict},
    },
    scenarios::scenarios as all_scenarios,
    text::{latency, number, rate, share},
};

/// What a cell says of the run, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Bad,
    Odd,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// A table with a title. The first cell of a row is its name.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Sentences below it.
    pub(super) notes: Vec<String>,
}

/// A cell of no colour.
pub(super) fn plain(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone: Tone::Plain }
}

fn toned(tone: Tone, text: &str) -> Cell {
    Cell { text: text.to_owned(), tone }
}

fn table<const N: usize>(title: &str, columns: [&str; N], rows: impl Iterator<Item = [Cell; N]>) -> Table {
    Table {
        title: title.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.map(Vec::from).collect(),
        notes: Vec::new(),
    }
}

/// Why requests got no good answer; of the causes, so many at most.
pub(super) fn failures(summary: &RunSummary, most: usize) -> Table {
    let counts = summary.figures.total(None).counts;
    let outcomes = counts.without_answer().map(|(outcome, times)| {
        [plain(outcome.description()), plain(number(times)), plain(share(times, counts.all()))]
    });
    let causes = summary.figures.failures.iter().take(most);
    let causes = causes.map(|(cause, times)| [plain(cause), plain(number(*times)), plain("")]);
    table("Without a good answer", ["why", "requests", "share"], outcomes.chain(causes))
}

/// What each threshold observed; nothing of a target that could not be tested.
pub(super) fn thresholds(summary: &RunSummary) -> Table {
    let judged = summary.thresholds.iter().filter(|_| summary.verdict != RunVerdict::CouldNotTest);
    let rows = judged.map(|judged| {
        let note = if judged.by_default { " (default)" } else { "" };
        let met = if judged.met { toned(Tone::Good, "met") } else { toned(Tone::Bad, "missed") };
        [plain(judged.threshold.for_people() + note), plain(&judged.observed), met]
    });
    table("Thresholds", ["threshold", "observed", "result"], rows)
}

/// The comparison with an earlier run.
pub(super) fn compared(comparison: &RunComparison) -> Table {
    let rows = comparison.rows.iter().map(|row| {
        let tone = match row.direction {
            Change::Worse => Tone::Bad,
            Change::Better => Tone::Good,
            Change::Same => Tone::Plain,
            Change::Unclear => Tone::Odd,
        };
        let change = toned(tone, row.direction.word());
        [plain(&row.name), plain(&row.before), plain(&row.after), change, plain(&row.note)]
    });
    let title = format!("Compared with {}", comparison.before);
    table(&title, ["figure", "before", "now", "change", "difference"], rows)
}

/// The figures of each scenario or step, and of all of them if there are several; below, what is in no figure and what the load generators
/// used.
pub(super) fn scenarios(summary: &RunSummary) -> Table {
    let total = summary.figures.total(None);
    let (unsent, nothing) = (unsent_steps(summary), LabelFigures::default());
    let labels = summary.figures.labels.iter().map(|(label, figures)| (label.as_str(), figures));
    let labels: BTreeMap<_, _> = labels.chain(unsent.keys().map(|label| (*label, &nothing))).collect();
    let all = (labels.len() > 1).then_some(("all", &total));
    let rows = labels.into_iter().chain(all).map(|(label, figures)| {
        let wrong = figures.counts.of(Outcome::Wrong);
        let answers = rate(figures.rate(summary.seconds));
        let mut row = vec![plain(label), plain(number(figures.counts.all())), plain(answers)];
        row.extend(PERCENTILES.map(|percent| plain(latency(figures.latency.percentile(percent)))));
        row.push(plain(latency(figures.latency.max())));
        row.push(toned(if wrong > 0 { Tone::Bad } else { Tone::Plain }, &number(wrong)));
        row.push(plain(number(figures.counts.failed() - wrong)));
        row
    });
    let titles = ["scenario", "requests", "rate"].into_iter().map(str::to_owned);
    let titles = titles.chain(PERCENTILES.map(|percent| format!("p{percent}")));
    let mut notes: Vec<String> = unsent.values().cloned().collect();
    notes.extend(in_no_figure(summary));
    notes.extend(workers::generators(&summary.generators, total.counts.all()));
    notes.extend(summary.left_out.iter().map(|cause| format!("left out: {cause}")));
    Table {
        title: "Scenarios".to_owned(),
        columns: titles.chain(["max", "wrong", "failed"].map(str::to_owned)).collect(),
        rows: rows.collect(),
        notes,
    }
}

/// The steps of journeys that were never sent because of the answers to the step before, each with what these were.
fn unsent_steps(summary: &RunSummary) -> BTreeMap<&'static str, String> {
    let labels = &summary.figures.labels;
    let steps = all_scenarios().flat_map(|scenario| scenario.labels.windows(2));
    let unsent = steps.filter(|pair| !labels.contains_key(pair[1])).filter_map(|pair| {
        let counts = labels.get(pair[0])?.counts;
        let good = counts.of(Outcome::Good);
        let tokenless = summary.figures.unfinished.min(good);
        let failed = Outcome::all().skip(1).map(|outcome| (counts.of(outcome), outcome.description()));
        let causes = failed.chain([(tokenless, "without a token")]).filter(|(times, _)| *times > 0);
        let causes: Vec<String> = causes.map(|(times, what)| format!("{what}: {}", number(times))).collect();
        let why = format!("no usable answer to {} ({})", pair[0], causes.join(", "));
        // After a good answer with a token, the run ended first.
        (good <= tokenless && !causes.is_empty())
            .then(|| (pair[1], format!("{} was never sent: {why}", pair[1])))
    });
    unsent.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn a_step_that_wrong_answers_kept_from_being_sent_has_a_row_and_a_reason() {
        let mut summary = fixtures::failed();
        let sponsor = summary.figures.labels.remove("journey/sponsor").unwrap();
        let quote = "journey/quote";
        let good = summary.figures.labels[quote].counts.of(Outcome::Good);
        // Good answers that had a token: the run ended before the step.
        assert_eq!(scenarios(&summary).notes, Vec::<String>::new());
        summary.figures.unfinished = good;
        let table = scenarios(&summary);
        let names: Vec<&str> = table.rows.iter().map(|row| &*row[0].text).collect();
        assert_eq!(names, [quote, "journey/sponsor", "quote-erc20", "all"]);
        let cells: Vec<&str> = table.rows[1].iter().map(|cell| &*cell.text).collect();
        assert_eq!((cells[1], cells[2], cells[3], cells.last()), ("0", "0.0/s", "-", Some(&"0")));
        let reason = format!(
            "journey/sponsor was never sent: no usable answer to {quote} (wrong answers: 13, timeouts: 3, without a token: {})",
            number(good)
        );
        assert_eq!(table.notes[0], reason);
        summary.figures.labels.insert("journey/sponsor".to_owned(), sponsor);
        assert_eq!(scenarios(&summary).notes, Vec::<String>::new());
        assert_eq!(scenarios(&fixtures::passed()).rows.len(), 4);
    }

    #[test]
    fn the_row_of_an_error_rate_says_what_it_counts() {
        let table = thresholds(&fixtures::failed());
        let names: Vec<&str> = table.rows.iter().map(|row| &*row[0].text).collect();
        assert_eq!(
            names,
            ["p95<200ms", "wrong-rate<=0% (default)", "error-rate (wrong or failed) <1% (default)"]
        );
    }
}
