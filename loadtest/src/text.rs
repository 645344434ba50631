//! Numbers as text for people.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::number::whole;

pub use paymaster_settings::output::terminal::number;

/// A latency with three digits and a unit, for example `1.23 ms`.
pub fn duration(latency: Duration) -> String {
    let nanos = latency.as_secs_f64() * 1e9;
    let (value, unit) = match nanos {
        ..1e3 => (nanos, "ns"),
        ..1e6 => (nanos / 1e3, "us"),
        ..1e9 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// [`duration`] of a time in seconds.
pub fn time(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// [`duration`], or `-` where nothing was measured.
pub fn latency(latency: Option<Duration>) -> String {
    latency.map_or_else(|| "-".to_owned(), duration)
}

/// A rate per second, with one decimal below 100, for example `12.5/s`.
pub fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}/s") } else { format!("{}/s", number(whole(rate.round()))) }
}

/// A percentage. Only an exact 0 or 100 is shown as such.
pub fn percent(percent: f64) -> String {
    if percent > 0.0 && percent < 0.01 {
        "<0.01%".to_owned()
    } else if percent < 100.0 && percent > 99.99 {
        ">99.99%".to_owned()
    } else if percent < 1.0 || percent.fract().abs() > 1e-9 {
        format!("{percent:.2}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// A relative difference (0.05 is 5 %) in percent with its sign; no sign if it rounds to 0.
pub fn change(share: f64) -> String {
    let percent = (share * 1_000.0).round() / 10.0;
    if percent == 0.0 { "0.0 %".to_owned() } else { format!("{percent:+.1} %") }
}

/// `part` of `of`, in percent.
pub fn share(part: u64, of: u64) -> String {
    percent(crate::number::percent(part, of))
}

/// A count with its noun, in the plural unless it is 1.
pub fn count(times: u64, noun: &str) -> String {
    if times == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(times)) }
}

/// A time in seconds, for example `10 s` or `2.5 s`.
pub fn seconds(seconds: f64) -> String {
    let decimals = usize::from((seconds - seconds.round()).abs() >= 0.05);
    format!("{seconds:.decimals$} s")
}

/// A time of day with its date, for people: `2026-03-01 12:30:05 UTC`. `seconds` are those since 1970; `None` for 0, which is unknown.
pub fn date(seconds: u64) -> Option<String> {
    Some(moment(seconds)?.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// The same for programs.
pub fn moment(seconds: u64) -> Option<DateTime<Utc>> {
    let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    DateTime::from_timestamp(seconds, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_three_digits() {
        for (nanos, shown) in [
            (0, "0.00 ns"),
            (999, "999 ns"),
            (45_600, "45.6 us"),
            (1_234_000, "1.23 ms"),
            (9_996_000, "10.0 ms"),
            (450_000_000, "450 ms"),
            (12_345_000_000, "12.3 s"),
        ] {
            assert_eq!(duration(Duration::from_nanos(nanos)), shown);
        }
    }

    #[test]
    fn shares_are_0_and_100_percent_only_when_exact() {
        assert_eq!(share(0, 10), "0.00%");
        assert_eq!(share(1, 1_000_000), "<0.01%");
        assert_eq!(share(999_999, 1_000_000), ">99.99%");
        assert_eq!(share(4, 100), "4%");
        assert_eq!(share(1, 3), "33.33%");
        assert_eq!(share(0, 0), "0.00%");
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date(1_772_366_405).as_deref(), Some("2026-03-01 12:00:05 UTC"));
        assert_eq!((date(0), moment(u64::MAX)), (None, None));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1 234 567");
        assert_eq!(count(1, "request"), "1 request");
        assert_eq!(count(2_000, "request"), "2 000 requests");
        assert_eq!(rate(99.96), "100.0/s");
        assert_eq!(rate(30_000.2), "30 000/s");
        assert_eq!(seconds(10.02), "10 s");
    }
}
