//! The clauses for points where the specification disagrees with itself (*ambiguous*) or is silent (*not shown*). A run
//! observes and reports them; they never fail a run.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Ambiguous "2.1" "dialect.jsonrpc-version"
        "The value of `jsonrpc` in a request: `2.0` in the samples, `2.0.0` in the field table.";
    Ambiguous "2.3" "dialect.sponsored-name"
        "The name of the sponsored mode in a request: `SPONSORED` in the samples, `SPONSORSHIP` in the parameter tables.";
    Ambiguous "2.5" "dialect.fee-token-member"
        "The member that names the fee token: `feeTokenAddress` in the table, `tokenAddress` in the text.";
    Ambiguous "2.6" "dialect.mode-member"
        "The member of a result that holds its mode: `MODE` in the tables, `mode` in published services and clients.";
    Ambiguous "2.5" "dialect.quoted-tokens"
        "Which tokens are quoted when `preferredToken` and `tokenList` are both present: both, the list only, or the preferred token only.";
    NotShown "2.2" "dialect.amount-notation"
        "Whether amounts of the operation are accepted as decimal strings, as hex quantities, or as both.";
    NotShown "2.8" "behaviour.valid-until-unit"
        "The unit of `validUntil`, such as seconds or milliseconds.";
    NotShown "8" "behaviour.limits"
        "How requests are answered that are larger than what wallets send: more call data, longer lists and ids, higher gas limits and fees.";
    NotShown "2.7" "behaviour.unsupported-when-none"
        "Whether `unsupportedTokens` is absent or empty when every token is supported.";
    NotShown "2.7" "behaviour.unsupported-without-both"
        "Whether unsupported tokens are listed when the request has only one of `preferredToken` and `tokenList`.";
    NotShown "2.5" "behaviour.empty-token-list"
        "How a quote request without any token is answered: with quotes for all supported tokens, with no quotes, or with an error.";
    NotShown "2.7" "behaviour.token-letter-case"
        "Whether the answer writes token addresses in the letter case of the request.";
    NotShown "2.5" "behaviour.repeated-tokens"
        "Whether a token that a request names twice is quoted once or twice.";
    NotShown "7" "behaviour.error-codes"
        "The error codes for a missing token and for an unsupported token.";
    NotShown "7" "behaviour.error-status"
        "The HTTP status of an answer with an error.";
    NotShown "2.2" "behaviour.extra-members"
        "Whether an operation may have members that the table does not list, such as `signature` and `paymasterAndData`.";
    NotShown "4.2" "behaviour.sponsored-required-fields"
        "Which members of the operation a sponsor request in sponsored mode must have.";
    NotShown "4.1" "behaviour.quote-without-mode"
        "How a quote request without `mode` is answered.";
    NotShown "2.3" "behaviour.gas-limits-returned"
        "Whether the result repeats the gas limits of the request, with `calculateGasLimits` true and false.";
    NotShown "2.6" "behaviour.paymaster-and-data-layout"
        "The layout of `paymasterAndData`: its length, and whether it begins with the `paymasterAddress` of quotes.";
    NotShown "2.6" "behaviour.deterministic-data"
        "Whether the same request, sent twice, gets the same `paymasterAndData`.";
    NotShown "7" "behaviour.malformed-params"
        "Whether malformed requests are refused, and which of them get a result.";
    NotShown "2.3" "behaviour.optional-members"
        "How a request is answered in which an optional member is null or absent.";
    NotShown "2.2" "behaviour.addresses-in-capitals"
        "Whether senders and tokens are accepted in capital letters, which EIP-55 does not allow.";
    NotShown "1" "behaviour.http-version"
        "The HTTP version of the connections to the target.",
        unjudged: "no message contains the version; the runner records it from the connections";
    NotShown "1" "behaviour.refused-headers"
        "Which published HTTP clients are refused for their request headers, and with which HTTP status.";
    NotShown "8" "behaviour.requests-in-flight"
        "How many requests the target answers at a time, where more are refused.",
        unjudged: "no message contains the number; the runner records it when it sends fewer requests at a time";
    NotShown "3" "unshown.transitions"
        "The states of the service and the transitions between them.",
        unjudged: "the specification shows none, so there is nothing to observe";
    NotShown "5" "unshown.authentication"
        "How a client authenticates.",
        unjudged: "the specification shows no method; a run sends the URL and the headers of the profile unchanged";
    NotShown "6" "unshown.events"
        "The events and webhooks that the service sends.",
        unjudged: "they are sent to another party, so that a client cannot observe them";
    NotShown "8" "unshown.limits"
        "Rate limits, size limits and list lengths.",
        unjudged: "a search for a limit would overload the target; a run honours 429 and Retry-After instead";
    NotShown "9" "unshown.interface-version"
        "The version of the service interface.",
        unjudged: "the specification shows no member that holds such a version";
};
