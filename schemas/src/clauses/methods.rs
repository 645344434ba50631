//! The numbered rules of the two methods (sections 4.1 and 4.2), and what section 4 says of the endpoint.

use super::{Basis::Stated, Clause, clause, unjudged};

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        Stated,
        "4",
        "endpoint.both-methods",
        "Both methods are served at the same address, over POST.",
    ),
    clause(
        Stated,
        "4.1",
        "quote.sponsored-result",
        "Asked for a quote in sponsored mode, the service answers with the sponsored result (rule 1).",
    ),
    clause(
        Stated,
        "4.1",
        "quote.erc20-result",
        "Asked for a quote in token mode, the service answers with the token-mode result (rule 2).",
    ),
    clause(
        Stated,
        "4.1",
        "quote.unsupported-listed",
        "With preferredToken and tokenList both present, every requested token that is not supported stands in unsupportedTokens (rule 3).",
    ),
    clause(
        Stated,
        "2.7",
        "quote.unsupported-only-unsupported",
        "unsupportedTokens lists only tokens of the request, and none that the service supports.",
    ),
    clause(
        Stated,
        "2.5",
        "quote.tokens-quoted",
        "Every supported token that the request asks for is quoted.",
    ),
    clause(
        Stated,
        "2.5",
        "quote.only-requested",
        "When the request names tokens, only those are quoted.",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.sponsored-result",
        "Asked to sponsor in sponsored mode, the service answers with the sponsored result.",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.erc20-result",
        "Asked to sponsor in token mode with a supported token, the service answers with the token-mode result, paymasterAndData included (rule 6).",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.sponsorable-is-sponsored",
        "An operation that can be sponsored gets a paymasterAndData that is not just 0x.",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.refused-gets-0x",
        "An operation that cannot be sponsored gets a result whose paymasterAndData is exactly 0x (rule 2).",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.decision-inputs",
        "Only the operation and sponsorshipInfo decide whether a request is sponsored: not the id, the other members, earlier requests or chance (rule 1).",
    ),
    clause(
        Stated,
        "4.2",
        "sponsor.mode-mandatory-served",
        "The mode asked for is the mode served, whatever other members of the mode object are present.",
    ),
    unjudged(
        Stated,
        "4.2",
        "sponsor.erc20-considers-both",
        "In token mode the operation and the token address are both considered (rule 3).",
        "the specification does not say what considering the operation leads to; what the token leads to is judged by the rules of the token address",
    ),
    unjudged(
        Stated,
        "4.2",
        "sponsor.value-for-the-operation",
        "The paymasterAndData of the result is the value that belongs into the user operation (rule 7).",
        "whether a chain accepts the value shows only on that chain; that it is a string of whole bytes is judged by the rows of 2.6 and 2.9",
    ),
];
