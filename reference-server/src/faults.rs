//! Faults: named ways to break one clause on purpose, so that the rules of a conformance harness are proven to bite.
//!
//! One file a group of clauses, one literal a fault. A fault breaks its clause and, as far as that can be, no other; where
//! more breaks of necessity, it says so in [`Fault::also`].
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of Asked<'a> is not general enough for the pointer that a table holds"
)]

mod answer;
mod batches;
mod caches;
mod data_forms;
mod decision;
mod errors;
mod fee_quotes;
mod ids;
mod methods;
mod notation;
mod operations;
mod quote_results;
mod sponsored_results;
#[cfg(test)]
mod tests;
mod texts;
mod token_sponsor_results;
mod tokens;
mod transport;

use crate::deviations::{Act, Damage, Deed, UnknownName, When, Which, always, find};

/// One way to break one clause.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Its name, lower case, words joined by `-`.
    pub name: &'static str,
    /// The id of the clause that it breaks, as in `paymaster_schemas::clauses`.
    pub clause: &'static str,
    /// Other clauses that it cannot help breaking; `request.*` is every clause of that group.
    pub also: &'static [&'static str],
    /// What it does.
    pub about: &'static str,
    pub(crate) deed: Deed,
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Fault")
            .field("name", &self.name)
            .field("clause", &self.clause)
            .finish_non_exhaustive()
    }
}

impl Fault {
    /// Whether the fault says that it breaks that clause: its own, or another one that it cannot help breaking.
    pub fn names(&self, clause: &str) -> bool {
        let names = |also: &&str| match also.strip_suffix('*') {
            Some(group) => clause.starts_with(group),
            None => clause == *also,
        };
        clause == self.clause || self.also.iter().any(names)
    }

    const fn of(clause: &'static str, name: &'static str, about: &'static str, act: Act) -> Self {
        Self {
            name,
            clause,
            also: &[],
            about,
            deed: Deed { when: always, act },
        }
    }

    /// A fault in the row that the clause is about.
    const fn row(clause: &'static str, name: &'static str, about: &'static str, damage: Damage) -> Self {
        let act = Act::Row {
            row: clause,
            which: Which::All,
            damage,
        };
        Self::of(clause, name, about, act)
    }

    /// A fault in the row of some fee quotes only.
    const fn quote_row(
        clause: &'static str,
        name: &'static str,
        about: &'static str,
        which: Which,
        damage: Damage,
    ) -> Self {
        let act = Act::Row {
            row: clause,
            which,
            damage,
        };
        Self::of(clause, name, about, act)
    }

    /// A refusal of what must be served.
    const fn refusal(clause: &'static str, name: &'static str, about: &'static str, when: When) -> Self {
        Self::of(clause, name, about, Act::Refuse).when(when).also(SERVED)
    }

    /// The same, but only then.
    const fn when(mut self, when: When) -> Self {
        self.deed.when = when;
        self
    }

    /// The same, with what else it breaks.
    const fn also(mut self, clauses: &'static [&'static str]) -> Self {
        self.also = clauses;
        self
    }
}

/// What is refused is not served, and decided otherwise than what is not refused.
const SERVED: &[&str] = &[
    "quote.sponsored-result",
    "quote.erc20-result",
    "sponsor.sponsored-result",
    "sponsor.erc20-result",
    "sponsor.decision-inputs",
];

const GROUPS: [&[Fault]; 17] = [
    ids::FAULTS,
    operations::FAULTS,
    notation::FAULTS,
    sponsored_results::FAULTS,
    quote_results::FAULTS,
    fee_quotes::FAULTS,
    token_sponsor_results::FAULTS,
    data_forms::FAULTS,
    answer::FAULTS,
    texts::FAULTS,
    transport::FAULTS,
    methods::FAULTS,
    tokens::FAULTS,
    decision::FAULTS,
    caches::FAULTS,
    errors::FAULTS,
    batches::FAULTS,
];

/// Every fault, group by group.
pub fn faults() -> impl Iterator<Item = &'static Fault> + Clone {
    GROUPS.into_iter().flatten()
}

/// The fault of that name; the error names the nearest one.
pub fn find_fault(name: &str) -> Result<&'static Fault, UnknownName> {
    find("fault", faults(), |fault| fault.name, name)
}
