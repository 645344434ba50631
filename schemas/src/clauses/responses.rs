//! The clauses of the response envelope (section 2.10) and of the JSON-RPC form of an answer (section 1).

use super::Clause;

pub(super) const CLAUSES: &[Clause] = clauses! {
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
