//! The clauses: every testable statement of a specification, as data.
//!
//! The clauses of a specification are in one file in its folder; a new clause is one entry of a table there. Rules and faults refer
//! to a clause by its id only. An id is unique among all specifications, and a public name: renaming one is a breaking change.

/// A table of clauses: basis, section, id and text of each; `unjudged` is why no rule and no observer judges it.
macro_rules! clauses {
    (@reason) => { None };
    (@reason $reason:expr) => { Some($reason) };
    ($($basis:ident $section:literal $id:literal $text:literal $(, unjudged: $reason:expr)?;)*) => {
        &[$($crate::Clause {
            id: $id,
            section: $section,
            basis: $crate::Basis::$basis,
            text: $text,
            unjudged: clauses!(@reason $($reason)?),
        }),*]
    };
}

pub(crate) use clauses;

use strum::{Display, IntoStaticStr, VariantArray};

use crate::definition::all_clauses;

/// The reason why a clause holds. It decides what a broken clause means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Basis {
    /// The specification states it. A broken clause fails the run.
    Stated,
    /// The specification recommends it: it says should. A broken clause warns, and fails under `--strict`.
    Recommended,
    /// JSON-RPC 2.0, or its use over HTTP, recommends it beyond the specification. A broken clause warns, and fails under `--strict`.
    JsonRpc,
    /// Published clients need it beyond the specification. A broken clause warns, and fails under `--strict`.
    Interoperability,
    /// An answer is lawful in form and makes no sense in content. A broken clause warns, and fails under `--strict`.
    Plausibility,
    /// A chain decides it; judged only when a chain is given. A broken clause fails the run.
    OnChain,
    /// The specification disagrees with itself. The run only observes.
    Ambiguous,
    /// The specification is silent. The run only observes.
    NotShown,
}

impl Basis {
    /// Every basis, the most serious first.
    pub const ALL: [Self; 8] = *Self::VARIANTS.as_array().expect("eight variants");

    /// Whether clauses of this basis are only observed and never fail a run.
    pub const fn is_observed(self) -> bool {
        matches!(self, Self::Ambiguous | Self::NotShown)
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

/// The clause of that id, of whatever specification.
pub fn find_clause(id: &str) -> Option<&'static Clause> {
    all_clauses().find(|clause| clause.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    use crate::DEFINITIONS;

    #[test]
    fn ids_are_unique_and_well_formed() {
        let mut known = HashMap::new();
        for clause in all_clauses() {
            assert_eq!(*known.entry(clause.id).or_insert(clause), clause, "two clauses have one id");
            assert!(
                clause.id.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
                "{} has odd characters",
                clause.id
            );
            assert!(clause.id.contains('.'), "{} has no group", clause.id);
        }
        for definition in DEFINITIONS {
            let mut seen = HashSet::new();
            definition
                .clauses()
                .for_each(|clause| assert!(seen.insert(clause.id), "{} is listed twice", clause.id));
        }
    }

    #[test]
    fn every_clause_has_a_text() {
        for clause in all_clauses() {
            assert!(clause.text.len() > 20, "{} has no real text", clause.id);
            assert!(clause.unjudged.is_none_or(|reason| reason.len() > 20), "{}: no real reason", clause.id);
        }
    }
}
