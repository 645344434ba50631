//! Reports for machines: JSON, JUnit, SARIF, HAR and the event log.
//! The schema of the JSON report is `report.schema.json` in the folder of this package.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;

use crate::report::Report;

pub(crate) mod github;
pub(crate) mod har;
pub(crate) mod junit;
pub(crate) mod ndjson;
pub(crate) mod profile_place;
pub(crate) mod sarif;

/// The name and version of the format.
pub(crate) const FORMAT: &str = "paymaster-report/v1";

/// The report as text.
pub(crate) fn json(report: &Report) -> String {
    // Names and texts can always be written as JSON.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// A time, such as `2026-01-31T12:00:00.000Z`.
pub(crate) fn moment(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Milliseconds with three decimals, as a JSON number.
pub(crate) fn milliseconds(time: Duration) -> Value {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let text = format!("{}.{:03}", micros / 1000, micros % 1000);
    // This text is always a JSON number.
    serde_json::from_str(&text).unwrap_or_default()
}
