//! The part of the selftest's output about causes.

use std::fmt::Write as _;

use crate::{
    report::text::words::count,
    selftest::{Causes, NamedDefect},
};

/// How many causes are right, how many defects one fault gives, and every fault for which one of the two is not as it should be.
pub(super) fn text(causes: &Causes<'_>) -> String {
    let right = causes.named.iter().filter(|(_, right)| *right).count();
    let mut text = String::new();
    let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a String cannot fail");
    line("");
    line(&format!(
        "CAUSES  the first defect names the member for {right} of the {} that depend on one",
        count(causes.named.len() as u64, "fault")
    ));
    line(&format!(
        "  one fault gives {} in the median, {} at the 95th percentile, {} at most",
        count(causes.defects_at(0.5) as u64, "defect"),
        causes.defects_at(0.95),
        causes.defects_at(1.0)
    ));
    line(&format!(
        "  {} what the fault depends on",
        match causes.untrue.len() {
            1 => "1 cause contradicts".to_owned(),
            untrue => format!("{untrue} causes contradict"),
        }
    ));
    for (trial, defect) in &causes.untrue {
        line("");
        line(&format!("  {} has an untrue cause", trial.deviation.name()));
        defects([*defect], &mut line);
    }
    for (trial, _) in causes.named.iter().filter(|(_, right)| !right) {
        line("");
        line(&format!(
            "  {} depends on {}",
            trial.deviation.name(),
            trial.deviation.fault().and_then(|fault| fault.member).unwrap_or_default()
        ));
        defects(&trial.defects, &mut line);
    }
    for trial in causes.by_defects.iter().filter(|trial| trial.defects.len() > 1) {
        line("");
        line(&format!("  {} gives {}", trial.deviation.name(), count(trial.defects.len() as u64, "defect")));
        defects(&trial.defects, &mut line);
    }
    text
}

/// The headline and cause of each defect.
pub(super) fn defects<'a>(defects: impl IntoIterator<Item = &'a NamedDefect>, line: &mut impl FnMut(&str)) {
    for defect in defects {
        line(&format!("    {}", defect.headline));
        let cause = if defect.cause.is_empty() { "no cause found" } else { &defect.cause };
        line(&format!("      cause: {cause}; {}", count(defect.rules as u64, "rule")));
    }
}
