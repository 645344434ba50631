//! Which line of the profile makes inconclusive rules conclusive.

use std::cmp::Reverse;

use crate::{knowledge::Knowledge, rules::MissingLine, verdict::summary::RuleOutcome};

/// A line to write into the profile, and what it is worth.
#[derive(Clone, Debug)]
pub struct ProfileLine {
    /// Which line.
    pub kind: &'static MissingLine,
    /// The line as it stands in the file. Parts between `<` and `>` are to be replaced.
    pub text: String,
    /// The ids of the inconclusive rules that wait for it.
    pub rules: Vec<&'static str>,
}

/// The missing lines that inconclusive rules wait for, the one that most rules wait for first.
pub fn by_value(rules: &[RuleOutcome], knowledge: &dyn Knowledge) -> Vec<ProfileLine> {
    let mut lines: Vec<ProfileLine> = Vec::new();
    for outcome in rules {
        let Some(kind) = outcome.waits_for else { continue };
        if let Some(line) = lines.iter_mut().find(|line| line.kind == kind) {
            line.rules.push(outcome.rule.id);
            continue;
        }
        lines.push(ProfileLine { kind, text: (kind.text)(knowledge), rules: vec![outcome.rule.id] });
    }
    // Stable: of two lines that are worth the same, the one of the first rule comes first.
    lines.sort_by_key(|line| Reverse(line.rules.len()));
    lines
}
