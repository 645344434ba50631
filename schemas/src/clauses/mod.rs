//! The clauses: every testable statement of the specification, as data.
//!
//! One file a group; a new clause is one literal there. The rules of `paymaster-conformance` and the faults of the
//! reference server meet only here, through the clause id. Ids are names: renaming one is a breaking change.

mod errors;
mod interoperability;
mod json_rpc;
mod methods;
mod observed;
mod on_chain;
mod requests;
mod responses;
mod results;

use std::fmt;

/// On what ground a clause stands, which decides what breaking it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// The specification says it. Breaking it fails the run.
    Stated,
    /// JSON-RPC 2.0, or its use over HTTP, recommends it beyond what the specification asks. Warns; fails under `--strict`.
    JsonRpc,
    /// Published clients need it beyond the specification. Warns; fails under `--strict`.
    Interoperability,
    /// A chain says so, when one is given. Warns; fails under `--strict`.
    OnChain,
    /// The specification disagrees with itself. Observed only.
    Ambiguous,
    /// The specification is silent. Observed only.
    NotShown,
}

impl Basis {
    /// All grounds, the weightiest first.
    pub const ALL: [Self; 6] = [
        Self::Stated,
        Self::JsonRpc,
        Self::Interoperability,
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
            Self::OnChain => "on-chain",
            Self::Ambiguous => "ambiguous",
            Self::NotShown => "not-shown",
        }
    }

    /// Whether such a clause is only observed and can never fail anyone.
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
    /// Its name, lower case, words joined by `-`, group and rest by `.`.
    pub id: &'static str,
    /// The section of the specification it comes from, as `2.6`.
    pub section: &'static str,
    /// On what ground it stands.
    pub basis: Basis,
    /// The statement, in our own words.
    pub text: &'static str,
    /// Why no rule and no observer judges it, where that is so.
    pub unjudged: Option<&'static str>,
}

/// A clause that a rule or an observer judges.
const fn clause(basis: Basis, section: &'static str, id: &'static str, text: &'static str) -> Clause {
    Clause {
        id,
        section,
        basis,
        text,
        unjudged: None,
    }
}

/// A clause that cannot be judged from outside, with the reason.
const fn unjudged(
    basis: Basis,
    section: &'static str,
    id: &'static str,
    text: &'static str,
    reason: &'static str,
) -> Clause {
    Clause {
        id,
        section,
        basis,
        text,
        unjudged: Some(reason),
    }
}

const GROUPS: [&[Clause]; 9] = [
    requests::CLAUSES,
    results::CLAUSES,
    responses::CLAUSES,
    methods::CLAUSES,
    errors::CLAUSES,
    json_rpc::CLAUSES,
    interoperability::CLAUSES,
    on_chain::CLAUSES,
    observed::CLAUSES,
];

/// Every clause, group by group.
pub fn clauses() -> impl Iterator<Item = &'static Clause> {
    GROUPS.into_iter().flatten()
}

/// The clause of that id.
pub fn find_clause(id: &str) -> Option<&'static Clause> {
    clauses().find(|clause| clause.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique_and_well_formed() {
        let mut seen = HashSet::new();
        for clause in clauses() {
            assert!(seen.insert(clause.id), "{} stands twice", clause.id);
            assert!(
                clause
                    .id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
                "{} has odd characters",
                clause.id
            );
            assert!(clause.id.contains('.'), "{} names no group", clause.id);
        }
    }

    #[test]
    fn every_clause_names_a_section_and_says_something() {
        for clause in clauses() {
            let section = clause.section;
            assert!(
                section.starts_with(|c: char| c.is_ascii_digit()),
                "{}: section {section}",
                clause.id
            );
            assert!(clause.text.len() > 20, "{} says too little", clause.id);
            assert!(
                clause.unjudged.is_none_or(|reason| reason.len() > 20),
                "{}: no real reason",
                clause.id
            );
        }
    }
}
