//! The verdict on a rule and the conclusion of a run.

use serde::{Deserialize, Serialize};

/// How strictly a run is concluded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strictness {
    /// Broken clauses that only warn fail the run.
    pub strict: bool,
    /// Stated rules may stay inconclusive.
    pub allow_incomplete: bool,
}

/// The verdict on one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Verdict {
    /// Broken, and broken again when the same bytes were sent again.
    Failed,
    /// Broken once, and not broken when the same bytes were sent again.
    Flaky,
    /// Broken only at places that the list of known failures names.
    KnownFailing,
    /// Held, although the list of known failures names it.
    UnexpectedlyPassing,
    /// Exercised less often than its quota, because of known failures alone.
    Covered,
    /// Exercised less often than its quota.
    Inconclusive,
    /// It cannot apply to this target according to the profile.
    NotApplicable,
    /// Exercised often enough, and held every time.
    Passed,
}

impl Verdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// Whether the rule is broken at a place that the list of known failures does not name.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Failed | Self::Flaky)
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every rule was selected, and every stated rule passed or does not apply.
    Conforms,
    /// Nothing was broken in what was judged: `--rule` left rules out, or `--allow-incomplete` accepts that stated rules stayed
    /// inconclusive.
    NothingBroken,
    /// A stated rule was broken, or under `--strict` one that warns.
    Violations,
    /// Nothing was broken that the list of known failures does not name, but entries of that list expired, pass or match nothing.
    ListOutOfDate,
    /// Nothing was broken, but stated rules stayed inconclusive, no request got a result, or the run was cut short.
    Incomplete,
    /// The target could not be tested.
    CouldNotTest,
}

impl Conclusion {
    /// Of each conclusion, in the order of their declaration: the name for machines, and the headline.
    const TEXTS: [[&str; 2]; 6] = [
        ["conforms", "CONFORMS"],
        ["nothing-broken", "NOTHING BROKEN"],
        ["violations", "VIOLATIONS"],
        ["list-out-of-date", "KNOWN-FAILURES LIST IS OUT OF DATE"],
        ["incomplete", "INCOMPLETE"],
        ["could-not-test", "COULD NOT TEST"],
    ];

    /// The name, for machines.
    pub const fn name(self) -> &'static str {
        Self::TEXTS[self as usize][0]
    }

    /// The words in capitals with which a report begins.
    pub const fn headline(self) -> &'static str {
        Self::TEXTS[self as usize][1]
    }
}
