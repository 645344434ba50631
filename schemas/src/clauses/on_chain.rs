//! What a chain says of an answer. Judged only when a chain is given; breaking it warns.

use super::{Basis::OnChain, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[clause(
    OnChain,
    "4.2",
    "on-chain.accepted",
    "The paymasterAndData of a result, in the operation with the returned gas limits, is accepted by the paymaster's contract (rule 7).",
)];
