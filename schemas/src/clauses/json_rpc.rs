//! What JSON-RPC 2.0, or its use over HTTP, recommends beyond what the specification asks. Breaking one of these warns.

use super::{Basis::JsonRpc, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        JsonRpc,
        "7",
        "json-rpc.parse-error",
        "A body that is not JSON gets an error with the code -32700.",
    ),
    clause(
        JsonRpc,
        "7",
        "json-rpc.invalid-request",
        "JSON that is no request object gets an error with the code -32600 (or -32602, where only its params are neither an array nor an object).",
    ),
    clause(
        JsonRpc,
        "7",
        "json-rpc.method-not-found",
        "An unknown method gets an error with the code -32601.",
    ),
    clause(
        JsonRpc,
        "7",
        "json-rpc.invalid-params",
        "Parameters of the wrong shape get an error with the code -32602.",
    ),
    clause(
        JsonRpc,
        "7",
        "json-rpc.reserved-codes",
        "The predefined codes -32700 and -32601 are used only for what they mean: not for a request that is JSON and names a known method.",
    ),
    clause(
        JsonRpc,
        "7",
        "json-rpc.null-id",
        "Where the id of a request could not be read, the error carries the id null.",
    ),
    clause(
        JsonRpc,
        "1",
        "json-rpc.batch",
        "A batch is answered with an array that holds one answer for each request, matched by id in any order.",
    ),
    clause(
        JsonRpc,
        "1",
        "json-rpc.batch-elements",
        "Each call of a batch gets the sort of answer that it gets alone: a result of its mode, or an error.",
    ),
    clause(
        JsonRpc,
        "1",
        "json-rpc.empty-batch",
        "An empty batch is answered with one error object, not with an array.",
    ),
    clause(
        JsonRpc,
        "1",
        "json-rpc.notification",
        "A request without an id gets no JSON-RPC answer, alone or in a batch.",
    ),
    clause(
        JsonRpc,
        "1",
        "json-rpc.unique-members",
        "No member of an answer stands twice, not even with the same value.",
    ),
    clause(
        JsonRpc,
        "1",
        "http.status-of-result",
        "An answer with a result comes with an HTTP status of 200.",
    ),
    clause(
        JsonRpc,
        "1",
        "http.content-type",
        "An answer comes with the content type application/json.",
    ),
];
