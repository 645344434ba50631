//! The clauses of the request tables (sections 2.1 to 2.5): what a server must accept.

use super::{Clause, clauses};

/// The reason why a member that is present in every request has no rule of its own.
const IN_EVERY_REQUEST: &str = "every request has it, so it is judged with the request as a whole: by endpoint.both-methods and the result \
    rules of section 4";

pub(super) const CLAUSES: &[Clause] = clauses! {
    Stated "2.1" "request.id-number"
        "A request with an integer up to 2^53 as `id`, negative or not, is served like the same request with a string.";
    Stated "2.1" "request.id-string"
        "A request with a string as `id`, up to 64 printable ASCII characters or the limit of the profile, is served like the same request with a number.";
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
