//! The clauses of section 4: the endpoint, and the numbered rules of the two methods (sections 4.1 and 4.2).

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Stated "4" "endpoint.both-methods"
        "Both methods are served at the same URL with HTTP POST.";
    Stated "4.1" "quote.sponsored-result"
        "A quote request in sponsored mode is answered with the sponsored result (rule 1).";
    Stated "4.1" "quote.erc20-result"
        "A quote request in token mode is answered with the token-mode quote (rule 2).";
    Stated "4.1" "quote.unsupported-listed"
        "If a quote request has both `preferredToken` and `tokenList`, then `unsupportedTokens` lists every requested token that is unsupported (rule 3).";
    Stated "2.7" "quote.unsupported-only-unsupported"
        "`unsupportedTokens` lists only tokens of the request, and no token that the service supports.";
    Stated "2.5" "quote.tokens-quoted"
        "A quote request in token mode gets a quote for every supported token that it names.";
    Stated "2.5" "quote.only-requested"
        "A quote request that names tokens gets quotes for these tokens only.";
    Stated "4.2" "sponsor.sponsored-result"
        "A sponsor request in sponsored mode is answered with the sponsored result.";
    Stated "4.2" "sponsor.erc20-result"
        "A sponsor request in token mode with a supported token is answered with the token-mode result, which includes `paymasterAndData` (rule 6).";
    Stated "4.2" "sponsor.sponsorable-is-sponsored"
        "A sponsor request for an operation that can be sponsored gets a `paymasterAndData` other than `0x`.";
    Stated "4.2" "sponsor.refused-gets-0x"
        "A sponsor request for an operation that cannot be sponsored gets a result with exactly `0x` as `paymasterAndData` (rule 2).";
    Stated "4.2" "sponsor.decision-inputs"
        "Only the operation and `sponsorshipInfo` decide whether a sponsored-mode request is sponsored. The id, other members, earlier requests and chance do not (rule 1).";
    Stated "4.2" "sponsor.mode-mandatory-served"
        "The result has the mode that the request selects, whatever other members the mode object has.";
    Stated "4.2" "sponsor.erc20-considers-both"
        "In token mode the service takes both the operation and the token address into account (rule 3).",
        unjudged: "the specification does not show what follows from the operation; the rules about the token address judge what follows from the token";
    Stated "4.2" "sponsor.value-for-the-operation"
        "The client copies `paymasterAndData` of the result into the user operation (rule 7).",
        unjudged: "only a chain can show whether the value is accepted (see on-chain.accepted); the rules of sections 2.6 and 2.9 judge its form";
};
