//! Thresholds: `p95<200ms`, `error-rate<1%`, `rps>=200 for quote-erc20`.
//!
//! The notation is that of goose 0.19, with more metrics; goose's own thresholds know neither wrong answers nor arrivals, and judge
//! from its coarser latencies. To add a metric: a variant of `Metric`, its line in `METRICS`, its value in `observe`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    figures::{Figures, LabelFigures, outcome::Outcome},
    report::words,
    scenarios::SCENARIOS,
};

/// What a threshold is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// A percentile of the latency, from 0 to 100.
    Percentile(f64),
    /// The mean latency.
    Average,
    /// The longest latency.
    Maximum,
    /// Answers a second: requests without an answer do not count.
    Rate,
    /// The share of requests that did not end well, in percent.
    Failed,
    /// The share of requests that ended so, in percent; of wrong answers, the share of those that were judged.
    Ended(Outcome),
}

/// Metrics with a fixed name.
const METRICS: [(&str, Metric); 10] = [
    ("avg", Metric::Average),
    ("max", Metric::Maximum),
    ("rps", Metric::Rate),
    ("error-rate", Metric::Failed),
    ("wrong-rate", Metric::Ended(Outcome::Wrong)),
    ("rpc-error-rate", Metric::Ended(Outcome::RpcError)),
    ("rate-limited-rate", Metric::Ended(Outcome::RateLimited)),
    ("refused-rate", Metric::Ended(Outcome::Refused)),
    ("transport-rate", Metric::Ended(Outcome::Transport)),
    ("timeout-rate", Metric::Ended(Outcome::Timeout)),
];

/// Thresholds that hold where the user names none of the same metric.
const DEFAULTS: [&str; 2] = ["wrong-rate<=0%", "error-rate<1%"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// The longer ones first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::MoreOrEqual),
    ("<", Operator::Less),
    (">", Operator::More),
];

impl Operator {
    fn holds(self, observed: f64, limit: f64) -> bool {
        match self {
            Self::Less => observed < limit,
            Self::LessOrEqual => observed <= limit,
            Self::More => observed > limit,
            Self::MoreOrEqual => observed >= limit,
        }
    }
}

/// What a run must keep to.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    text: String,
    metric: Metric,
    operator: Operator,
    /// Seconds, percent or answers a second.
    limit: f64,
    scope: Option<String>,
}

/// How a threshold was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The threshold as it was written.
    pub threshold: Threshold,
    /// What was observed, for people.
    pub observed: String,
    /// Whether it was kept.
    pub met: bool,
    /// Whether it holds because nobody said otherwise.
    pub by_default: bool,
}

impl Threshold {
    /// The scenario or step that it is about; none for all of them.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Judges a run of that measured length. What was never exercised is missed, not met.
    pub fn judge(&self, figures: &Figures, length: Duration, by_default: bool) -> Judged {
        let total = figures.total(self.scope());
        let observed = observe(self.metric, &total, length);
        Judged {
            threshold: self.clone(),
            observed: observed.map_or_else(
                || "nothing was measured".to_owned(),
                |value| shown(self.metric, value),
            ),
            met: observed.is_some_and(|value| self.operator.holds(value, self.limit)),
            by_default,
        }
    }
}

/// The thresholds of a run: those of the user, and the defaults that he does not replace.
pub fn judge_all(own: &[Threshold], figures: &Figures, length: Duration) -> Vec<Judged> {
    let judged = own
        .iter()
        .map(|threshold| threshold.judge(figures, length, false));
    let defaults = DEFAULTS.iter().filter_map(|text| text.parse::<Threshold>().ok());
    let open = defaults.filter(|default| {
        let replaced = |own: &Threshold| own.metric == default.metric && own.scope.is_none();
        // With no answer judged, nothing can be said of wrong ones.
        let silent = default.metric == Metric::Ended(Outcome::Wrong) && figures.total(None).judged == 0;
        !own.iter().any(replaced) && !silent
    });
    judged
        .chain(open.map(|threshold| threshold.judge(figures, length, true)))
        .collect()
}

fn observe(metric: Metric, total: &LabelFigures, length: Duration) -> Option<f64> {
    let all = total.counts.all();
    if all == 0 {
        return None;
    }
    let seconds = |latency: Option<Duration>| latency.map(|latency| latency.as_secs_f64());
    match metric {
        Metric::Percentile(percent) => seconds(total.latency.percentile(percent)),
        Metric::Average => seconds(total.latency.mean()),
        Metric::Maximum => seconds(total.latency.max()),
        Metric::Rate => (!length.is_zero()).then(|| total.rate(length.as_secs_f64())),
        Metric::Failed => Some(percent(total.counts.failed(), all)),
        Metric::Ended(Outcome::Wrong) => {
            (total.judged > 0).then(|| percent(total.counts.of(Outcome::Wrong), total.judged))
        }
        Metric::Ended(outcome) => Some(percent(total.counts.of(outcome), all)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 requests")]
fn float(count: u64) -> f64 {
    count as f64
}

fn percent(part: u64, of: u64) -> f64 {
    float(part) * 100.0 / float(of)
}

fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Percentile(_) | Metric::Average | Metric::Maximum => {
            words::duration(Duration::try_from_secs_f64(value).unwrap_or_default())
        }
        Metric::Rate => format!("{value:.1}/s"),
        Metric::Failed | Metric::Ended(_) => words::percent(value),
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |why: String| format!("threshold `{text}`: {why}");
        let (rule, scope) = match text.split_once(" for ") {
            Some((rule, scope)) => (rule, Some(scope.trim())),
            None => (text, None),
        };
        if let Some(scope) = scope
            && !SCENARIOS
                .iter()
                .any(|known| known.id == scope || known.labels.contains(&scope))
        {
            let known: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.id).collect();
            return Err(refuse(format!(
                "there is no scenario `{scope}`: {}",
                known.join(", ")
            )));
        }
        let found = OPERATORS.iter().find_map(|(sign, operator)| {
            rule.split_once(sign)
                .map(|(left, right)| (left, *operator, right))
        });
        let Some((name, operator, value)) = found else {
            return Err(refuse("it is written METRIC<VALUE, as p95<200ms".to_owned()));
        };
        let metric = read_metric(name.trim()).map_err(refuse)?;
        let limit = read_limit(metric, value.trim()).map_err(refuse)?;
        if operator == Operator::Less && limit <= 0.0 {
            return Err(refuse("nothing is less than 0: it can never be met".to_owned()));
        }
        let is_share = matches!(metric, Metric::Failed | Metric::Ended(_));
        if is_share && (limit > 100.0 || operator == Operator::More && limit >= 100.0) {
            return Err(refuse("a share is at most 100 %".to_owned()));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            operator,
            limit,
            scope: scope.map(str::to_owned),
        })
    }
}

fn read_metric(name: &str) -> Result<Metric, String> {
    if let Some((_, metric)) = METRICS.iter().find(|(known, _)| *known == name) {
        return Ok(*metric);
    }
    if let Some(digits) = name.strip_prefix('p')
        && let Ok(percent) = digits.parse::<f64>()
    {
        return if percent > 0.0 && percent < 100.0 {
            Ok(Metric::Percentile(percent))
        } else {
            Err(format!(
                "`{name}`: a percentile is more than 0 and less than 100, as p95 or p99.9"
            ))
        };
    }
    let known: Vec<_> = METRICS.iter().map(|(name, _)| *name).collect();
    Err(format!(
        "there is no metric `{name}`: pNN (as p95 or p99.9), {}",
        known.join(", ")
    ))
}

fn read_limit(metric: Metric, text: &str) -> Result<f64, String> {
    let number = |digits: &str| {
        let value = digits.trim().parse::<f64>().ok();
        value.filter(|value| value.is_finite() && *value >= 0.0)
    };
    match metric {
        Metric::Percentile(_) | Metric::Average | Metric::Maximum => {
            // A bare number is milliseconds, as goose reads it.
            let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("", 1e-3)];
            let (digits, unit) = units
                .into_iter()
                .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
                .unwrap_or((text, 1e-3));
            number(digits)
                .map(|value| value * unit)
                .ok_or_else(|| format!("`{text}` is no time: write 500us, 200ms or 2s"))
        }
        Metric::Rate => number(text).ok_or_else(|| format!("`{text}` is no number of answers a second")),
        Metric::Failed | Metric::Ended(_) => number(text.strip_suffix('%').unwrap_or(text))
            .ok_or_else(|| format!("`{text}` is no share: write 1%")),
    }
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
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Every metric's name, for the help.
pub fn metrics() -> String {
    let names: Vec<_> = METRICS.iter().map(|(name, _)| *name).collect();
    format!("pNN, {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Sample;

    const SECOND: Duration = Duration::from_secs(1);

    /// 100 requests: 90 good ones of 10 ms, 4 wrong ones of 100 ms, 6 timeouts of 1 s.
    fn figures() -> Figures {
        let mut figures = Figures::default();
        for n in 0..100 {
            let (outcome, millis) = match n {
                0..90 => (Outcome::Good, 10),
                90..94 => (Outcome::Wrong, 100),
                _ => (Outcome::Timeout, 1_000),
            };
            figures.record(&Sample {
                label: if n % 2 == 0 {
                    "quote-erc20"
                } else {
                    "journey/quote"
                },
                at: Some(Duration::ZERO),
                latency: Duration::from_millis(millis),
                outcome,
                judged: outcome != Outcome::Timeout,
            });
        }
        figures
    }

    #[test]
    fn every_metric_is_observed() {
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
            // Six of the hundred got no answer.
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
            ("rps>4 for journey/quote", true),
        ] {
            let threshold: Threshold = text.parse().unwrap();
            let judged = threshold.judge(&figures(), SECOND * 10, false);
            assert_eq!(judged.met, met, "{text}: {}", judged.observed);
        }
    }

    #[test]
    fn what_was_never_exercised_is_missed() {
        for text in [
            "p95<1h for errors",
            "p95<9s for errors",
            "error-rate<=100% for sponsor-erc20",
        ] {
            if let Ok(threshold) = text.parse::<Threshold>() {
                let judged = threshold.judge(&figures(), SECOND, false);
                assert!(!judged.met);
                assert_eq!(judged.observed, "nothing was measured");
            }
        }
    }

    #[test]
    fn defaults_hold_until_they_are_replaced() {
        let missed = |own: &[&str]| -> Vec<String> {
            let own: Vec<Threshold> = own.iter().map(|text| text.parse().unwrap()).collect();
            let judged = judge_all(&own, &figures(), SECOND);
            judged
                .iter()
                .filter(|judged| !judged.met)
                .map(|judged| judged.threshold.to_string())
                .collect()
        };
        assert_eq!(missed(&[]), ["wrong-rate<=0%", "error-rate<1%"]);
        assert_eq!(missed(&["wrong-rate<5%"]), ["error-rate<1%"]);
        assert_eq!(missed(&["wrong-rate<5%", "error-rate<11%"]), Vec::<String>::new());
        // A threshold for one scenario replaces none for all.
        assert_eq!(
            missed(&["wrong-rate<5% for quote-erc20", "error-rate<11%"]),
            ["wrong-rate<=0%"]
        );
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (text, word) in [
            ("p95", "METRIC<VALUE"),
            ("p95=3", "METRIC<VALUE"),
            ("p100<3", "less than 100"),
            ("p0<3", "less than 100"),
            ("median<3", "no metric"),
            ("p95<3%", "no time"),
            ("p95<-3ms", "no time"),
            ("p95<0", "never"),
            ("error-rate<1ms", "no share"),
            ("error-rate<101%", "at most 100"),
            ("rps>many", "no number"),
            ("p95<3ms for nobody", "no scenario"),
        ] {
            let refusal = text.parse::<Threshold>().unwrap_err();
            assert!(refusal.contains(word) && refusal.contains(text), "{refusal}");
        }
    }
}
