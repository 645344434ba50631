//! A reading: a point where a specification disagrees with itself or is silent and requests or rules depend on it.
//! A reading lists the alternatives. A target may use any alternative; a profile can pin one.

/// One open point of the specification, with the alternatives and the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name; also the key under `[dialect]` in a profile.
    pub id: &'static str,
    /// The section of the specification with the open point.
    pub section: &'static str,
    pub question: &'static str,
    /// Every lawful alternative; the first is the default.
    pub alternatives: &'static [&'static str],
    /// The reason why the first alternative is the default.
    pub why: &'static str,
}

impl Reading {
    /// The alternative that a run uses until discovery or the profile selects another.
    pub const fn default(&self) -> &'static str {
        self.alternatives[0]
    }
}
