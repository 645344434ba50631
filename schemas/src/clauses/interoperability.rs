//! What published clients need beyond the specification. Breaking one of these warns.

use super::{Basis::Interoperability, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        Interoperability,
        "2.6",
        "interoperability.mode-member",
        "A quote carries mode beside MODE, with the same value: published clients read only mode.",
    ),
    // That an answer never carries both is stated. This says who is harmed when the result is null, which other clients forgive.
    clause(
        Interoperability,
        "7",
        "interoperability.no-result-beside-error",
        "An error has no result beside it, not even null: a published client takes any result member for success.",
    ),
];
