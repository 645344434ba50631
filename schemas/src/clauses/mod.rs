//! The clauses: every testable statement of the specification, as data.
//!
//! Each group of clauses has its file; a new clause is one entry of its table. Rules (`paymaster-engine`, `paymaster-fee-quote`) and faults
//! (`paymaster-reference-server`) refer to a clause by its id only. An id is a public name: renaming one is a breaking change.

/// A table of clauses: basis, section, id and text of each; `unjudged` is why no rule and no observer judges it.
macro_rules! clauses {
    (@reason) => { None };
    (@reason $reason:expr) => { Some($reason) };
    ($($basis:ident $section:literal $id:literal $text:literal $(, unjudged: $reason:expr)?;)*) => {
        &[$(Clause {
            id: $id,
            section: $section,
            basis: $crate::Basis::$basis,
            text: $text,
            unjudged: clauses!(@reason $($reason)?),
        }),*]
    };
}

mod errors;
mod interoperability;
mod json_rpc;
mod methods;
mod observed;
mod on_chain;
mod plausibility;
mod requests;
mod responses;
mod results;

use std::fmt;

use crate::documents::added;

/// The reason why a clause holds. It decides what a broken clause means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// The specification states it. A broken clause fails the run.
    Stated,
    /// JSON-RPC 2.0, or its use over HTTP, recommends it beyond the specification. A broken clause warns, and fails under `--strict`.
    JsonRpc,
    /// Published clients need it beyond the specification. A broken clause warns, and fails under `--strict`.
    Interoperability,
    /// An answer is lawful in form and makes no sense in content. A broken clause warns, and fails under `--strict`.
    Plausibility,
    /// A chain decides it; judged only when a chain is given. A broken clause warns, and fails under `--strict`.
    OnChain,
    /// The specification disagrees with itself. The run only observes.
    Ambiguous,
    /// The specification is silent. The run only observes.
    NotShown,
}

impl Basis {
    /// Every basis, the most serious first.
    pub const ALL: [Self; 7] = [
        Self::Stated,
        Self::JsonRpc,
        Self::Interoperability,
        Self::Plausibility,
        Self::OnChain,
        Self::Ambiguous,
        Self::NotShown,
    ];

    /// The name in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::JsonRpc => "json-rpc",
            Self::Interoperability => "interoperability",
            Self::Plausibility => "plausibility",
            Self::OnChain => "on-chain",
            Self::Ambiguous => "ambiguous",
            Self::NotShown => "not-shown",
        }
    }

    /// Whether clauses of this basis are only observed and never fail a run.
    pub const fn is_observed(self) -> bool {
        matches!(self, Self::Ambiguous | Self::NotShown)
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One testable statement of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The name: group and rest joined by `.`, as `quote.tokens-quoted`.
    pub id: &'static str,
    /// The section of the specification that the clause comes from, as `2.6`.
    pub section: &'static str,
    /// The reason why the clause holds.
    pub basis: Basis,
    /// The statement, in our own words.
    pub text: &'static str,
    /// The reason why no rule and no observer judges the clause, if none does.
    pub unjudged: Option<&'static str>,
}

const GROUPS: [&[Clause]; 10] = [
    requests::CLAUSES,
    results::CLAUSES,
    responses::CLAUSES,
    methods::CLAUSES,
    errors::CLAUSES,
    json_rpc::CLAUSES,
    interoperability::CLAUSES,
    plausibility::CLAUSES,
    on_chain::CLAUSES,
    observed::CLAUSES,
];

/// Every clause, group by group.
pub fn clauses() -> impl Iterator<Item = &'static Clause> {
    GROUPS.into_iter().flatten()
}

pub fn find_clause(id: &str) -> Option<&'static Clause> {
    clauses().chain(added().clauses).find(|clause| clause.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique_and_well_formed() {
        let mut seen = HashSet::new();
        for clause in clauses() {
            assert!(seen.insert(clause.id), "{} is listed twice", clause.id);
            assert!(
                clause.id.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
                "{} has odd characters",
                clause.id
            );
            assert!(clause.id.contains('.'), "{} has no group", clause.id);
        }
    }

    #[test]
    fn every_clause_has_a_section_and_a_text() {
        for clause in clauses() {
            let section = clause.section;
            assert!(section.starts_with(|c: char| c.is_ascii_digit()), "{}: section {section}", clause.id);
            assert!(clause.text.len() > 20, "{} has no real text", clause.id);
            assert!(clause.unjudged.is_none_or(|reason| reason.len() > 20), "{}: no real reason", clause.id);
        }
    }
}
