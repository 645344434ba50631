//! What the request tables (sections 2.1 to 2.5) oblige a server to accept.

use super::{Basis::Stated, Clause, clause, unjudged};

/// Why a row that every request carries has no rule of its own.
const IN_EVERY_REQUEST: &str = "every request that is sent carries it, so that its acceptance is judged with that of the whole request: \
    by endpoint.both-methods and the result rules of section 4";

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        Stated,
        "2.1",
        "request.id-number",
        "A request whose id is a number is served like one whose id is a string.",
    ),
    clause(
        Stated,
        "2.1",
        "request.id-string",
        "A request whose id is a string is served like one whose id is a number.",
    ),
    clause(
        Stated,
        "2.2",
        "request.gas-fields-optional",
        "When an operation is sponsored in token mode, callGasLimit, verificationGasLimit and preVerificationGas may each be left out.",
    ),
    clause(
        Stated,
        "2.2",
        "request.listed-fields-suffice",
        "An operation that carries the nine listed members, and neither signature nor paymasterAndData, is served.",
    ),
    clause(
        Stated,
        "2.2",
        "request.nonce-uint256",
        "Every nonce up to 2^256-1 is accepted.",
    ),
    clause(
        Stated,
        "2.2",
        "request.init-code",
        "An operation whose initCode is not empty is accepted like any other hex string.",
    ),
    clause(
        Stated,
        "2.2",
        "request.call-data",
        "Call data of any length is accepted, from empty to many kilobytes.",
    ),
    clause(
        Stated,
        "2.3",
        "request.calculate-gas-limits",
        "calculateGasLimits is accepted as true and as false, in both modes of both methods.",
    ),
    clause(
        Stated,
        "2.3",
        "request.expiry-duration",
        "A sponsor request in sponsored mode may carry expiryDuration, a number of seconds.",
    ),
    clause(
        Stated,
        "2.4",
        "request.webhook-data",
        "sponsorshipInfo.webhookData may be any object, empty or not.",
    ),
    clause(
        Stated,
        "2.4",
        "request.smart-account-info",
        "Each of the two smart account names, with its dotted three-part version, is accepted.",
    ),
    clause(
        Stated,
        "2.5",
        "request.token-list",
        "tokenList may name any number of tokens.",
    ),
    clause(
        Stated,
        "1",
        "request.json-notation",
        "Member order, white space and string escapes of the request's JSON change nothing in the answer.",
    ),
    unjudged(
        Stated,
        "2.1",
        "request.jsonrpc",
        "A request carries jsonrpc, a string: the version of JSON-RPC.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.1",
        "request.method",
        "A request carries method, the name of one of the two methods.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.1",
        "request.params",
        "A request carries params, an array of two objects: operation and mode object.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.2",
        "request.sender",
        "An operation carries sender, the address of the account.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.2",
        "request.max-fee-per-gas",
        "An operation carries maxFeePerGas, an amount as a string.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.2",
        "request.max-priority-fee-per-gas",
        "An operation carries maxPriorityFeePerGas, an amount as a string.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.3",
        "request.mode",
        "A mode object carries mode: SPONSORED or ERC20.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.3",
        "request.sponsorship-info",
        "A mode object in sponsored mode carries sponsorshipInfo, an object.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.3",
        "request.token-info",
        "A mode object in token mode carries tokenInfo, an object.",
        IN_EVERY_REQUEST,
    ),
    unjudged(
        Stated,
        "2.5",
        "request.preferred-token",
        "A quote request in token mode carries preferredToken, a token address.",
        "every quote in token mode that is owed an answer carries it: what it leads to is judged by quote.erc20-result and the rules of quoted tokens",
    ),
    unjudged(
        Stated,
        "2.5",
        "request.fee-token-address",
        "A sponsor request in token mode names the token that pays, by its address.",
        "every sponsor request in token mode that is owed an answer carries it: what it leads to is judged by sponsor.erc20-result and the errors of section 7",
    ),
    unjudged(
        Stated,
        "4.2",
        "request.mode-mandatory",
        "A sponsor request must carry mode.",
        "it binds the client; what a request without mode gets is not shown",
    ),
];
