//! The tables and lists of a report: every format that people read shows the same rows in the same words.

use std::collections::BTreeMap;

use paymaster_settings::output::{Block, Style, Table, Text, cut};

use crate::figures::{GeneratorUsage, LabelFigures, Outcome, PERCENTILES};
use crate::number::float;
use crate::report::phrases::{in_no_figure, load};
use crate::report::plot::ends;
use crate::results::{Change, RunComparison, RunSummary, RunVerdict};
use crate::scenarios::scenarios as all_scenarios;
use crate::text::{count, latency, number, rate, share};

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

/// Why requests failed; of the causes, so many at most.
pub(super) fn failures(summary: &RunSummary, most: usize) -> Block {
    let counts = summary.figures.total(None).counts;
    let outcomes = counts.failures().map(|(outcome, times)| {
        vec![outcome.description().into(), number(times).into(), share(times, counts.all()).into()]
    });
    let causes = summary.figures.failures.iter().take(most);
    let causes = causes.map(|(cause, times)| {
        vec![Text::quoted(cut(cause, LONGEST_CAUSE)), number(*times).into(), "".into()]
    });
    let title = ("failures", "Failed requests".to_owned());
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
        vec![name, before, after, Text::of(style, row.direction.into_str()), note]
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
        row.push(number(figures.counts.failed()).into());
        row
    });
    let columns = ["scenario", "requests", "rate"].into_iter().map(str::to_owned);
    let columns = columns.chain(PERCENTILES.map(|percent| format!("p{percent}")));
    let mut notes = vec![load(summary)];
    notes.extend(unsent.into_values());
    notes.extend(in_no_figure(summary));
    notes.extend(generators(&summary.generators, total.counts.all()));
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
        let others = Outcome::all().skip(1).map(|outcome| (counts.of(outcome), outcome.description()));
        let causes = others.chain([(tokenless, "without a token")]).filter(|(times, _)| *times > 0);
        let causes: Vec<String> = causes.map(|(times, what)| format!("{what}: {}", number(times))).collect();
        let why = format!("no usable answer to {} ({})", pair[0], causes.join(", "));
        // After a good answer with a token, the run ended first.
        (good <= tokenless && !causes.is_empty())
            .then(|| (pair[1], format!("{} was never sent: {why}", pair[1])))
    });
    unsent.collect()
}

/// Most workers that are shown. The JSON report has all of them.
const WORKERS: usize = 20;
/// With more load generators than this, their CPU use is one line.
const GENERATORS: usize = 4;

/// One line for each worker: its name, and its share of users and requests. Empty for a run of one machine.
pub(super) fn workers(summary: &RunSummary) -> Vec<String> {
    let all = summary.figures.total(None).counts.all();
    // Lost ones first: they are what a reader must see.
    let workers = summary.workers.iter();
    let (complete, lost): (Vec<_>, Vec<_>) = workers.partition(|worker| worker.state().is_none());
    let mut lines: Vec<String> = lost
        .into_iter()
        .chain(complete)
        .take(WORKERS)
        .map(|worker| {
            let index = worker.index.map_or_else(String::new, |index| format!(" (index {index})"));
            let state = worker.state().map(|state| format!(", {state}"));
            format!(
                "{}{index}: {}, {} ({}){}",
                worker.name,
                count(worker.users as u64, "user"),
                count(worker.requests, "request"),
                share(worker.requests, all),
                state.unwrap_or_default()
            )
        })
        .collect();
    let more = summary.workers.len().saturating_sub(WORKERS) as u64;
    lines.extend((more > 0).then(|| format!("{} more: see the JSON report", number(more))));
    lines
}

/// The CPU use of the load generators, which sent so many requests: a line each, or one for many.
fn generators(all: &[GeneratorUsage], requests: u64) -> Vec<String> {
    if all.len() > GENERATORS {
        let (least, most) = ends(all.iter().filter_map(|generator| Some(generator.cpu_share? * 100.0)));
        let used = format!("load generators used {least:.0} to {most:.0} % of their cores");
        return Vec::from_iter(least.is_finite().then(|| format!("{} {used}", number(all.len() as u64))));
    }
    let known = all
        .iter()
        .filter_map(|generator| Some((generator.cpu_share?, generator.cpu_seconds?, generator.cores)));
    let lines = known.map(|(share, cpu, cores)| {
        let each = cpu * 1e6 / float(requests.max(1));
        format!("the generator used {:.0} % of {cores} cores, {each:.1} us a request", share * 100.0)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::fixtures, results::WorkerShare};

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

    #[test]
    fn every_worker_is_named_with_its_share_and_lost_ones_come_first() {
        let mut summary = fixtures::passed();
        assert!(workers(&summary).is_empty());
        let worker = |index: u64, complete: bool| WorkerShare {
            index: Some(index),
            users: 5,
            requests: 250,
            complete,
            ..WorkerShare::missing(&format!("host_{index}"))
        };
        summary.workers = (0..30).map(|index| worker(index, index != 25)).collect();
        let shown = workers(&summary);
        assert_eq!(shown.len(), WORKERS + 1);
        assert!(
            shown[0].starts_with("host_25 (index 25): 5 users, 250 requests (25")
                && shown[0].ends_with(", lost"),
            "{shown:?}"
        );
        assert!(shown[WORKERS].starts_with("10 more"), "{shown:?}");
    }

    #[test]
    fn many_generators_are_one_line() {
        let generator = |share: f64| GeneratorUsage { cpu_share: Some(share), ..GeneratorUsage::default() };
        let one = GeneratorUsage { cpu_seconds: Some(2.0), cores: 4, ..generator(0.5) };
        assert_eq!(generators(&[one], 1_000), ["the generator used 50 % of 4 cores, 2000.0 us a request"]);
        let many: Vec<_> = [0.1, 0.2, 0.3, 0.4, 0.5].into_iter().map(generator).collect();
        assert_eq!(generators(&many, 1), ["5 load generators used 10 to 50 % of their cores"]);
    }
}
