//! What the request tables (sections 2.1 to 2.5) oblige a server to accept.

use super::{Basis::Stated, Clause, clause};

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
];
