//! A run that is over, and its verdict: what every report reads, and what is read back for `merge` and `compare`.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    engine::vitals::Generator,
    figures::{Arrivals, Figures, LabelFigures, Wrong, outcome::Counts, series::Series},
    threshold::Judged,
};

/// What stands in `format` of a report that this version reads.
const FORMAT: &str = "paymaster-loadtest/2";

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every threshold was met.
    Passed,
    /// A threshold was missed.
    Failed,
    /// The target could not be tested.
    CouldNotTest,
    /// Nothing failed, but the run was cut short.
    Incomplete,
}

/// How requests were made to arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `closed`, or `open`.
    pub name: String,
    /// Most users, each with a connection of its own.
    pub users: usize,
    /// Arrivals a second that were asked for, in the open model; more than one where the rate changes.
    pub rate: Option<String>,
    /// Arrivals that the schedule has for the measured time.
    pub arrivals_asked: Option<u64>,
    /// Users and times, in goose's notation.
    pub plan: String,
}

/// A run that is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// What this is, and in which version.
    pub format: String,
    /// The verdict.
    pub verdict: Verdict,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// The target, secrets replaced.
    pub target: String,
    /// The scenarios that were sent.
    pub scenarios: Vec<String>,
    /// Scenarios of the mix that could not be sent, and why.
    pub left_out: Vec<String>,
    /// The seed of the requests.
    pub seed: u64,
    /// How requests were made to arrive.
    pub model: Model,
    /// The measured time in seconds, warm-up not included: until the run ended or, if that was later, its last answer came.
    pub seconds: f64,
    /// The share of answers that were to be judged, from 0 to 1.
    pub judge_share: f64,
    /// Why the run ended before its time.
    pub cut_short: Option<String>,
    /// Whether the target stopped answering before the end.
    pub stopped_answering: bool,
    /// Thresholds.
    pub thresholds: Vec<Judged>,
    /// By scenario or step.
    pub labels: BTreeMap<String, LabelFigures>,
    /// By time.
    pub series: Series,
    /// Wrong answers.
    pub wrong: Vec<Wrong>,
    /// What went wrong without an answer, in words.
    pub trouble: BTreeMap<String, u64>,
    /// JSON-RPC error codes of lawful errors, those included that were asked for.
    pub error_codes: BTreeMap<String, u64>,
    /// How the requests of the warm-up ended.
    pub warm_up: Counts,
    /// Journeys that could not go on, as a quote offered no token.
    pub unfinished: u64,
    /// Arrivals of the open model.
    pub arrivals: Arrivals,
    /// What the generator took of its machine; one for each run that was merged.
    pub generators: Vec<Generator>,
}

/// A report could not be read.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Summary {
    /// A summary of figures, without a verdict so far.
    pub fn of(figures: Figures, length: Duration) -> Self {
        let wrong = figures.wrong.into_iter();
        let mut wrong: Vec<_> = wrong
            .map(|(key, (times, example))| Wrong { key, times, example })
            .collect();
        wrong.sort_by(|left, right| {
            right
                .times
                .cmp(&left.times)
                .then_with(|| left.key.cmp(&right.key))
        });
        Self {
            format: FORMAT.to_owned(),
            verdict: Verdict::CouldNotTest,
            began: 0,
            target: String::new(),
            scenarios: Vec::new(),
            left_out: Vec::new(),
            seed: 0,
            model: Model::default(),
            seconds: length.as_secs_f64(),
            judge_share: 1.0,
            cut_short: None,
            stopped_answering: false,
            thresholds: Vec::new(),
            labels: figures.labels,
            series: figures.series,
            wrong,
            trouble: figures.trouble,
            error_codes: figures.error_codes,
            warm_up: figures.warm_up,
            unfinished: figures.unfinished,
            arrivals: figures.arrivals,
            generators: Vec::new(),
        }
    }

    /// The figures again, to judge or to add up.
    pub fn figures(&self) -> Figures {
        Figures {
            labels: self.labels.clone(),
            series: self.series.clone(),
            wrong: self
                .wrong
                .iter()
                .map(|wrong| (wrong.key.clone(), (wrong.times, wrong.example.clone())))
                .collect(),
            trouble: self.trouble.clone(),
            error_codes: self.error_codes.clone(),
            warm_up: self.warm_up,
            unfinished: self.unfinished,
            arrivals: self.arrivals,
        }
    }

    /// All scenarios together.
    pub fn total(&self) -> LabelFigures {
        let mut total = LabelFigures::default();
        for figures in self.labels.values() {
            total.merge(figures);
        }
        total
    }

    /// The measured time.
    pub fn length(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    /// Answers a second.
    pub fn rate(&self) -> f64 {
        self.total().rate(self.seconds)
    }

    /// The asked and the reached rate of the open model, in arrivals a second, where the asked one was not reached.
    pub fn shortfall(&self) -> Option<(f64, f64)> {
        let asked = self.arrivals.asked().filter(|_| !self.arrivals.is_reached())?;
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 arrivals")]
        let served = self.arrivals.served() as f64;
        Some((asked, served / self.seconds.max(self.arrivals.seconds)))
    }

    /// The verdict that follows from figures and thresholds. A run without any answer is no test, whatever its thresholds, nor is
    /// one whose target stopped answering.
    #[must_use]
    pub fn judged(mut self, thresholds: Vec<Judged>) -> Self {
        self.thresholds = thresholds;
        self.verdict = if self.total().counts.answered() == 0 || self.stopped_answering {
            Verdict::CouldNotTest
        } else if self.thresholds.iter().any(|judged| !judged.met) {
            Verdict::Failed
        } else if self.cut_short.is_some() {
            Verdict::Incomplete
        } else {
            Verdict::Passed
        };
        self
    }

    /// Why the figures may say more of the generator than of the target.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.generators.iter().filter_map(Generator::warning).collect();
        let share = |part: u64, of: u64| {
            #[expect(clippy::cast_precision_loss, reason = "a share of counts")]
            let share = part as f64 * 100.0 / of.max(1) as f64;
            share
        };
        let Arrivals {
            due,
            unsent,
            waited,
            delayed,
            ..
        } = self.arrivals;
        if share(unsent, due) > 0.0 {
            warnings.push(format!(
                "{unsent} of {due} arrivals were never sent: no connection was free; raise --users ({} now)",
                self.model.users
            ));
        }
        if share(waited, due) > 1.0 {
            warnings.push(format!(
                "{:.1} % of arrivals waited for a free connection (their latency counts from their arrival): the target was slower than they came, or raise --users ({} now)",
                share(waited, due),
                self.model.users
            ));
        }
        if share(delayed, due) > 1.0 {
            warnings.push(format!(
                "{:.1} % of arrivals left more than 1 ms late although a connection was free: the generator was slow",
                share(delayed, due)
            ));
        }
        warnings
    }

    /// Reads a JSON report.
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        let place = |cause: &dyn fmt::Display| Unreadable(format!("{}: {cause}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|cause| place(&cause))?;
        let format: Format = serde_json::from_str(&text)
            .map_err(|cause| place(&format!("no report of paymaster-loadtest: {cause}")))?;
        if format.format != FORMAT {
            return Err(place(&format!(
                "format `{}`, and this version reads `{FORMAT}`",
                format.format
            )));
        }
        serde_json::from_str(&text).map_err(|cause| place(&cause))
    }
}

#[derive(Deserialize)]
struct Format {
    format: String,
}
