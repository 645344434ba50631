//! Lines of the profile that rules wait for.

use std::{fmt, ptr};

use super::{Advice, Rule};
use crate::knowledge::Knowledge;

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

/// The line that a rule waits for; none where no line of the profile helps.
pub fn missing_line(rule: &Rule, knowledge: &dyn Knowledge) -> Option<&'static MissingLine> {
    let Advice::Write(own) = rule.advice else { return None };
    match (rule.waits_first.unwrap_or(own), own.then) {
        (first, _) if !knowledge.knows(first) => Some(first),
        (_, Some(then)) if knowledge.knows(own) => Some(then).filter(|then| !knowledge.knows(then)),
        _ => Some(own),
    }
}
