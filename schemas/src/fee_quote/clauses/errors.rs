//! The clauses of section 7: which requests get an error, and which do not.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Stated "4.2" "error.token-absent"
        "A token-mode sponsor request without a token address is answered with an error (rule 4).";
    Stated "4.2" "error.token-unsupported"
        "A token-mode sponsor request with an unsupported token is answered with an error (rule 5).";
    Stated "7" "error.refusal-is-none"
        "A request that cannot be sponsored is answered with a result, not with an error.";
    Stated "7" "error.unsupported-quote-is-none"
        "A quote request with unsupported tokens is answered with a result, not with an error, even when all its tokens are unsupported.";
};
