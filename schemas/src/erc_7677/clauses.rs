//! The clauses of ERC-7677, group by group, in the order of its sections.
//!
//! The text of the ERC is short and often silent. Its musts are *stated*; a statement that is disputed or only recommended is *recommended*;
//! what follows from the purpose of the methods or from what published clients send is *interoperability*; the rest is only observed.

use crate::{Clause, clauses::clauses, shared};

pub(super) const CLAUSES: &[&[Clause]] = &[
    REQUESTS,
    shared::REQUESTS,
    shared::RESPONSES,
    STUB,
    DATA,
    PAIR,
    FINAL,
    shared::ERRORS,
    REFUSALS,
    shared::JSON_RPC,
    OBSERVED,
];

/// The reason why what every request has is not judged alone.
const IN_EVERY_REQUEST: &str = "every request has it, so it is judged with the request as a whole: by endpoint.stub-and-data and the clauses about results";

/// What a service must take (sections 1, 2 and 8).
const REQUESTS: &[Clause] = clauses! {
    Stated "1" "endpoint.stub-and-data"
        "Both methods are served at the same URL.";
    Stated "2" "call.params"
        "Both methods take the same four parameters in this order: operation, EntryPoint, chain id, context.",
        unjudged: IN_EVERY_REQUEST;
    Interoperability "2" "call.letter-case"
        "Hex digits and addresses of a request are read in every letter case: the same operation in another spelling gets the same kind of answer.";
    Interoperability "2" "call.same-operation"
        "Data depends on what a request means. The order of members and the letter case of a request do not change the data that is signed.";
    Stated "2" "operation.unsigned"
        "A request is served whose operation has no `signature` and no paymaster member, because the user signs last.";
    Interoperability "2" "operation.dummy-signature"
        "An operation with a placeholder signature that published clients send, of one owner, of three or of a passkey, is served like one without.";
    Interoperability "2" "operation.stub-members"
        "An operation with the paymaster members that published clients send is served: those of the stub in a data request; `0x` as data and `0x0` as gas limits in a stub request.";
    Stated "2.1" "operation.members-06"
        "An operation of EntryPoint 0.6 has nine members, among them `initCode`, which is `0x` for an account that exists.",
        unjudged: IN_EVERY_REQUEST;
    Interoperability "2.2" "operation.null-members"
        "In an operation of EntryPoint 0.7 and later, members that are null, such as `factory` and `paymaster`, count as absent.";
    Interoperability "2.2" "operation.factory"
        "An operation of an account that does not exist yet, with `initCode` or `factory` and `factoryData`, is served like one of an account that exists.";
    Interoperability "2.2" "operation.eip-7702"
        "An operation of EntryPoint 0.7 and later with `eip7702Auth` is served, and one of 0.8 and later with the factory `0x7702`.";
    Interoperability "2" "operation.nonce"
        "A `nonce` of 13 bytes and one of 32 bytes are served like a small one, because its key has 192 bits.";
    Interoperability "2" "stub-request.zero-limits"
        "A stub request with the three gas limits `0x0` is served, because wallets estimate them later.";
    Interoperability "2" "stub-request.zero-fees"
        "A stub request with both fees `0x0` is served, because a published client sends it.";
    Interoperability "2.3" "context.null"
        "A request with the context null is served, or refused in JSON-RPC, and does not make the service fail.";
    Interoperability "8" "entry-point.letter-case"
        "The address of an EntryPoint is read in lower case and with the checksum of EIP-55.";
    Stated "8" "entry-point.unknown-refused"
        "A service of several EntryPoints refuses an EntryPoint that it does not know, because it cannot know which members to return.";
    Recommended "8" "entry-point.other-operation"
        "A data request whose operation has the form of another EntryPoint version is refused.";
    Stated "8" "chain.own-data"
        "A service of several chains returns data for the chain that the request names.",
        unjudged: "data.accepted shows it, for the chain of the node: requests name that chain";
    Interoperability "4" "data-request.without-stub"
        "A data request is served without a stub request before it.";
};

/// What a stub has (sections 3 and 3.1), and the form of members of both results.
const STUB: &[Clause] = clauses! {
    Stated "3" "stub.sponsorable-is-served"
        "A stub request for an operation that is sponsored according to the profile gets a result.";
    Stated "3" "stub.members-06"
        "A stub for EntryPoint 0.6 has `paymasterAndData`.";
    Stated "3" "stub.members-07"
        "A stub for EntryPoint 0.7 and later has `paymaster` and `paymasterData`.";
    Stated "3" "stub.post-op-gas-07"
        "A stub for EntryPoint 0.7 has `paymasterPostOpGasLimit`, because no bundler can estimate it.";
    Recommended "3" "stub.post-op-gas-08"
        "A stub for EntryPoint 0.8 and 0.9 has `paymasterPostOpGasLimit`, as one for 0.7 must.";
    Interoperability "3" "result.one-shape"
        "A result has the members of the EntryPoint of its request, not those of 0.6 and of 0.7 at once.";
    Stated "3" "result.gas-limit"
        "`paymasterVerificationGasLimit` and `paymasterPostOpGasLimit` of a result are hex numbers with a digit, in a string.";
    Plausibility "3" "result.gas-limit-size"
        "Gas limits of a result are below 2^120: EntryPoint refuses every operation with a larger one (AA94).";
    Interoperability "3" "result.null-member"
        "An optional member that a service does not return is absent, not null.";
    Interoperability "3" "result.operation-members"
        "A result has no member of the operation beside the paymaster's own, because some clients copy it into the operation.";
    Stated "3.1" "sponsor-member.name"
        "`sponsor` is an object with `name`, a string.";
    Recommended "3.1" "sponsor-member.icon"
        "`sponsor.icon`, if present, is a whole `data:` URI. The text requires it, but all its examples have an `https` URL.";
    Stated "3" "stub.limits-used"
        "The wallet uses the gas limits of the stub in its estimate.",
        unjudged: "it obliges the wallet; nothing of it shows at the URL of a service";
};

/// What data has (section 6).
const DATA: &[Clause] = clauses! {
    Stated "6" "data.sponsorable-is-served"
        "A data request for an operation that is sponsored according to the profile gets a result.";
    Stated "6" "data.members-06"
        "Data for EntryPoint 0.6 has `paymasterAndData`.";
    Stated "6" "data.members-07"
        "Data for EntryPoint 0.7 and later has `paymaster` and `paymasterData`.";
    Stated "6" "result.paymaster"
        "`paymaster` of a result is an address of 20 bytes, and not the zero address.";
    Stated "6" "result.bytes"
        "`paymasterData` and `paymasterAndData` of a result are bytes in hex: `0x` and an even number of digits.";
    Stated "6" "result.paymaster-and-data"
        "`paymasterAndData` of a result begins with the 20 bytes of the paymaster's address, which is not zero.";
    Plausibility "6" "result.address-once"
        "`paymasterData` does not begin with the paymaster's address, which the wallet puts before it; `paymasterAndData` has it once.";
    Interoperability "6" "data.signature"
        "The signature in data is the paymaster signer's, over the operation of the request. Judged if the profile names contract and signer.";
    Interoperability "6" "data.signature-of-limits"
        "The signature in data holds for the gas limits and fees of the request, also if they are not those of the stub; limits of the result come first.";
    Interoperability "6" "data.signature-of-call"
        "The signature in data holds for the call data and the sender of its own request, not for those of an earlier one.";
    Interoperability "6" "data.window"
        "The time window in data is open when the answer comes. Judged if the profile names the contract.";
    Plausibility "6" "data.differs"
        "Data that has room for a signature differs between operations that differ in their call data or their sender.";
    Interoperability "6" "data.concurrent"
        "Data requests that are sent at the same time each get the data of their own operation.";
    OnChain "6" "data.accepted"
        "The paymaster contract accepts the operation of the request with the returned data and its limits, and else with the gas limits of the request.";
};

/// Stub and data of one operation (section 4).
const PAIR: &[Clause] = clauses! {
    Stated "4" "stub-and-data.length"
        "Stub and data of one operation have the same number of bytes.";
    Stated "4" "stub-and-data.zero-bytes"
        "A stub has at most as many zero bytes as the data. Judged over eight operations, each with at least three zero bytes more in the stub.";
    OnChain "4" "stub.simulates"
        "A simulation with the stub runs through the same code as one with the data: the contract does not revert early.";
    OnChain "3" "stub.verification-gas"
        "The contract's validation fits the `paymasterVerificationGasLimit` of the stub. EntryPoint 0.6 has no such limit.";
};

/// A stub that is final (section 5).
const FINAL: &[Clause] = clauses! {
    Stated "5" "is-final.boolean"
        "`isFinal`, if present, is true or false.";
    Interoperability "5" "is-final.data-served"
        "After a stub with `isFinal` true, a data request for the same operation is still answered with a result.";
    Interoperability "5" "is-final.signature"
        "The signature in a stub with `isFinal` true holds, also for other gas limits. Judged if the profile names contract and signer.";
    OnChain "5" "is-final.accepted"
        "The paymaster contract accepts a stub with `isFinal` true as it is, and with other gas limits.";
};

/// What is refused (sections 4 and 7).
const REFUSALS: &[Clause] = clauses! {
    Recommended "4" "refusal.early"
        "A stub request for an operation that the service does not sponsor is refused already.";
    Recommended "4" "refusal.of-data"
        "A data request for an operation that the service does not sponsor is refused.";
};

/// Where the text is silent, and what is only noted.
const OBSERVED: &[Clause] = clauses! {
    NotShown "2" "observed.id-forms"
        "How requests with null and with a fraction as `id` are answered.";
    NotShown "2" "observed.params-forms"
        "How requests with params by name, with three and with five params are answered.";
    NotShown "2" "observed.packed-members"
        "How an operation with the packed members `accountGasLimits` and `gasFees` is answered.";
    NotShown "2.3" "observed.context"
        "How requests with an unknown context member and with an unsupported token in the context are answered.";
    NotShown "8" "observed.foreign-chain"
        "Whether a request that names another chain is refused. The service of one chain may ignore the parameter.";
    NotShown "8" "observed.unknown-entry-point"
        "How a service of one EntryPoint answers a request for an unknown EntryPoint.";
    NotShown "8" "observed.chain-id-forms"
        "How a chain id as a decimal number or text is answered.";
    NotShown "3" "observed.limits-returned"
        "Which gas limits the results have. Two published clients need both, also in data.";
    NotShown "3" "observed.gas-limit-zeros"
        "Whether gas limits are written with leading zeros.";
    NotShown "3" "observed.extra-members"
        "Which members results have that the text does not list, `sponsor` in data included.";
    NotShown "6" "observed.node"
        "Why a node of the chain shows nothing of a result: it is of another chain, or the paymaster has no code there, for example.";
    NotShown "3.1" "observed.icon"
        "The media type of the icon. PNG, WebP and SVG are recommended.";
    NotShown "4" "observed.zero-bytes"
        "How many zero bytes stubs have more than data. One or two are chance where stubs are signed.";
    NotShown "4" "observed.paymaster-changes"
        "Whether stub and data name the same paymaster.";
    NotShown "5" "observed.is-final"
        "The value of `isFinal`.";
    NotShown "6" "observed.repeated-data"
        "Whether the same data request, sent twice, gets the same bytes, other bytes or an error.";
    NotShown "7" "observed.error-codes"
        "The codes of refusals, and the HTTP status of an answer with an error.";
    NotShown "7" "observed.error-texts"
        "Whether error messages contain a URL or the place of a line of code.";
    NotShown "6" "unshown.deposit"
        "Deposit and stake of the paymaster.",
        unjudged: "they belong to the contract and not to the answers of the service";
    NotShown "4" "unshown.stub-window"
        "The time window in a stub.",
        unjudged: "the text does not restrict it, and a simulation with it is lawful at any time";
    NotShown "1" "unshown.wallet"
        "What the wallet does: how it announces the capability, finds the URL and shows the icon.",
        unjudged: "nothing of it shows at the URL of a service";
};
