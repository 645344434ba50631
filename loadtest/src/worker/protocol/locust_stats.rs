//! What Locust's own tables show of a run: differences of our figures since the last report.
//!
//! A row has the name of a scenario or of its step, and the method `RPC`. Times are rounded to two significant digits, as every worker
//! of Locust rounds them, but below 100 ms also to fractions of a ms. A row of the failures table is a broken rule with the fixed
//! sentence of its clause, or a class of failures; it has no values of answers, because each value would be a row of its own.

use paymaster_settings::specifications::find_rule;
use std::collections::BTreeMap;

use super::{Stats, StatsEntry, StatsError};
use crate::figures::{Figures, LabelFigures};
use crate::number::{float, whole};

/// The method of every row.
const METHOD: &str = "RPC";
/// The name of the sum of all rows.
const TOTAL: &str = "Aggregated";

/// Requests and failures of each label, and of all of them under [`TOTAL`], until a second.
type Counts = BTreeMap<String, (u64, u64)>;

/// Computes the differences for one run.
#[derive(Debug, Default)]
pub(crate) struct LocustStats {
    reported: Figures,
    sampled: Counts,
    /// Requests and failures by label and second since the last report.
    seconds: BTreeMap<String, BTreeMap<u64, (u64, u64)>>,
    /// When the last report was made, in seconds since 1970.
    last: f64,
}

impl LocustStats {
    /// For a run that began at this time, in seconds since 1970.
    pub(crate) fn new(began: f64) -> Self {
        Self { last: began, ..Self::default() }
    }

    /// Notes the requests of the last second. `counts` has requests and failures of each label so far.
    pub(crate) fn sample(&mut self, mut counts: Counts, now: f64) {
        let sum = counts.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        counts.insert(TOTAL.to_owned(), sum);
        for (label, (all, failed)) in &counts {
            let before = self.sampled.get(label).copied().unwrap_or_default();
            let more = (all - before.0.min(*all), failed - before.1.min(*failed));
            if more.0 > 0 {
                let second = self.seconds.entry(label.clone()).or_default();
                let second = second.entry(whole(now)).or_default();
                *second = (second.0 + more.0, second.1 + more.1);
            }
        }
        self.sampled = counts;
    }

    /// What happened since the last call, without the users and the exact figures.
    pub(crate) fn next(&mut self, figures: &Figures, began: f64, now: f64) -> Stats {
        let counts = figures.labels.iter();
        let counts =
            counts.map(|(label, of)| (label.clone(), (of.counts.all(), of.counts.wrong_or_failed())));
        self.sample(counts.collect(), now);
        let nothing = LabelFigures::default();
        let [all, all_before] = [figures, &self.reported].map(|figures| figures.total(None));
        let before = |label| self.reported.labels.get(label).unwrap_or(&nothing);
        let labels = figures.labels.iter().map(|(label, of)| (label.as_str(), of, before(label)));
        let mut stats = Vec::new();
        for (label, of, before) in labels.chain([(TOTAL, &all, &all_before)]) {
            let mut entry = entry(label, of, before, began, now);
            for (second, (all, failed)) in self.seconds.remove(label).unwrap_or_default() {
                entry.num_reqs_per_sec.insert(second, all);
                if failed > 0 {
                    entry.num_fail_per_sec.insert(second, failed);
                }
            }
            stats.push(entry);
        }
        let total = StatsEntry { method: "", ..stats.pop().unwrap_or_default() };
        stats.retain(|entry| entry.num_requests > 0);
        let errors = errors(figures, &self.reported, self.last, now);
        self.reported = figures.clone();
        self.last = now;
        Stats { stats, stats_total: total, errors, ..Stats::default() }
    }
}

fn entry(label: &str, of: &LabelFigures, before: &LabelFigures, began: f64, now: f64) -> StatsEntry {
    let num_requests = of.counts.all() - before.counts.all();
    let times = of.latency.since(&before.latency);
    let timed: u64 = times.iter().map(|(_, count)| count).sum();
    let mut response_times = BTreeMap::new();
    let mut total_response_time = 0.0;
    for (latency, count) in &times {
        let ms = latency.as_secs_f64() * 1e3;
        total_response_time += ms * float(*count);
        *response_times.entry(rounded(ms).to_bits()).or_default() += count;
    }
    let ms =
        |place: Option<&(std::time::Duration, u64)>| place.map(|(latency, _)| latency.as_secs_f64() * 1e3);
    StatsEntry {
        name: label.to_owned(),
        method: METHOD,
        last_request_timestamp: (num_requests > 0).then_some(now),
        start_time: began,
        num_requests,
        num_none_requests: num_requests.saturating_sub(timed),
        num_failures: of.counts.wrong_or_failed() - before.counts.wrong_or_failed(),
        total_response_time,
        max_response_time: ms(times.last()).unwrap_or_default(),
        min_response_time: ms(times.first()),
        response_times,
        ..StatsEntry::default()
    }
}

/// Broken rules and failed requests by label: how often each happened until now.
fn failures(figures: &Figures) -> BTreeMap<(String, String), u64> {
    let mut rows: BTreeMap<(String, String), u64> = BTreeMap::new();
    for wrong in &figures.wrong {
        let sentence = find_rule(&wrong.key.rule).map_or("", |rule| rule.clause().text);
        let row = (wrong.key.label.clone(), format!("wrong {}: {sentence}", wrong.key.rule));
        *rows.entry(row).or_default() += wrong.times;
    }
    for (label, of) in &figures.labels {
        for (outcome, times) in of.counts.failures() {
            rows.insert((label.clone(), format!("failed: {}", outcome.description())), times);
        }
    }
    rows
}

fn errors(figures: &Figures, before: &Figures, since: f64, now: f64) -> BTreeMap<String, StatsError> {
    let reported = failures(before);
    let more = failures(figures).into_iter().filter_map(|(row, times)| {
        let occurrences = times - reported.get(&row).copied().unwrap_or_default().min(times);
        let (name, error) = row;
        (occurrences > 0).then(|| {
            let of =
                StatsError { name, method: METHOD, error, occurrences, first_seen: since, last_seen: now };
            (format!("{METHOD}.{}.{}", of.name, of.error), of)
        })
    });
    more.collect()
}

/// A time in ms with two significant digits, at least 0.01.
fn rounded(ms: f64) -> f64 {
    let digits = 1.0 - ms.max(0.01).log10().floor();
    #[expect(clippy::cast_possible_truncation, reason = "a few digits")]
    let scale = 10_f64.powi(digits as i32);
    (ms * scale).round() / scale
}

#[cfg(test)]
mod tests;
