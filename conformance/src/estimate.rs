//! How long a run takes at a limited rate, and what fits into its time limit.

use std::{fmt, time::Duration};

/// How long a run takes at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The time between two requests.
    pub interval: Duration,
    /// The approximate number of requests.
    pub requests: u64,
    /// The approximate duration.
    pub takes: Duration,
    /// The budget of the run.
    pub time_limit: Duration,
    /// Whether the budget ends the run in its depth; every rule is exercised.
    pub shortened: bool,
    /// Whether even the requests that exercise every rule take longer than the time limit leaves.
    pub too_long: bool,
    /// A time limit that is long enough for what does not fit; none where all fits, or where it would be more than a day.
    pub enough: Option<Duration>,
    /// Why this estimate replaces an earlier one; none for the first.
    pub revised: Option<&'static str>,
}

impl Estimate {
    /// Requests a second.
    pub fn rate(&self) -> f64 {
        self.interval.as_secs_f64().recip()
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.revised {
            write!(f, "new estimate, because {reason}: ")?;
        }
        let (rate, requests, takes) = (short(self.rate()), self.requests, span(self.takes));
        let limit = span(self.time_limit);
        write!(f, "at {rate} requests a second, about {requests} requests take about {takes}")?;
        if self.too_long {
            write!(f, ", and those that exercise every rule take longer than the time limit of {limit}")?;
        } else if self.shortened {
            write!(f, ": this run takes at most {limit}, every rule first, then depth")?;
        }
        match self.enough {
            Some(enough) if self.too_long => write!(f, ": --time-limit {} fits", argument(enough)),
            Some(enough) => write!(f, "; --time-limit {} has the whole depth", argument(enough)),
            None if self.too_long => f.write_str(": a higher rate is needed"),
            None => Ok(()),
        }
    }
}

/// Whole minutes, or tens of seconds where it is less than a minute.
pub(crate) fn rounded_up(time: Duration) -> Duration {
    let step = if time.as_secs() < 60 { 10 } else { 60 };
    Duration::from_secs((time.as_secs() + 1).next_multiple_of(step))
}

/// A duration in the form that the command line accepts.
fn argument(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// `45 s`, `7 min`, `2 h 5 min`.
fn span(time: Duration) -> String {
    let (seconds, minutes) = (time.as_secs(), (time.as_secs() + 30) / 60);
    match minutes {
        _ if seconds < 120 => format!("{} s", time.as_secs_f64().round()),
        0..120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// A rate with its significant digits.
fn short(rate: f64) -> String {
    let digits = match rate {
        10.0.. => return format!("{rate:.0}"),
        1.0.. => 1,
        _ => 3,
    };
    let text = format!("{rate:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(5);

    #[test]
    fn estimates_in_words() {
        let estimate = |millis, too_long, enough| Estimate {
            interval: Duration::from_millis(millis),
            requests: 4_000,
            takes: Duration::from_millis(4_000 * millis),
            time_limit: LIMIT,
            shortened: enough > 0,
            too_long,
            enough: Some(Duration::from_secs(enough)).filter(|_| enough > 0),
            revised: None,
        };
        for (estimate, words) in [
            (estimate(10, false, 0), "at 100 requests a second, about 4000 requests take about 40 s"),
            (
                estimate(105, false, 480),
                "at 9.5 requests a second, about 4000 requests take about 7 min: this run takes at most 5 min, every rule first, \
                 then depth; --time-limit 8m has the whole depth",
            ),
            (
                estimate(2_000, true, 9_000),
                "at 0.5 requests a second, about 4000 requests take about 2 h 13 min, and those that exercise every rule take \
                 longer than the time limit of 5 min: --time-limit 150m fits",
            ),
        ] {
            assert_eq!(estimate.to_string(), words);
        }
        assert_eq!(argument(rounded_up(Duration::from_millis(8_200))), "10s");
        assert_eq!(argument(rounded_up(Duration::from_mins(1))), "2m");
    }
}
