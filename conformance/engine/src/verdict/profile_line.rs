//! Which line of the profile makes inconclusive rules conclusive.

use std::{cmp::Reverse, fmt, ptr};

use crate::{
    knowledge::Knowledge,
    rules::{Advice, Rule},
    verdict::summary::RuleOutcome,
};

/// A line of the profile that inconclusive rules wait for.
pub struct MissingLine {
    /// The table of the profile that it belongs to, as `[operations]`; empty for a line before the first table.
    pub table: &'static str,
    /// What it says about the target.
    pub meaning: &'static str,
    /// What to do, where several rules wait for it.
    pub advice: &'static str,
    /// The line as it stands in the file. Parts between `<` and `>` are to be replaced.
    pub text: fn(&dyn Knowledge) -> String,
    /// The line that the same rules wait for once this one is known.
    pub then: Option<&'static MissingLine>,
}

impl PartialEq for MissingLine {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl fmt::Debug for MissingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.meaning)
    }
}

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

/// The line that a rule waits for; none where no line of the profile helps.
pub fn missing_line(rule: &Rule, knowledge: &dyn Knowledge) -> Option<&'static MissingLine> {
    let Advice::Write(own) = rule.advice else {
        return None;
    };
    match (rule.waits_first.unwrap_or(own), own.then) {
        (first, _) if !knowledge.knows(first) => Some(first),
        (_, Some(then)) if knowledge.knows(own) => Some(then).filter(|then| !knowledge.knows(then)),
        _ => Some(own),
    }
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
