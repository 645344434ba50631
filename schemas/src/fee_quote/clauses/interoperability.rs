//! The clauses that published clients need beyond the specification. A broken one is a warning.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Interoperability "2.2" "interoperability.client-forms"
        "A request is served in the forms that published clients send too: amounts in hex, `signature` and `paymasterAndData` in the operation, both info objects, `expiryDuration` in a quote. The fee of a quote depends on the amounts, not on their notation.";
    Interoperability "2.6" "interoperability.mode-member"
        "A quote result has the member `mode` with the same value as `MODE`, because published clients read only `mode`.";
    // `answer.result-or-error` states that an answer never has both. This clause is about a null `result`, which some clients accept.
    Interoperability "7" "interoperability.no-result-beside-error"
        "An answer with `error` has no member `result`, not even null, because a published client treats every answer with `result` as a success.";
};
