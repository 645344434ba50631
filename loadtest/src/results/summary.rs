//! The summary of a finished run and its verdict: the input of every report, of `merge` and of `compare`.

use std::{error::Error, path::Path, time::Duration};

use paymaster_client::files;
use paymaster_settings::output::CurlCommand;
use paymaster_settings::{EMBEDDED_WARNING, exit};
use serde::{Deserialize, Serialize};

use super::{Threshold, ThresholdResult, WorkerShare, judge_all};
use crate::figures::{ArrivalCounts, Figures, GeneratorUsage};
use crate::number::percent;

/// The member `format` of a report that this version writes and reads.
const FORMAT: &str = "paymaster-loadtest/2";

/// How a run ends. Its number is the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum RunVerdict {
    /// Every threshold was met.
    Passed = exit::CONFORMS,
    /// A threshold was missed.
    Failed = exit::VIOLATIONS,
    /// The target could not be tested.
    #[default]
    CouldNotTest = exit::COULD_NOT_TEST,
    /// No threshold was missed because of the target, but the run was cut short, or the generator did not reach the requested rate.
    Incomplete = exit::INCOMPLETE,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum ModelName {
    /// Each user sends its next request after the previous answer.
    #[default]
    Closed,
    /// Requests arrive by a schedule, independent of answers.
    Open,
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
    pub poisson: bool,
    /// Open model: arrivals of the schedule in the measured time.
    pub arrivals_asked: Option<u64>,
    /// Users over time, as a test plan of goose.
    pub plan: String,
}

/// What discovery cost: the requests before a load that find out what the target supports. They are in no figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiscoveryCost {
    pub requests: u64,
    /// Its time in seconds.
    pub seconds: f64,
}

/// A finished run. In JSON, the members of `figures` stand beside the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunSummary {
    /// The name and version of the report format.
    pub format: String,
    pub verdict: RunVerdict,
    /// When the run began, in seconds since 1970 (UTC).
    pub began: u64,
    /// The command line that made the report, without secrets.
    pub command: String,
    /// For a merged report: the command lines of the runs, each once.
    pub merged_commands: Vec<String>,
    /// The URL of the target, with secrets redacted.
    pub target: String,
    /// What sends a request to the target again.
    pub curl: CurlCommand,
    /// Whether the target is the embedded reference server, so that the report is about no other service.
    pub embedded: bool,
    /// The names of the scenarios that were sent.
    pub scenarios: Vec<String>,
    /// Scenarios of the mix that could not be sent, each with the reason.
    pub left_out: Vec<String>,
    /// The seed of the requests.
    pub seed: u64,
    /// How requests arrived.
    pub model: LoadModel,
    /// The measured time in seconds, without the warm-up: until the end of the run, or until the last answer if that is later or if the
    /// target stopped answering. Rates are counts divided by it.
    pub seconds: f64,
    /// The share of answers to be judged, from 0 to 1.
    pub judge_share: f64,
    /// Why the run ended early, or why its load did not begin; `None` if neither.
    pub cut_short: Option<String>,
    /// Whether the target stopped answering before the end.
    pub stopped_answering: bool,
    pub thresholds: Vec<ThresholdResult>,
    /// What discovery sent before the load; nothing in a merged report.
    pub discovery: DiscoveryCost,
    /// CPU use of the load generators: one entry for each merged run.
    pub generators: Vec<GeneratorUsage>,
    /// The workers of a distributed run; empty for a run of one machine.
    pub workers: Vec<WorkerShare>,
    /// What was counted. [`Self::read`] reads it apart: `flatten` cannot read the numbers that serde_json keeps in arbitrary precision.
    #[serde(flatten, skip_deserializing)]
    pub figures: Figures,
}

/// A rate of the open model that was not reached, in arrivals per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateShortfall {
    pub requested: f64,
    pub reached: f64,
    /// Whether the load generator was slow, and not the target.
    pub by_generator: bool,
}

impl RunSummary {
    /// A summary of these figures, without a verdict and without facts about the run. `length` is the measured time.
    pub fn new(figures: Figures, length: Duration) -> Self {
        Self { judge_share: 1.0, ..Self::default() }.with_figures(figures, length)
    }

    /// The same facts about a run with these figures. `length` is the measured time.
    #[must_use]
    pub fn with_figures(self, mut figures: Figures, length: Duration) -> Self {
        figures.wrong.sort_by(|left, right| (right.times, &left.key).cmp(&(left.times, &right.key)));
        Self { format: FORMAT.to_owned(), seconds: length.as_secs_f64(), figures, ..self }
    }

    /// Whether the load began: discovery found out what the target serves.
    pub fn has_begun(&self) -> bool {
        !self.scenarios.is_empty()
    }

    /// The measured time.
    pub fn length(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    /// Answers per second.
    pub fn rate(&self) -> f64 {
        self.figures.total(None).rate(self.seconds)
    }

    /// The requested and the reached rate, if the open model did not reach it. `None` for a run that was interrupted too, because the
    /// arrivals in progress were dropped.
    pub fn shortfall(&self) -> Option<RateShortfall> {
        let arrivals = &self.figures.arrivals;
        let is_whole = self.cut_short.is_none() || self.stopped_answering;
        Some(RateShortfall {
            requested: arrivals.requested_rate().filter(|_| is_whole && !arrivals.is_reached())?,
            reached: arrivals.reached_rate()?,
            by_generator: self.is_generator_slow(),
        })
    }

    /// Whether the load generator was slow: by its CPU use, or because it began arrivals late.
    fn is_generator_slow(&self) -> bool {
        self.figures.arrivals.is_generator_slow()
            || self.generators.iter().any(|usage| usage.warning().is_some())
    }

    /// The same run, judged by these thresholds and the defaults that they do not replace.
    #[must_use]
    pub fn judged_by(self, thresholds: &[Threshold]) -> Self {
        let results = judge_all(thresholds, &self.figures, self.length());
        self.judged(results)
    }

    /// Sets the thresholds and the verdict that follows. A run without any answer, or whose target stopped answering, could
    /// not be tested, even if it met its thresholds. A rate that was not reached because of the generator or an interrupt says
    /// nothing about the target: the run is incomplete.
    #[must_use]
    pub fn judged(mut self, thresholds: Vec<ThresholdResult>) -> Self {
        let not_the_target = self.cut_short.is_some() || self.is_generator_slow();
        self.thresholds = thresholds;
        let mut missed = self.thresholds.iter().filter(|result| !result.met);
        self.verdict = if self.figures.total(None).counts.answered() == 0 || self.stopped_answering {
            RunVerdict::CouldNotTest
        } else if missed.any(|result| !not_the_target || !result.threshold.limits_arrivals()) {
            RunVerdict::Failed
        } else if self.cut_short.is_some() || self.thresholds.iter().any(|result| !result.met) {
            RunVerdict::Incomplete
        } else {
            RunVerdict::Passed
        };
        self
    }

    /// Why the figures may describe the load generator, or the embedded server, more than a service of the user.
    pub fn warnings(&self) -> Vec<String> {
        let embedded = self.embedded.then(|| EMBEDDED_WARNING.to_owned());
        let generators = self.generators.iter().filter_map(GeneratorUsage::warning);
        let mut warnings: Vec<String> = embedded.into_iter().chain(generators).collect();
        let ArrivalCounts { due, unsent, waited, delayed, .. } = self.figures.arrivals;
        let raise = format!("raise --users ({} now)", self.model.users);
        if unsent > 0 {
            let why = "no connection was free";
            warnings.push(format!("{unsent} of {due} arrivals were never sent: {why}; {raise}"));
        }
        let busy = format!(
            "waited for a free connection (their latency counts from their arrival): the target was slower than the arrivals, or {raise}"
        );
        let slow = "were sent more than 1 ms late although a connection was free: the generator was slow";
        let parts = [(percent(waited, due), &*busy), (percent(delayed, due), slow)];
        let many = parts.into_iter().filter(|(percent, _)| *percent > 1.0);
        warnings.extend(many.map(|(percent, what)| format!("{percent:.1} % of arrivals {what}")));
        warnings
    }

    /// Reads a JSON report from a file. The error names its path.
    pub fn read(path: &Path) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::read_file(path).map_err(|cause| format!("{}: {cause}", path.display()).into())
    }

    fn read_file(path: &Path) -> Result<Self, Box<dyn Error + Send + Sync>> {
        #[derive(Deserialize)]
        struct FormatMember {
            format: String,
        }
        let text = files::read_text(path, files::WRITTEN_BY_A_RUN)?;
        let not_a_report = |cause| format!("not a report of paymaster-loadtest: {cause}");
        let FormatMember { format } = serde_json::from_str(&text).map_err(not_a_report)?;
        if format != FORMAT {
            return Err(format!("format `{format}`, and this version reads `{FORMAT}`").into());
        }
        let summary: Self = serde_json::from_str(&text)?;
        Ok(Self { figures: serde_json::from_str(&text)?, ..summary })
    }
}
