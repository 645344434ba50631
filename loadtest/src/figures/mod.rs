//! What a run counts: outcomes and latencies by scenario and by second, and wrong answers with an example each. Figures of several
//! threads or machines can be merged.

mod arrivals;
mod cpu;
mod histogram;
mod outcome;
mod series;

pub use {arrivals::*, cpu::*, histogram::*, outcome::*, series::*};

use std::{collections::BTreeMap, time::Duration};

use paymaster_engine::json::encloses;
use serde::{Deserialize, Serialize};

use crate::number::per_second;

/// How many different failures, error codes and kinds of wrong answers are counted separately. The rest counts as `other`.
const DISTINCT: usize = 64;
/// The name under which the rest is counted.
const OTHER: &str = "other";

/// The figures of one scenario, or of one step of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelFigures {
    /// How its requests ended.
    pub counts: OutcomeCounts,
    /// How many of its answers were judged.
    pub judged: u64,
    /// Latencies of answers and timeouts.
    pub latency: LatencyHistogram,
}

impl LabelFigures {
    /// Answers per second in a run of this many seconds. Requests without an answer do not count.
    pub fn rate(&self, seconds: f64) -> f64 {
        per_second(self.counts.answered(), seconds)
    }

    fn record(&mut self, sample: &Sample<'_>) {
        self.counts.add(sample.outcome);
        self.judged += u64::from(sample.judged);
        if sample.outcome.is_timed() {
            self.latency.record(sample.latency);
        }
    }

    /// Adds other figures.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.judged += other.judged;
        self.latency.merge(&other.latency);
    }
}

/// What wrong answers of one kind have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WrongKey {
    /// The rule that the answer breaks.
    pub rule: String,
    /// The scenario or step.
    pub label: String,
    /// The JSON pointer into the answer, with `*` for array indices.
    pub pointer: String,
}

/// Bytes of request and response bodies that are kept with a wrong answer. Longer ones are cut.
pub const LONGEST_BODY: usize = 4_096;

/// An answer that breaks a rule, and its request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The value that the rule requires.
    pub expected: String,
    /// The value of the answer.
    pub actual: String,
    /// The request body.
    pub request: String,
    /// The HTTP status of the answer.
    pub status: Option<u16>,
    /// The body of the answer.
    pub response: String,
    /// The JSON pointer to the value in this answer; empty for the whole answer.
    pub pointer: String,
}

/// Wrong answers of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongAnswers {
    /// What they have in common.
    pub key: WrongKey,
    /// How many answers of this kind there were.
    pub times: u64,
    /// The first answer of this kind.
    pub example: Example,
}

/// Everything that a run counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Figures by scenario or step.
    pub labels: BTreeMap<String, LabelFigures>,
    /// Figures by second.
    pub series: TimeSeries,
    /// Wrong answers, by kind. An answer that breaks several rules is in several kinds.
    pub wrong: Vec<WrongAnswers>,
    /// Why requests got no JSON-RPC answer: a description, and how many requests.
    #[serde(rename = "trouble")]
    pub failures: BTreeMap<String, u64>,
    /// JSON-RPC error codes of answers that break no rule, expected errors included.
    pub error_codes: BTreeMap<String, u64>,
    /// Outcomes of the warm-up. Its requests are in no other figure.
    pub warm_up: OutcomeCounts,
    /// Journeys that ended after the quote because it offered no token.
    pub unfinished: u64,
    /// Arrivals of the open model.
    pub arrivals: ArrivalCounts,
}

/// What is counted of one exchange.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The scenario or step.
    pub label: &'a str,
    /// The intended start, relative to the end of the warm-up; `None` in the warm-up.
    pub at: Option<Duration>,
    /// Time from the intended start to the last byte.
    pub latency: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its answer was judged.
    pub judged: bool,
}

impl Figures {
    /// Counts an exchange.
    pub fn record(&mut self, sample: &Sample<'_>) {
        let Some(at) = sample.at else { return self.warm_up.add(sample.outcome) };
        match self.labels.get_mut(sample.label) {
            Some(label) => label.record(sample),
            None => self.labels.entry(sample.label.to_owned()).or_default().record(sample),
        }
        self.series.record(at, sample.outcome, sample.latency);
    }

    /// Counts a wrong answer. `example` is called for the first answer of its kind only.
    pub fn add_wrong(&mut self, key: WrongKey, example: impl FnOnce() -> Example) {
        let is_known = self.wrong.iter().any(|wrong| wrong.key == key);
        let key = if is_known || self.wrong.len() < DISTINCT {
            key
        } else {
            WrongKey { rule: key.rule, label: OTHER.to_owned(), pointer: String::new() }
        };
        self.merge_wrong(key, 1, example);
    }

    fn merge_wrong(&mut self, key: WrongKey, times: u64, example: impl FnOnce() -> Example) {
        if let Some(known) = self.wrong.iter_mut().find(|wrong| wrong.key == key) {
            known.times += times;
        } else {
            let example = example();
            self.wrong.push(WrongAnswers { key, times, example });
        }
    }

    /// Adds other figures.
    pub fn merge(&mut self, other: &Self) {
        for (label, figures) in &other.labels {
            self.labels.entry(label.clone()).or_default().merge(figures);
        }
        self.series.merge(&other.series);
        for wrong in &other.wrong {
            self.merge_wrong(wrong.key.clone(), wrong.times, || wrong.example.clone());
        }
        for (own, more) in
            [(&mut self.failures, &other.failures), (&mut self.error_codes, &other.error_codes)]
        {
            for (name, times) in more {
                count(own, name.clone(), *times);
            }
        }
        self.warm_up.merge(&other.warm_up);
        self.unfinished += other.unfinished;
        self.arrivals.merge(&other.arrivals);
    }

    /// The sum over all labels, or over one scenario with its steps, or over one step.
    pub fn total(&self, scope: Option<&str>) -> LabelFigures {
        let mut total = LabelFigures::default();
        for (label, figures) in &self.labels {
            if scope.is_none_or(|scope| encloses(scope, label)) {
                total.merge(figures);
            }
        }
        total
    }
}

/// Adds to the count of a failure or of an error code.
pub fn count(counts: &mut BTreeMap<String, u64>, name: String, times: u64) {
    if counts.len() >= DISTINCT && !counts.contains_key(&name) {
        *counts.entry(OTHER.to_owned()).or_default() += times;
    } else {
        *counts.entry(name).or_default() += times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(label: &str, at: Option<u64>, outcome: Outcome) -> Sample<'_> {
        Sample {
            label,
            at: at.map(Duration::from_secs),
            latency: Duration::from_millis(2),
            outcome,
            judged: true,
        }
    }

    #[test]
    fn the_warm_up_is_in_no_other_figure() {
        let mut figures = Figures::default();
        figures.record(&sample("a", None, Outcome::Wrong));
        assert_eq!(figures.warm_up.all(), 1);
        assert_eq!(figures.total(None), LabelFigures::default());
        assert!(figures.series.slots.is_empty());
    }

    #[test]
    fn a_scope_is_a_scenario_with_its_steps() {
        let mut figures = Figures::default();
        for label in ["journey/quote", "journey/sponsor", "journey2", "quote"] {
            figures.record(&sample(label, Some(0), Outcome::Good));
        }
        assert_eq!(figures.total(Some("journey")).counts.all(), 2);
        assert_eq!(figures.total(Some("journey/quote")).counts.all(), 1);
        assert_eq!(figures.total(None).counts.all(), 4);
        assert_eq!(figures.total(Some("nothing")).counts.all(), 0);
    }

    #[test]
    fn distinct_names_are_bounded_and_no_count_is_lost() {
        let mut figures = Figures::default();
        for n in 0..200 {
            count(&mut figures.failures, format!("failure {n}"), 1);
            figures.add_wrong(
                WrongKey { rule: "r".to_owned(), label: format!("{n}"), pointer: String::new() },
                Example::default,
            );
        }
        assert_eq!(figures.failures.values().sum::<u64>(), 200);
        assert!(figures.failures.len() <= DISTINCT + 1);
        assert_eq!(figures.wrong.iter().map(|wrong| wrong.times).sum::<u64>(), 200);
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let (mut whole, mut left, mut right) = (Figures::default(), Figures::default(), Figures::default());
        for n in 0..40 {
            let outcome = Outcome::all().nth(n % 7).unwrap();
            let of = sample(if n % 3 == 0 { "a" } else { "b" }, Some(n as u64), outcome);
            whole.record(&of);
            (if n % 2 == 0 { &mut left } else { &mut right }).record(&of);
        }
        left.merge(&right);
        assert_eq!(left, whole);
    }
}
