//! The clauses that a chain decides. They are judged only when a chain is given; a broken one is a warning.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    OnChain "4.2" "on-chain.accepted"
        "The paymaster contract accepts the operation with the returned `paymasterAndData` and gas limits (rule 7).";
};
