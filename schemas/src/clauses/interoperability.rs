//! What published clients need beyond the specification. Breaking one of these warns.

use super::{Basis::Interoperability, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[clause(
    Interoperability,
    "2.6",
    "interoperability.mode-member",
    "A quote carries mode beside MODE, with the same value: published clients read only mode.",
)];
