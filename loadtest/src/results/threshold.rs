//! Thresholds: `p95<200ms`, `error-rate<1%`, `rps>=200 for quote-erc20`.
//!
//! The notation is that of goose 0.19, with more metrics. goose's own thresholds have no wrong answers and no arrivals, and use coarser
//! latencies. To add a metric, add a variant of `Metric`, its line in `METRICS` and its value in `observe`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figures::{Figures, Outcome};
use crate::number::percent;
use crate::scenarios::scenarios;
use crate::text;

/// What a threshold measures.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// A percentile of the latency, from 0 to 100.
    Percentile(f64),
    /// The mean latency.
    Average,
    /// The longest latency.
    Maximum,
    /// Answers per second. Requests without an answer do not count.
    Rate,
    /// Open model: the reached part of the requested rate of arrivals, in percent.
    ReachedRate,
    /// The share of requests that got a wrong answer or failed, in percent.
    WrongOrFailed,
    /// The share of requests with this outcome, in percent. The share of wrong answers is of the judged answers.
    Share(Outcome),
}

/// What the value of a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Time,
    PerSecond,
    Percent,
}

impl Metric {
    fn unit(self) -> Unit {
        match self {
            Self::Percentile(_) | Self::Average | Self::Maximum => Unit::Time,
            Self::Rate => Unit::PerSecond,
            Self::ReachedRate | Self::WrongOrFailed | Self::Share(_) => Unit::Percent,
        }
    }
}

/// The metrics that are no share of an outcome.
const METRICS: &[(&str, Metric)] = &[
    ("avg", Metric::Average),
    ("max", Metric::Maximum),
    ("rps", Metric::Rate),
    ("reached-rate", Metric::ReachedRate),
    ("error-rate", Metric::WrongOrFailed),
];

/// The metrics with a name: those of [`METRICS`], and the share of each outcome but the good one, as `wrong-rate`.
fn named() -> impl Iterator<Item = (String, Metric)> {
    let fixed = METRICS.iter().map(|(name, metric)| ((*name).to_owned(), *metric));
    let shares = Outcome::all().skip(1);
    fixed.chain(shares.map(|outcome| (format!("{}-rate", outcome.into_str()), Metric::Share(outcome))))
}

/// Thresholds that apply unless the user gives one with the same metric.
const DEFAULTS: [&str; 3] = ["wrong-rate<=0%", "error-rate<1%", "reached-rate>=95%"];

/// A run that goes on is not aborted before so many requests of a threshold's scope ended; of judged answers for the share of wrong ones.
const FEWEST_TO_ABORT: u64 = 100;

/// How a value may compare with the limit. Longer signs come first, so that `<=` is not read as `<`.
const OPERATORS: [&str; 4] = ["<=", ">=", "<", ">"];

/// A limit for a metric of a run, for example `p95<200ms for journey`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was given, with the unit of its value and without superfluous spaces.
    text: String,
    metric: Metric,
    /// How the value may compare with the limit: one of [`OPERATORS`].
    sign: &'static str,
    /// In seconds, percent or answers per second, depending on the metric.
    limit: f64,
    scope: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    pub threshold: Threshold,
    /// The measured value, as text for people.
    pub observed: String,
    pub met: bool,
    pub by_default: bool,
}

impl Threshold {
    /// The scenario or step that it applies to; `None` for all of them.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Its text, with what an error rate counts.
    pub(crate) fn for_people(&self) -> String {
        let counted = if self.metric == Metric::WrongOrFailed { " (wrong or failed) " } else { "" };
        self.text.replacen("error-rate", &format!("error-rate{counted}"), 1)
    }

    /// Whether it limits a time.
    pub fn limits_latency(&self) -> bool {
        self.metric.unit() == Unit::Time
    }

    /// Whether it limits the reached part of the requested rate.
    pub fn limits_arrivals(&self) -> bool {
        self.metric == Metric::ReachedRate
    }

    /// Whether wrong answers count for it.
    pub fn counts_wrong_answers(&self) -> bool {
        matches!(self.metric, Metric::WrongOrFailed | Metric::Share(Outcome::Wrong))
    }

    /// Judges the figures of a run. `length` is the measured time. Without a measurement the threshold is missed.
    pub fn judge(&self, figures: &Figures, length: Duration, by_default: bool) -> ThresholdResult {
        let observed = observe(self.metric, figures, self.scope(), length);
        let is_met = |value: f64| match self.sign {
            "<=" => value <= self.limit,
            ">=" => value >= self.limit,
            "<" => value < self.limit,
            _ => value > self.limit,
        };
        ThresholdResult {
            threshold: self.clone(),
            observed: observed
                .map_or_else(|| "nothing was measured".to_owned(), |value| shown(self.metric, value)),
            met: observed.is_some_and(is_met),
            by_default,
        }
    }
}

/// The first threshold that the figures of a run so far break, with its result.
pub(crate) fn first_broken(
    thresholds: &[Threshold],
    figures: &Figures,
    length: Duration,
) -> Option<ThresholdResult> {
    let decidable = thresholds.iter().filter(|threshold| {
        let total = figures.total(threshold.scope());
        let is_wrong_share = threshold.metric == Metric::Share(Outcome::Wrong);
        let ended = if is_wrong_share { total.judged } else { total.counts.all() };
        ended >= FEWEST_TO_ABORT && observe(threshold.metric, figures, threshold.scope(), length).is_some()
    });
    decidable.map(|threshold| threshold.judge(figures, length, false)).find(|result| !result.met)
}

/// Judges the thresholds of a user and the defaults that they do not replace.
pub fn judge_all(thresholds: &[Threshold], figures: &Figures, length: Duration) -> Vec<ThresholdResult> {
    let results = thresholds.iter().map(|threshold| threshold.judge(figures, length, false));
    let defaults = DEFAULTS.iter().filter_map(|text| text.parse::<Threshold>().ok());
    let applicable = defaults.filter(|default| {
        let replaces = |own: &Threshold| own.metric == default.metric && own.scope.is_none();
        let unknown = match default.metric {
            Metric::Share(Outcome::Wrong) => figures.total(None).judged == 0,
            Metric::ReachedRate => figures.arrivals.requested_rate().is_none(),
            _ => false,
        };
        !thresholds.iter().any(replaces) && !unknown
    });
    results.chain(applicable.map(|threshold| threshold.judge(figures, length, true))).collect()
}

fn observe(metric: Metric, figures: &Figures, scope: Option<&str>, length: Duration) -> Option<f64> {
    let total = figures.total(scope);
    let all = total.counts.all();
    if all == 0 {
        return None;
    }
    let seconds = |latency: Option<Duration>| latency.map(|latency| latency.as_secs_f64());
    match metric {
        Metric::Percentile(percent) => seconds(total.latency.percentile(percent)),
        Metric::Average => seconds(total.latency.mean()),
        Metric::Maximum => seconds(total.latency.max()),
        Metric::ReachedRate => figures.arrivals.reached_share().map(|share| share * 100.0),
        Metric::Rate => (!length.is_zero()).then(|| total.rate(length.as_secs_f64())),
        Metric::WrongOrFailed => Some(percent(total.counts.wrong_or_failed(), all)),
        Metric::Share(Outcome::Wrong) => {
            (total.judged > 0).then(|| percent(total.counts.of(Outcome::Wrong), total.judged))
        }
        Metric::Share(outcome) => Some(percent(total.counts.of(outcome), all)),
    }
}

fn shown(metric: Metric, value: f64) -> String {
    match metric.unit() {
        Unit::Time => text::time(value),
        Unit::PerSecond => format!("{value:.1}/s"),
        Unit::Percent => text::percent(value),
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|cause| format!("threshold `{text}`: {cause}"))
    }
}

impl Threshold {
    fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once(" for ").map(|(rule, scope)| (rule, Some(scope.trim())));
        let (rule, scope) = parts.unwrap_or((text, None));
        if let Some(scope) = scope
            && !scenarios().any(|known| known.id == scope || known.labels.contains(&scope))
        {
            let known: Vec<_> = scenarios().map(|scenario| scenario.id).collect();
            return Err(format!("there is no scenario `{scope}`: {}", known.join(", ")));
        }
        let found = OPERATORS.into_iter().find_map(|sign| {
            let (name, value) = rule.split_once(sign)?;
            Some((name.trim(), sign, value.trim()))
        });
        let (name, sign, value) = found.ok_or("write it as METRIC<VALUE, for example p95<200ms")?;
        let metric = read_metric(name)?;
        let (limit, value) = read_limit(metric.unit(), value)?;
        if sign == "<" && limit <= 0.0 {
            return Err("nothing is less than 0, so it can never be met".to_owned());
        }
        if metric == Metric::ReachedRate && scope.is_some() {
            return Err("the requested rate is that of all scenarios together: leave out `for`".to_owned());
        }
        let is_above_all = limit > 100.0 || sign == ">" && limit >= 100.0;
        if metric.unit() == Unit::Percent && is_above_all {
            return Err("a share is at most 100 %".to_owned());
        }
        let of = scope.map(|scope| format!(" for {scope}")).unwrap_or_default();
        let text = format!("{name}{sign}{value}{of}");
        Ok(Self { text, metric, sign, limit, scope: scope.map(str::to_owned) })
    }
}

fn read_metric(name: &str) -> Result<Metric, String> {
    if let Some((_, metric)) = named().find(|(known, _)| known == name) {
        return Ok(metric);
    }
    if let Some(digits) = name.strip_prefix('p')
        && let Ok(percent) = digits.parse::<f64>()
    {
        return if percent > 0.0 && percent < 100.0 {
            Ok(Metric::Percentile(percent))
        } else {
            Err(format!("`{name}`: a percentile is more than 0 and less than 100, as p95 or p99.9"))
        };
    }
    Err(format!("there is no metric `{name}`: pNN (as p95 or p99.9), {}", metric_names()))
}

/// The limit, and its text with its unit.
fn read_limit(unit: Unit, text: &str) -> Result<(f64, String), String> {
    let (default, units, what): (_, &[(&str, f64)], _) = match unit {
        // A number without a unit is in milliseconds, as in goose.
        Unit::Time => ("ms", &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)], "time: write 500us, 200ms or 2s"),
        Unit::PerSecond => ("", &[("", 1.0)], "number of answers per second"),
        Unit::Percent => ("%", &[("%", 1.0)], "share: write 1%"),
    };
    let whole = if text.parse::<f64>().is_ok() { format!("{text}{default}") } else { text.to_owned() };
    let value =
        |(sign, factor): &(&str, f64)| Some(whole.strip_suffix(sign)?.trim().parse::<f64>().ok()? * factor);
    let limit = units.iter().find_map(value).filter(|limit| limit.is_finite() && *limit >= 0.0);
    Ok((limit.ok_or_else(|| format!("`{text}` is not a {what}"))?, whole))
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The names of all metrics but the percentiles.
pub fn metric_names() -> String {
    named().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{ArrivalCounts, Sample};

    const SECOND: Duration = Duration::from_secs(1);

    /// 100 requests: 90 good answers after 10 ms, 4 wrong answers after 100 ms, 6 timeouts after 1 s.
    fn figures() -> Figures {
        let mut figures = Figures::default();
        for n in 0..100 {
            let (outcome, millis) = match n {
                0..90 => (Outcome::Good, 10),
                90..94 => (Outcome::Wrong, 100),
                _ => (Outcome::Timeout, 1_000),
            };
            figures.record(&Sample {
                label: if n % 2 == 0 { "quote-erc20" } else { "journey/quote" },
                at: Some(Duration::ZERO),
                latency: Duration::from_millis(millis),
                outcome,
                judged: outcome != Outcome::Timeout,
            });
        }
        // Of the 100 arrivals, 4 were never served.
        figures.arrivals = ArrivalCounts { due: 100, seconds: 10.0, in_time: 96, ..ArrivalCounts::default() };
        figures
    }

    #[test]
    fn every_metric_has_a_value() {
        for (name, metric) in named() {
            let measured = observe(metric, &figures(), None, SECOND * 10);
            assert!(measured.is_some_and(f64::is_finite), "{name}");
        }
    }

    #[test]
    fn thresholds_are_met_or_missed() {
        for (text, met) in [
            ("p50<11ms", true),
            ("p50<9ms", false),
            ("p50<9000us", false),
            ("p95<1.5s", true),
            ("p95<999", false),
            ("p99.99>900", true),
            ("avg<74ms", true),
            ("avg<72ms", false),
            ("max<=2s", true),
            // Six of the 100 requests got no answer.
            ("rps>=9.4", true),
            ("rps>9.4", false),
            ("error-rate<=10%", true),
            ("error-rate<10", false),
            ("wrong-rate<4.3%", true),
            ("wrong-rate<4.2%", false),
            ("timeout-rate<=6%", true),
            ("rpc-error-rate<=0%", true),
            ("rps>4 for quote-erc20", true),
            ("rps>5 for journey", false),
            ("reached-rate>=96%", true),
            ("reached-rate>96", false),
            ("rps>4 for journey/quote", true),
        ] {
            let threshold: Threshold = text.parse().unwrap();
            let judged = threshold.judge(&figures(), SECOND * 10, false);
            assert_eq!(judged.met, met, "{text}: {}", judged.observed);
        }
    }

    #[test]
    fn a_threshold_is_shown_with_its_unit() {
        for (given, shown) in [
            ("p95<200", "p95<200ms"),
            (" p95 < 1.5 s  for journey ", "p95<1.5 s for journey"),
            ("max<=500us", "max<=500us"),
            ("error-rate<1 for journey/quote", "error-rate<1% for journey/quote"),
            ("wrong-rate<=0%", "wrong-rate<=0%"),
            ("rps>=200", "rps>=200"),
        ] {
            let threshold: Threshold = given.parse().unwrap();
            assert_eq!(threshold.to_string(), shown);
            assert_eq!(shown.parse::<Threshold>(), Ok(threshold));
        }
    }

    #[test]
    fn a_threshold_without_a_measurement_is_missed() {
        for text in ["p95<9s for errors", "error-rate<=100% for sponsor-erc20"] {
            let threshold: Threshold = text.parse().unwrap();
            let result = threshold.judge(&figures(), SECOND, false);
            assert!(!result.met);
            assert_eq!(result.observed, "nothing was measured");
        }
    }

    #[test]
    fn a_run_is_aborted_for_what_enough_requests_break() {
        let first = |texts: &[&str]| {
            let thresholds: Vec<Threshold> = texts.iter().map(|text| text.parse().unwrap()).collect();
            first_broken(&thresholds, &figures(), SECOND * 10).map(|result| result.threshold.to_string())
        };
        assert_eq!(first(&["p50<11ms", "p50<9ms", "error-rate<1%"]).as_deref(), Some("p50<9ms"));
        assert_eq!(first(&["p50<11ms", "error-rate<=10%"]), None);
        // 50 requests of each scenario, 94 judged answers, and nothing measured.
        assert_eq!(first(&["p50<9ms for journey", "wrong-rate<=0%", "p95<9s for errors"]), None);
    }

    #[test]
    fn defaults_apply_until_they_are_replaced() {
        let missed = |own: &[&str]| -> Vec<String> {
            let own: Vec<Threshold> = own.iter().map(|text| text.parse().unwrap()).collect();
            let judged = judge_all(&own, &figures(), SECOND);
            judged.iter().filter(|judged| !judged.met).map(|judged| judged.threshold.to_string()).collect()
        };
        let mut slow = figures();
        slow.arrivals.last_begun = 11.0;
        let results = judge_all(&[], &slow, SECOND * 12);
        let of_rate = results.iter().find(|result| result.threshold.limits_arrivals());
        assert!(of_rate.is_some_and(|result| !result.met && result.observed == "87.27%"), "{results:?}");
        slow.arrivals = ArrivalCounts::default();
        let closed = judge_all(&[], &slow, SECOND);
        assert!(!closed.iter().any(|result| result.threshold.limits_arrivals()));
        assert_eq!(missed(&[]), ["wrong-rate<=0%", "error-rate<1%"]);
        assert_eq!(missed(&["wrong-rate<5%"]), ["error-rate<1%"]);
        assert_eq!(missed(&["wrong-rate<5%", "error-rate<11%"]), Vec::<String>::new());
        // A threshold for one scenario does not replace a default, which is for all.
        assert_eq!(missed(&["wrong-rate<5% for quote-erc20", "error-rate<11%"]), ["wrong-rate<=0%"]);
    }

    #[test]
    fn errors_say_what_to_write() {
        for (text, word) in [
            ("p95", "METRIC<VALUE"),
            ("p95=3", "METRIC<VALUE"),
            ("p100<3", "less than 100"),
            ("p0<3", "less than 100"),
            ("median<3", "no metric"),
            ("p95<3%", "not a time"),
            ("p95<-3ms", "not a time"),
            ("p95<0", "never"),
            ("error-rate<1ms", "not a share"),
            ("error-rate<101%", "at most 100"),
            ("rps>many", "not a number"),
            ("p95<3ms for nothing", "no scenario"),
            ("reached-rate>=9% for journey", "all scenarios"),
        ] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.contains(word) && error.contains(text), "{error}");
        }
    }
}
