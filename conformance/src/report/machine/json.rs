//! The JSON report. Its schema is `report.schema.json` in the folder of this package.

use crate::report::model::Report;

/// The name and version of the format.
pub(crate) const FORMAT: &str = "paymaster-report/v1";

/// The report as text.
pub(crate) fn text(report: &Report) -> String {
    // Names and texts can always be written as JSON.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
