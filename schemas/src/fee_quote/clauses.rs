//! The clauses of the specification, group by group.

use crate::{Clause, clauses::clauses, shared};

pub(super) const CLAUSES: &[&[Clause]] = &[
    REQUESTS,
    RESULTS,
    shared::REQUESTS,
    shared::RESPONSES,
    METHODS,
    shared::ERRORS,
    ERRORS,
    shared::JSON_RPC,
    INTEROPERABILITY,
    PLAUSIBILITY,
    ON_CHAIN,
    OBSERVED,
];

/// The reason why a member that is present in every request has no rule of its own.
const IN_EVERY_REQUEST: &str = "every request has it, so it is judged with the request as a whole: by endpoint.both-methods and the result \
    rules of section 4";

/// The clauses of the request tables (sections 2.1 to 2.5): what a server must accept.
const REQUESTS: &[Clause] = clauses! {
    Stated "2.2" "request.gas-fields-optional"
        "In a sponsor request in token mode, each of `callGasLimit`, `verificationGasLimit` and `preVerificationGas` may be absent.";
    Stated "2.2" "request.listed-fields-suffice"
        "An operation with the nine listed members is served without `signature` and `paymasterAndData`.";
    Stated "2.2" "request.nonce-uint256"
        "Every `nonce` from 0 to 2^256-1 is accepted.";
    Stated "2.2" "request.init-code"
        "An operation with a non-empty `initCode` is accepted like one with `0x`.";
    Stated "2.2" "request.call-data"
        "`callData` of every length that wallets send is accepted: from `0x` to 4096 bytes, or to the limit of the profile.";
    Stated "2.2" "request.sizes"
        "Every part of a request is accepted up to its ordinary size, or to the limit of the profile.";
    Stated "2.3" "request.sponsored-name"
        "The mode name `SPONSORED`, which every sample request sends, is accepted. `SPONSORSHIP` is at most an additional name.";
    Stated "4.1" "request.token-quote-row"
        "A quote in token mode needs `mode` and `tokenInfo` alone in its mode object.";
    Stated "4.2" "request.mode-mandatory"
        "`mode` is mandatory in a sponsor request: a request without it gets no result.";
    Stated "2.3" "request.calculate-gas-limits"
        "`calculateGasLimits` is accepted as true and as false, in both modes of both methods.";
    Stated "2.3" "request.expiry-duration"
        "A sponsor request in sponsored mode may have `expiryDuration`, a number of seconds: from a minute to an hour, or to the limit of the profile.";
    Stated "2.4" "request.webhook-data"
        "`sponsorshipInfo.webhookData` may be any object, empty or not, up to 1024 bytes or to the limit of the profile.";
    Stated "2.4" "request.smart-account-info"
        "Each of the two smart account names is accepted with a three-part version such as `1.0.0`.";
    Stated "2.5" "request.token-list"
        "`tokenList` may have up to 10 tokens, or as many as the profile promises.";
    Stated "1" "request.json-notation"
        "The order of members, white space and string escapes in the JSON of a request do not change the answer.";
    Stated "2.1" "request.jsonrpc"
        "A request has `jsonrpc`, the version of JSON-RPC as a string.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.1" "request.method"
        "A request has `method`, the name of one of the two methods.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.1" "request.params"
        "A request has `params`, an array of two objects: the operation and the mode object.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.2" "request.sender"
        "An operation has `sender`, the address of the account.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.2" "request.max-fee-per-gas"
        "An operation has `maxFeePerGas`, an amount as a string.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.2" "request.max-priority-fee-per-gas"
        "An operation has `maxPriorityFeePerGas`, an amount as a string.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.3" "request.mode"
        "A mode object has `mode`, which is `SPONSORED` or `ERC20`.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.3" "request.sponsorship-info"
        "A mode object in sponsored mode has `sponsorshipInfo`, an object.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.3" "request.token-info"
        "A mode object in token mode has `tokenInfo`, an object.",
        unjudged: IN_EVERY_REQUEST;
    Stated "2.5" "request.preferred-token"
        "A quote request in token mode has `tokenInfo.preferredToken`, a token address.",
        unjudged: "every token-mode quote request that must be served has it; quote.erc20-result and the rules about quoted tokens judge the answer";
    Stated "2.5" "request.fee-token-address"
        "A sponsor request in token mode has the address of the fee token.",
        unjudged: "every token-mode sponsor request that must be served has it; sponsor.erc20-result and the errors of section 7 judge the answer";
};

/// The clauses of the result tables (sections 2.6 to 2.9): each member is present and has its type and form.
const RESULTS: &[Clause] = clauses! {
    Stated "2.6" "sponsored-result.MODE"
        "A sponsored result has `MODE`, exactly `SPONSORED`.";
    Stated "2.6" "sponsored-result.paymasterAndData"
        "A sponsored result has `paymasterAndData`, a hex string of whole bytes that starts with 0x.";
    Stated "2.6" "sponsored-result.preVerificationGas"
        "A sponsored result has `preVerificationGas`, a string of decimal digits.";
    Stated "2.6" "sponsored-result.verificationGasLimit"
        "A sponsored result has `verificationGasLimit`, a number of gas units.";
    Stated "2.6" "sponsored-result.callGasLimit"
        "A sponsored result has `callGasLimit`, a number of gas units.";
    Stated "2.7" "quote-result.MODE"
        "A token-mode quote has `MODE`, exactly `ERC20`.";
    Stated "2.7" "quote-result.paymasterAddress"
        "A token-mode quote has `paymasterAddress`, the address of the token paymaster.";
    Stated "2.7" "quote-result.feeQuotes"
        "A token-mode quote has `feeQuotes`, an array of fee quote objects.";
    Stated "2.7" "quote-result.unsupportedTokens"
        "If a token-mode quote has `unsupportedTokens`, it is an array of token addresses.";
    Stated "2.8" "fee-quote.symbol"
        "Each fee quote has `symbol`, the token's symbol as a string.";
    Stated "2.8" "fee-quote.decimal"
        "Each fee quote has `decimal`, the token's number of decimals.";
    Stated "2.8" "fee-quote.tokenAddress"
        "Each fee quote has `tokenAddress`, the token's address.";
    Stated "2.8" "fee-quote.maxGasFee"
        "Each fee quote has `maxGasFee`, a number of token units that may have a fraction.";
    Stated "2.8" "fee-quote.maxGasFeeUSD"
        "Each fee quote has `maxGasFeeUSD`, a number of US dollars that may have a fraction.";
    Stated "2.8" "fee-quote.exchangeRate"
        "Each fee quote has `exchangeRate`, an integer-valued number of any size.";
    Stated "2.8" "fee-quote.premiumPercentage"
        "Each fee quote has `premiumPercentage`, a percentage written as digits in a string.";
    Stated "2.8" "fee-quote.validUntil"
        "Each fee quote has `validUntil`, an integer timestamp.";
    Stated "2.8" "fee-quote.logoUrl"
        "Each fee quote has `logoUrl`, a string: the URL of an image.";
    Stated "2.8" "quote.valid-until-future"
        "`validUntil` does not lie in the past, whatever its unit. Allowed are one minute and the time of the exchange before the `Date` of the answer, or five minutes of clock skew without a `Date`. 0 is another clause.";
    Stated "2.8" "quote.valid-until-unit"
        "`validUntil` has one unit in all quotes of a service. 0 and times far from now prove no unit.";
    Stated "2.9" "token-sponsor-result.MODE"
        "A token-mode sponsor result has `MODE`, exactly `ERC20`.";
    Stated "2.9" "token-sponsor-result.paymasterAndData"
        "A token-mode sponsor result has `paymasterAndData`, a hex string of whole bytes.";
    Stated "2.9" "token-sponsor-result.preVerificationGas"
        "A token-mode sponsor result has `preVerificationGas`, an amount of gas as a string.";
    Stated "2.9" "token-sponsor-result.verificationGasLimit"
        "A token-mode sponsor result has `verificationGasLimit`, a number of gas units.";
    Stated "2.9" "token-sponsor-result.callGasLimit"
        "A token-mode sponsor result has `callGasLimit`, a number of gas units.";
};

/// The clauses of section 4: the endpoint, and the numbered rules of the two methods (sections 4.1 and 4.2).
const METHODS: &[Clause] = clauses! {
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

/// The clauses of section 7: which requests get an error, and which do not.
const ERRORS: &[Clause] = clauses! {
    Stated "4.2" "error.token-absent"
        "A token-mode sponsor request without a token address is answered with an error (rule 4).";
    Stated "4.2" "error.token-unsupported"
        "A token-mode sponsor request with an unsupported token is answered with an error (rule 5).";
    Stated "7" "error.refusal-is-none"
        "A request that cannot be sponsored is answered with a result, not with an error.";
    Stated "7" "error.unsupported-quote-is-none"
        "A quote request with unsupported tokens is answered with a result, not with an error, even when all its tokens are unsupported.";
};

/// The clauses that published clients need beyond the specification. A broken one is a warning.
const INTEROPERABILITY: &[Clause] = clauses! {
    Interoperability "2.2" "interoperability.client-forms"
        "A request is served in the forms that published clients send too: amounts in hex, `signature` and `paymasterAndData` in the operation, both info objects, `expiryDuration` in a quote. The fee of a quote depends on the amounts, not on their notation.";
    Interoperability "2.6" "interoperability.mode-member"
        "A quote result has the member `mode` with the same value as `MODE`, because published clients read only `mode`.";
    // `answer.result-or-error` states that an answer never has both. This clause is about a null `result`, which some clients accept.
    Interoperability "7" "interoperability.no-result-beside-error"
        "An answer with `error` has no member `result`, not even null, because a published client treats every answer with `result` as a success.";
};

/// The clauses about the plain sense of answers: what is lawful in form and senseless in content. A broken one is a warning.
const PLAUSIBILITY: &[Clause] = clauses! {
    Plausibility "2.7" "plausibility.paymaster-address"
        "`paymasterAddress` is not the zero address, and every quote has the same one.";
    Plausibility "2.8" "plausibility.token-price"
        "`maxGasFeeUSD` divided by `maxGasFee`, the price of the token, stays within two orders of magnitude. For stable tokens it is near a dollar. A fee of a cent or more is not 0 of a token with 6 decimals or more.";
    Plausibility "2.8" "plausibility.exchange-rate"
        "`exchangeRate` is above 0.";
    Plausibility "2.7" "plausibility.one-quote-a-token"
        "`feeQuotes` has at most one quote for each token.";
    Plausibility "2.8" "plausibility.valid-until"
        "`validUntil` is not 0.";
    Plausibility "2.8" "plausibility.symbol"
        "`symbol` is not empty.";
    Plausibility "2.8" "plausibility.logo-url"
        "`logoUrl` is an absolute URL, and not of a scheme that a browser runs.";
    Plausibility "2.6" "plausibility.gas"
        "The gas limits of a result that sponsors the operation are above 0.";
    Plausibility "2.9" "plausibility.pre-verification-gas"
        "`preVerificationGas` of a token-mode result is a string of decimal digits or a hex quantity.";
    Plausibility "2.9" "plausibility.token-data"
        "`paymasterAndData` of a token-mode result begins with the `paymasterAddress` of quotes.";
    Plausibility "2.9" "plausibility.token-data-differs"
        "`paymasterAndData` of token-mode results differs between operations. Data that is too short for a signature may be the same.";
    Plausibility "2.8" "plausibility.fee-of-operation"
        "`maxGasFee` follows the fees of the operation where it differs between accounts.";
    Plausibility "2.6" "plausibility.sponsored-data"
        "`paymasterAndData` of SPONSORED mode does not begin with the `paymasterAddress` of quotes for new accounts, where it does not for others.";
    Plausibility "4.2" "plausibility.data-of-operation"
        "`paymasterAndData` differs between two operations of one account and nonce where it differs between accounts. Data that is too short for a signature may be the same.";
    Plausibility "4.2" "plausibility.token-data-of-token"
        "`paymasterAndData` of token-mode results differs between two tokens that pay for the same operation. Data that is too short for a signature may be the same.";
};

/// The clauses that a chain decides. They are judged only when a chain is given; a broken one fails the run.
const ON_CHAIN: &[Clause] = clauses! {
    OnChain "4.2" "on-chain.accepted"
        "The paymaster contract accepts the operation with the returned `paymasterAndData` and gas limits (rule 7).";
};

/// The clauses for points where the specification disagrees with itself (*ambiguous*) or is silent (*not shown*). A run
/// observes and reports them; they never fail a run.
const OBSERVED: &[Clause] = clauses! {
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
