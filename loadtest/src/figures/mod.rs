//! What a run counts: outcomes, latencies by scenario, what happened when, wrong answers with an example each. Everything can be
//! added up, whether it comes from another thread or from another machine.

mod arrivals;
pub mod histogram;
pub mod outcome;
pub mod series;
mod stored;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

pub use arrivals::Arrivals;
use histogram::Latencies;
use outcome::{Counts, Outcome};
use series::Series;

/// How many kinds of trouble and of wrong answers are kept apart; the rest counts as `other`.
const KINDS: usize = 64;

/// What one scenario, or one step of it, did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelFigures {
    /// How its requests ended.
    pub counts: Counts,
    /// How many of its answers were judged.
    pub judged: u64,
    /// Latencies of what the service answered, timeouts included.
    pub latency: Latencies,
}

impl LabelFigures {
    /// Answers a second, in a run of that length: requests without an answer are no throughput.
    pub fn rate(&self, seconds: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 answers")]
        let answers = self.counts.answered() as f64;
        if seconds > 0.0 { answers / seconds } else { 0.0 }
    }

    /// Takes in other figures.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.judged += other.judged;
        self.latency.merge(&other.latency);
    }
}

/// What makes two wrong answers the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WrongKey {
    /// The rule that the answer breaks.
    pub rule: String,
    /// The scenario or step.
    pub label: String,
    /// Where in the answer, array indices as `*`.
    pub pointer: String,
}

/// An answer that breaks a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// What had to be there.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// The request body.
    pub request: String,
    /// The HTTP status of the answer.
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    pub response: String,
}

/// Wrong answers of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// What they have in common.
    pub key: WrongKey,
    /// How many there were.
    pub times: u64,
    /// The first of them.
    pub example: Example,
}

/// Everything that is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// By scenario or step.
    pub labels: BTreeMap<String, LabelFigures>,
    /// By time.
    pub series: Series,
    /// Wrong answers, by kind.
    pub wrong: BTreeMap<WrongKey, (u64, Example)>,
    /// What went wrong without an answer, in words.
    pub trouble: BTreeMap<String, u64>,
    /// JSON-RPC error codes of lawful errors, errors that were asked for included.
    pub error_codes: BTreeMap<String, u64>,
    /// How the requests of the warm-up ended; they are in no other figure.
    pub warm_up: Counts,
    /// Journeys that could not go on, as a quote offered no token.
    pub unfinished: u64,
    /// Arrivals of the open model.
    pub arrivals: Arrivals,
}

/// One exchange, as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The scenario or step.
    pub label: &'a str,
    /// When it was meant to start, after the first measured moment; none in the warm-up.
    pub at: Option<Duration>,
    /// From then to the last byte.
    pub latency: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its answer was judged.
    pub judged: bool,
}

impl Figures {
    /// Takes in an exchange.
    pub fn record(&mut self, sample: &Sample<'_>) {
        let Some(at) = sample.at else {
            return self.warm_up.add(sample.outcome);
        };
        if !self.labels.contains_key(sample.label) {
            self.labels
                .insert(sample.label.to_owned(), LabelFigures::default());
        }
        if let Some(label) = self.labels.get_mut(sample.label) {
            label.counts.add(sample.outcome);
            label.judged += u64::from(sample.judged);
            if sample.outcome.is_timed() {
                label.latency.record(sample.latency);
            }
        }
        self.series.record(at, sample.outcome, sample.latency);
    }

    /// Takes in a wrong answer; the example is only made for the first of its kind.
    pub fn wrong(&mut self, key: WrongKey, example: impl FnOnce() -> Example) {
        if let Some((times, _)) = self.wrong.get_mut(&key) {
            *times += 1;
        } else if self.wrong.len() < KINDS {
            self.wrong.insert(key, (1, example()));
        } else {
            let other = WrongKey {
                rule: key.rule,
                label: "other".to_owned(),
                pointer: String::new(),
            };
            self.wrong.entry(other).or_insert_with(|| (0, example())).0 += 1;
        }
    }

    /// Takes in some trouble.
    pub fn trouble(&mut self, words: String) {
        count(&mut self.trouble, words, 1);
    }

    /// Takes in the code of an error.
    pub fn error_code(&mut self, code: String) {
        count(&mut self.error_codes, code, 1);
    }

    /// Takes in other figures.
    pub fn merge(&mut self, other: &Self) {
        for (label, figures) in &other.labels {
            self.labels.entry(label.clone()).or_default().merge(figures);
        }
        self.series.merge(&other.series);
        for (key, (times, example)) in &other.wrong {
            self.wrong
                .entry(key.clone())
                .or_insert_with(|| (0, example.clone()))
                .0 += times;
        }
        for (words, times) in &other.trouble {
            count(&mut self.trouble, words.clone(), *times);
        }
        for (code, times) in &other.error_codes {
            count(&mut self.error_codes, code.clone(), *times);
        }
        self.warm_up.merge(&other.warm_up);
        self.unfinished += other.unfinished;
        self.arrivals.merge(&other.arrivals);
    }

    /// All scenarios together, or those of one name: a scenario's name stands for its steps too.
    pub fn total(&self, scope: Option<&str>) -> LabelFigures {
        let mut total = LabelFigures::default();
        for (label, figures) in &self.labels {
            let inside = scope.is_none_or(|scope| {
                label == scope
                    || label
                        .strip_prefix(scope)
                        .is_some_and(|rest| rest.starts_with('/'))
            });
            if inside {
                total.merge(figures);
            }
        }
        total
    }
}

fn count(kinds: &mut BTreeMap<String, u64>, words: String, times: u64) {
    if kinds.len() >= KINDS && !kinds.contains_key(&words) {
        *kinds.entry("other".to_owned()).or_default() += times;
    } else {
        *kinds.entry(words).or_default() += times;
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
    fn kinds_are_bounded_and_none_is_lost() {
        let mut figures = Figures::default();
        for n in 0..200 {
            figures.trouble(format!("trouble {n}"));
            figures.wrong(
                WrongKey {
                    rule: "r".to_owned(),
                    label: format!("{n}"),
                    pointer: String::new(),
                },
                || Example {
                    expected: String::new(),
                    actual: String::new(),
                    request: String::new(),
                    status: None,
                    response: String::new(),
                },
            );
        }
        assert_eq!(figures.trouble.values().sum::<u64>(), 200);
        assert!(figures.trouble.len() <= KINDS + 1);
        assert_eq!(figures.wrong.values().map(|(times, _)| times).sum::<u64>(), 200);
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let (mut whole, mut left, mut right) = (Figures::default(), Figures::default(), Figures::default());
        for n in 0..40 {
            let outcome = Outcome::ALL[n % Outcome::ALL.len()];
            let of = sample(if n % 3 == 0 { "a" } else { "b" }, Some(n as u64), outcome);
            whole.record(&of);
            (if n % 2 == 0 { &mut left } else { &mut right }).record(&of);
        }
        left.merge(&right);
        assert_eq!(left, whole);
    }
}
