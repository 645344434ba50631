//! The summary of a finished run and its verdict: the input of every report, of `merge` and of `compare`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{threshold::ThresholdResult, workers::WorkerShare};
use crate::figures::{Figures, arrivals::ArrivalCounts, cpu::GeneratorUsage};

/// The member `format` of a report that this version writes and reads.
const FORMAT: &str = "paymaster-loadtest/2";

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunVerdict {
    /// Every threshold was met.
    Passed,
    /// A threshold was missed.
    Failed,
    /// The target could not be tested.
    CouldNotTest,
    /// No threshold was missed, but the run was cut short.
    Incomplete,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// Each user sends its next request after the previous answer.
    #[default]
    Closed,
    /// Requests arrive by a schedule, independent of answers.
    Open,
}

impl ModelName {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

/// How a run makes requests arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadModel {
    /// Closed or open.
    pub name: ModelName,
    /// Most users at a time, each with its own connection.
    pub users: usize,
    /// Open model: the requested arrivals per second, as a number or in steps (`500,30s;500,300s`). Closed model: the limit of the
    /// profile in requests per second, if there is one.
    pub rate: Option<String>,
    /// Open model: whether arrivals are at random (a Poisson process) instead of at regular distances.
    #[serde(default)]
    pub poisson: bool,
    /// Open model: arrivals of the schedule in the measured time.
    pub arrivals_asked: Option<u64>,
    /// Users over time, as a test plan of goose.
    pub plan: String,
}

/// A finished run. In JSON, the members of `figures` stand beside the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// The name and version of the report format.
    pub format: String,
    /// The verdict.
    pub verdict: RunVerdict,
    /// When the run began, in seconds since 1970 (UTC).
    pub began: u64,
    /// The command line that made the report, without secrets; empty in reports of earlier versions.
    #[serde(default)]
    pub command: String,
    /// For a merged report: the command lines of the runs, each once.
    #[serde(default)]
    pub merged_commands: Vec<String>,
    /// The URL of the target, with secrets redacted.
    pub target: String,
    /// The names of the scenarios that were sent.
    pub scenarios: Vec<String>,
    /// Scenarios of the mix that could not be sent, each with the reason.
    pub left_out: Vec<String>,
    /// The seed of the requests.
    pub seed: u64,
    /// How requests arrived.
    pub model: LoadModel,
    /// The measured time in seconds, without the warm-up: until the end of the run, or until the last answer if that is later.
    pub seconds: f64,
    /// The share of answers to be judged, from 0 to 1.
    pub judge_share: f64,
    /// Why the run ended early; `None` if it did not.
    pub cut_short: Option<String>,
    /// Whether the target stopped answering before the end.
    pub stopped_answering: bool,
    /// The results of the thresholds.
    pub thresholds: Vec<ThresholdResult>,
    /// What was counted.
    #[serde(skip)]
    pub figures: Figures,
    /// CPU use of the load generators: one entry for each merged run.
    pub generators: Vec<GeneratorUsage>,
    /// The workers of a distributed run; empty for a run of one machine.
    #[serde(default)]
    pub workers: Vec<WorkerShare>,
}

/// A rate of the open model that was not reached, in arrivals per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateShortfall {
    /// The requested rate.
    pub requested: f64,
    /// The reached rate.
    pub reached: f64,
}

/// A JSON report could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct SummaryError {
    /// The path of the report.
    pub path: PathBuf,
    /// Why it could not be read.
    pub cause: SummaryErrorCause,
}

/// Why a JSON report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SummaryErrorCause {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not JSON with a member `format`.
    #[error("not a report of paymaster-loadtest: {0}")]
    NotAReport(serde_json::Error),
    /// The report has another format.
    #[error("format `{0}`, and this version reads `{FORMAT}`")]
    OtherFormat(String),
    /// A member is missing or has an unexpected value.
    #[error(transparent)]
    Invalid(serde_json::Error),
}

impl RunSummary {
    /// A summary of these figures, without a verdict and without facts about the run. `length` is the measured time.
    pub fn new(mut figures: Figures, length: Duration) -> Self {
        figures
            .wrong
            .sort_by(|left, right| (right.times, &left.key).cmp(&(left.times, &right.key)));
        Self {
            format: FORMAT.to_owned(),
            verdict: RunVerdict::CouldNotTest,
            began: 0,
            command: String::new(),
            merged_commands: Vec::new(),
            target: String::new(),
            scenarios: Vec::new(),
            left_out: Vec::new(),
            seed: 0,
            model: LoadModel::default(),
            seconds: length.as_secs_f64(),
            judge_share: 1.0,
            cut_short: None,
            stopped_answering: false,
            thresholds: Vec::new(),
            figures,
            generators: Vec::new(),
            workers: Vec::new(),
        }
    }

    /// The measured time.
    pub fn length(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    /// Answers per second.
    pub fn rate(&self) -> f64 {
        self.figures.total(None).rate(self.seconds)
    }

    /// The requested and the reached rate, if the open model did not reach it.
    pub fn shortfall(&self) -> Option<RateShortfall> {
        let arrivals = &self.figures.arrivals;
        let requested = arrivals.requested_rate().filter(|_| !arrivals.is_reached())?;
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 arrivals")]
        let served = arrivals.served() as f64;
        Some(RateShortfall {
            requested,
            reached: served / self.seconds.max(arrivals.seconds),
        })
    }

    /// Sets the thresholds and the verdict that follows. A run without any answer, or whose target stopped answering, could
    /// not be tested, even if it met its thresholds.
    #[must_use]
    pub fn judged(mut self, thresholds: Vec<ThresholdResult>) -> Self {
        self.thresholds = thresholds;
        self.verdict = if self.figures.total(None).counts.answered() == 0 || self.stopped_answering {
            RunVerdict::CouldNotTest
        } else if self.thresholds.iter().any(|result| !result.met) {
            RunVerdict::Failed
        } else if self.cut_short.is_some() {
            RunVerdict::Incomplete
        } else {
            RunVerdict::Passed
        };
        self
    }

    /// Why the figures may describe the load generator more than the target.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .generators
            .iter()
            .filter_map(GeneratorUsage::warning)
            .collect();
        let share = |part: u64, of: u64| {
            #[expect(clippy::cast_precision_loss, reason = "a share of counts")]
            let share = part as f64 * 100.0 / of.max(1) as f64;
            share
        };
        let ArrivalCounts {
            due,
            unsent,
            waited,
            delayed,
            ..
        } = self.figures.arrivals;
        if share(unsent, due) > 0.0 {
            warnings.push(format!(
                "{unsent} of {due} arrivals were never sent: no connection was free; raise --users ({} now)",
                self.model.users
            ));
        }
        if share(waited, due) > 1.0 {
            warnings.push(format!(
                "{:.1} % of arrivals waited for a free connection (their latency counts from their arrival): the target was slower than the arrivals, or raise --users ({} now)",
                share(waited, due),
                self.model.users
            ));
        }
        if share(delayed, due) > 1.0 {
            warnings.push(format!(
                "{:.1} % of arrivals were sent more than 1 ms late although a connection was free: the generator was slow",
                share(delayed, due)
            ));
        }
        warnings
    }

    /// The summary as JSON: what [`Self::read`] reads.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        let mut summary = serde_json::to_value(self)?;
        if let (Value::Object(members), Value::Object(figures)) =
            (&mut summary, serde_json::to_value(&self.figures)?)
        {
            members.extend(figures);
        }
        Ok(summary)
    }

    /// Reads a JSON report from a file.
    pub fn read(path: &Path) -> Result<Self, SummaryError> {
        Self::read_file(path).map_err(|cause| SummaryError {
            path: path.to_owned(),
            cause,
        })
    }

    fn read_file(path: &Path) -> Result<Self, SummaryErrorCause> {
        #[derive(Deserialize)]
        struct FormatMember {
            format: String,
        }
        let text = fs::read_to_string(path)?;
        let FormatMember { format } = serde_json::from_str(&text).map_err(SummaryErrorCause::NotAReport)?;
        if format != FORMAT {
            return Err(SummaryErrorCause::OtherFormat(format));
        }
        let mut summary: Self = serde_json::from_str(&text).map_err(SummaryErrorCause::Invalid)?;
        // `flatten` cannot read the numbers that serde_json keeps in arbitrary precision.
        summary.figures = serde_json::from_str(&text).map_err(SummaryErrorCause::Invalid)?;
        Ok(summary)
    }
}
