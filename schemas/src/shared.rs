//! What specifications share: the clauses of JSON-RPC and HTTP, and the documents of their parts.
//! Every specification has these under the same section numbers: 1 the service and its messages, 2.1 and 2.2 requests, 2.10 the envelope of
//! an answer, 7 errors.

use crate::{Clause, Document, clauses::clauses, documents::table};

/// The documents that specifications refer to.
pub const DOCUMENTS: &[Document] = table! {
    "shared";
    "address" "2.2"
    "hex-bytes" "2.2"
    "json-rpc-id" "2.1"
    "error-object" "7"
};

/// What every request may have.
pub const REQUESTS: &[Clause] = clauses! {
    Stated "1" "request.id-number"
        "A request with an integer up to 2^53 as `id`, 0 included, is served like the same request with a string.";
    Stated "1" "request.id-string"
        "A request with a string as `id`, up to 64 printable ASCII characters or the limit of the profile, is served like the same request with a number.";
    Interoperability "1" "request.headers"
        "The request headers of published HTTP clients do not change the answer: a missing `Accept`, `*/*`, a charset in `Content-Type`, `Accept-Encoding`, `Origin`.";
};

/// The form of an answer.
pub const RESPONSES: &[Clause] = clauses! {
    Stated "1" "answer.json-text"
        "The body of an answer is exactly one complete JSON text in UTF-8, without a byte order mark, trailing bytes or NaN.";
    Stated "1" "answer.http-message"
        "A served request gets a complete HTTP response: the body has the announced length, and the connection stays open until its end.";
    Stated "1" "answer.single-valued-members"
        "No member name occurs twice in one object of an answer with different values, because parsers would then read different answers.";
    Stated "1" "answer.object"
        "The answer to a single request is one JSON object.";
    Stated "1" "answer.result-or-error"
        "An answer has exactly one of `result` and `error`.";
    Stated "2.10" "answer.jsonrpc"
        "An answer has `jsonrpc`, with the version of its request.";
    Stated "2.10" "answer.id"
        "An answer has the `id` of its request: the same JSON type and the same value.";
    Stated "2.10" "answer.result-object"
        "The member `result` of an answer is an object.";
};

/// The form of an error.
pub const ERRORS: &[Clause] = clauses! {
    Stated "7" "error.object"
        "The member `error` of an answer is an object.";
    Stated "7" "error.code"
        "An error object has the member `code`, an integer.";
    Stated "7" "error.message"
        "An error object has the member `message`, a string.";
};

/// What JSON-RPC 2.0, or its use over HTTP, recommends beyond the specification. A broken one is a warning.
pub const JSON_RPC: &[Clause] = clauses! {
    JsonRpc "2.10" "json-rpc.large-ids"
        "An integer `id` above 2^53 is echoed exactly. JSON parsers with 64-bit floating-point numbers round such integers.";
    JsonRpc "7" "json-rpc.parse-error"
        "A request body that is not JSON is answered with the error code -32700.";
    JsonRpc "7" "json-rpc.invalid-request"
        "JSON that is not a request object is answered with the error code -32600. If only `params` has the wrong type (neither an array nor an object), -32602 is also correct.";
    JsonRpc "7" "json-rpc.method-not-found"
        "An unknown method is answered with the error code -32601.";
    JsonRpc "7" "json-rpc.invalid-params"
        "Parameters that break the request tables are answered with the error code -32602.";
    JsonRpc "7" "json-rpc.reserved-codes"
        "The predefined error codes -32700 (parse error) and -32601 (method not found) are not used for a request that is JSON and names a known method.";
    JsonRpc "1" "json-rpc.any-answer"
        "A request with an `id` that is refused is answered, and not left waiting.";
    JsonRpc "7" "json-rpc.null-id"
        "If the `id` of a request cannot be read, the error has the `id` null.";
    JsonRpc "1" "json-rpc.batch"
        "A batch is answered with an array that has one answer for each request of the batch, and an error for each element that is no request. The ids match; the order is free.";
    JsonRpc "1" "json-rpc.batch-elements"
        "Each request of a batch gets the same kind of answer that it gets alone: a result of its mode, or an error. It breaks no rule for single answers that the other one keeps.";
    JsonRpc "1" "json-rpc.empty-batch"
        "An empty batch is answered with one error answer, not with an array.";
    JsonRpc "1" "json-rpc.notification"
        "A notification (a request without `id`) gets no JSON-RPC answer, alone or in a batch.";
    JsonRpc "1" "json-rpc.unique-members"
        "No member name occurs twice in one object of an answer, not even with the same value.";
    JsonRpc "1" "http.status-of-result"
        "An answer with a result has the HTTP status 200.";
    JsonRpc "1" "http.content-type"
        "An answer has the content type `application/json`.";
    JsonRpc "1" "http.idle-connection"
        "A request on a connection that was idle is answered like the same request on a new connection, unless the server closed the connection before.";
};
