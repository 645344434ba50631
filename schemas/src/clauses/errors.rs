//! Section 7: what is an error, what is not, and the form of an error.

use super::{Basis::Stated, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        Stated,
        "7",
        "error.object",
        "The error of an answer is an object.",
    ),
    clause(Stated, "7", "error.code", "An error carries code, an integer."),
    clause(
        Stated,
        "7",
        "error.message",
        "An error carries message, a string.",
    ),
    clause(
        Stated,
        "4.2",
        "error.token-absent",
        "A sponsor request in token mode that names no token is answered with an error (rule 4).",
    ),
    clause(
        Stated,
        "4.2",
        "error.token-unsupported",
        "A sponsor request in token mode whose token is not supported is answered with an error (rule 5).",
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
        "A quote request whose tokens are not supported, some or all, is answered with a result, not with an error.",
    ),
];
