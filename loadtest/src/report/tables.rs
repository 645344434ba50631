//! The tables of a report: every format that people read shows the same rows in the same words.

use std::collections::BTreeMap;

use paymaster_settings::output::{
    document::{Block, Style, Table, Text},
    terminal::cut,
};

use crate::{
    figures::{LabelFigures, histogram::PERCENTILES, outcome::Outcome},
    report::{
        phrases::{in_no_figure, load},
        workers,
    },
    results::{
        compare::{Change, RunComparison},
        summary::{RunSummary, RunVerdict},
    },
    scenarios::scenarios as all_scenarios,
    text::{latency, number, rate, share},
};

/// A table below its title, and sentences below it; nothing without rows.
fn table(
    (id, title): (&'static str, String),
    columns: impl IntoIterator<Item = impl Into<String>>,
    rows: impl Iterator<Item = Vec<Text>>,
    notes: Vec<String>,
) -> Block {
    let (rows, columns) = (rows.collect(), columns.into_iter().map(Into::into).collect());
    let table = Table { title: title.clone(), columns, rows, has_numbers: true, ..Table::default() };
    let notes = notes.into_iter().map(Block::paragraph);
    Block::section(id, title, [Block::Table(table)].into_iter().chain(notes).collect())
}

/// Longest cause that is shown, in characters.
const LONGEST_CAUSE: usize = 80;

/// Why requests got no good answer; of the causes, so many at most.
pub(super) fn failures(summary: &RunSummary, most: usize) -> Block {
    let counts = summary.figures.total(None).counts;
    let outcomes = counts.without_answer().map(|(outcome, times)| {
        vec![outcome.description().into(), number(times).into(), share(times, counts.all()).into()]
    });
    let causes = summary.figures.failures.iter().take(most);
    let causes = causes.map(|(cause, times)| {
        vec![Text::quoted(cut(cause, LONGEST_CAUSE)), number(*times).into(), "".into()]
    });
    let title = ("failures", "Without a good answer".to_owned());
    table(title, ["why", "requests", "share"], outcomes.chain(causes), Vec::new())
}

/// What each threshold observed; nothing of a target that could not be tested.
pub(super) fn thresholds(summary: &RunSummary) -> Block {
    let judged = summary.thresholds.iter().filter(|_| summary.verdict != RunVerdict::CouldNotTest);
    let rows = judged.map(|judged| {
        let note = if judged.by_default { " (default)" } else { "" };
        let met = if judged.met { Text::of(Style::Good, "met") } else { Text::of(Style::Bad, "missed") };
        vec![(judged.threshold.for_people() + note).into(), (&judged.observed).into(), met]
    });
    table(("thresholds", "Thresholds".to_owned()), ["threshold", "observed", "result"], rows, Vec::new())
}

/// The comparison with an earlier run.
pub(super) fn compared(comparison: &RunComparison) -> Block {
    let rows = comparison.rows.iter().map(|row| {
        let style = match row.direction {
            Change::Worse => Style::Bad,
            Change::Better => Style::Good,
            Change::Same => Style::Plain,
            Change::Unclear => Style::Odd,
        };
        let [name, before, after, note] = [&row.name, &row.before, &row.after, &row.note].map(Text::from);
        vec![name, before, after, Text::of(style, row.direction.word()), note]
    });
    let title = ("compared", format!("Compared with {}", comparison.before));
    table(title, ["figure", "before", "now", "change", "difference"], rows, Vec::new())
}

/// The figures of each scenario or step, and of all of them if there are several; below, the load, what is in no figure and what the load
/// generators used.
pub(super) fn scenarios(summary: &RunSummary) -> Block {
    let total = summary.figures.total(None);
    let (unsent, nothing) = (unsent_steps(summary), LabelFigures::default());
    let labels = summary.figures.labels.iter().map(|(label, figures)| (label.as_str(), figures));
    let labels: BTreeMap<_, _> = labels.chain(unsent.keys().map(|label| (*label, &nothing))).collect();
    let all = (labels.len() > 1).then_some(("all", &total));
    let rows = labels.into_iter().chain(all).map(|(label, figures)| {
        let wrong = figures.counts.of(Outcome::Wrong);
        let answers = rate(figures.rate(summary.seconds));
        let mut row = vec![Text::from(label), number(figures.counts.all()).into(), answers.into()];
        row.extend(PERCENTILES.map(|percent| latency(figures.latency.percentile(percent)).into()));
        row.push(latency(figures.latency.max()).into());
        row.push(Text::of(if wrong > 0 { Style::Bad } else { Style::Plain }, number(wrong)));
        row.push(number(figures.counts.failed() - wrong).into());
        row
    });
    let columns = ["scenario", "requests", "rate"].into_iter().map(str::to_owned);
    let columns = columns.chain(PERCENTILES.map(|percent| format!("p{percent}")));
    let mut notes = vec![load(summary)];
    notes.extend(unsent.into_values());
    notes.extend(in_no_figure(summary));
    notes.extend(workers::generators(&summary.generators, total.counts.all()));
    notes.extend(summary.left_out.iter().map(|cause| format!("left out: {cause}")));
    let columns = columns.chain(["max", "wrong", "failed"].map(str::to_owned));
    table(("scenarios", "Scenarios".to_owned()), columns, rows, notes)
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

    /// The rows of a table, and the sentences below it.
    fn parts(section: Block) -> (Vec<Vec<String>>, Vec<String>) {
        let Block::Section { blocks, .. } = section else { panic!("{section:?}") };
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        for block in blocks {
            match block {
                Block::Table(table) => rows = table.rows,
                Block::Paragraph(note) => notes.push(note.to_string()),
                _ => {}
            }
        }
        (rows.iter().map(|row| row.iter().map(Text::to_string).collect()).collect(), notes)
    }

    #[test]
    fn a_step_that_wrong_answers_kept_from_being_sent_has_a_row_and_a_reason() {
        let mut summary = fixtures::failed();
        let sponsor = summary.figures.labels.remove("journey/sponsor").unwrap();
        let quote = "journey/quote";
        let good = summary.figures.labels[quote].counts.of(Outcome::Good);
        // Good answers that had a token: the run ended before the step.
        assert_eq!(parts(scenarios(&summary)).1, [load(&summary)]);
        summary.figures.unfinished = good;
        let (rows, notes) = parts(scenarios(&summary));
        let names: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
        assert_eq!(names, [quote, "journey/sponsor", "quote-erc20", "all"]);
        let cells: Vec<&str> = rows[1].iter().map(String::as_str).collect();
        assert_eq!((cells[1], cells[2], cells[3], cells.last()), ("0", "0.0/s", "-", Some(&"0")));
        let reason = format!(
            "journey/sponsor was never sent: no usable answer to {quote} (wrong answers: 13, timeouts: 3, without a token: {})",
            number(good)
        );
        assert_eq!(notes[1], reason);
        summary.figures.labels.insert("journey/sponsor".to_owned(), sponsor);
        assert_eq!(parts(scenarios(&summary)).1, [load(&summary)]);
        assert_eq!(parts(scenarios(&fixtures::passed())).0.len(), 4);
    }

    #[test]
    fn the_row_of_an_error_rate_says_what_it_counts() {
        let (rows, _) = parts(thresholds(&fixtures::failed()));
        let names: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
        assert_eq!(
            names,
            ["p95<200ms", "wrong-rate<=0% (default)", "error-rate (wrong or failed) <1% (default)"]
        );
    }
}
