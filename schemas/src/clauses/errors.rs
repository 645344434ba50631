//! The clauses of section 7: which requests get an error, which do not, and the form of an error.

use super::{Basis::Stated, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[
    clause(Stated, "7", "error.object", "The member `error` of an answer is an object."),
    clause(Stated, "7", "error.code", "An error object has the member `code`, an integer."),
    clause(Stated, "7", "error.message", "An error object has the member `message`, a string."),
    clause(
        Stated,
        "4.2",
        "error.token-absent",
        "A token-mode sponsor request without a token address is answered with an error (rule 4).",
    ),
    clause(
        Stated,
        "4.2",
        "error.token-unsupported",
        "A token-mode sponsor request with an unsupported token is answered with an error (rule 5).",
    ),
    clause(
        Stated,
        "7",
        "error.refusal-is-none",
        "A request that cannot be sponsored is answered with a result, not with an error.",
    ),
    clause(
        Stated,
        "7",
        "error.unsupported-quote-is-none",
        "A quote request with unsupported tokens is answered with a result, not with an error, even when all its tokens are unsupported.",
    ),
];
