//! Parts of the help that are made from tables.

use crate::{
    cli::exit,
    report,
    results::threshold,
    scenarios::{self, MIXED},
};

/// The list of scenarios.
pub(super) fn scenarios() -> String {
    let rows = scenarios::scenarios()
        .map(|scenario| format!("  {:<18} {} (weight {})", scenario.id, scenario.about, scenario.weight));
    let all = format!("  {MIXED:<18} all of them, by their weights");
    rows.chain([all]).collect::<Vec<_>>().join("\n")
}

/// The list of exit codes.
pub(super) fn exit_codes() -> String {
    paymaster_settings::exit::help_of(exit::TABLE)
}

/// The end of the long help.
pub(super) fn long() -> String {
    let formats: Vec<_> = report::FORMATS
        .iter()
        .map(|format| format!("  .{:<17} {}", format.names.endings[0], format.about))
        .collect();
    format!(
        "Scenarios:\n{}\n\nReports:\n{}\n\nMetrics of thresholds: {}.\n\nThe profile (paymaster.toml) and the variables PAYMASTER_URL, PAYMASTER_CONFIG, PAYMASTER_HEADERS, PAYMASTER_SEED and PAYMASTER_TIMEOUT are the same as for paymaster-conformance. The table [load] of the profile is for this program.\n\n{}",
        scenarios(),
        formats.join("\n"),
        threshold::metric_names(),
        exit_codes()
    )
}
