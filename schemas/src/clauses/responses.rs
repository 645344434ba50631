//! The response envelope (section 2.10) and the form of a JSON-RPC answer that section 1 asks for.

use super::{Basis::Stated, Clause, clause};

pub(super) const CLAUSES: &[Clause] = &[
    clause(
        Stated,
        "1",
        "answer.json-text",
        "The body of an answer is one complete JSON text in UTF-8: no byte order mark, nothing behind it, no NaN.",
    ),
    clause(
        Stated,
        "1",
        "answer.http-message",
        "A request that is served gets a complete HTTP response: its length as announced, the connection kept until its end.",
    ),
    clause(
        Stated,
        "1",
        "answer.single-valued-members",
        "No member of an answer stands twice with different values: what it says does not depend on the reader's parser.",
    ),
    clause(
        Stated,
        "1",
        "answer.object",
        "The answer to one request is one JSON object.",
    ),
    clause(
        Stated,
        "1",
        "answer.result-or-error",
        "An answer carries either result or error, never both and never neither.",
    ),
    clause(
        Stated,
        "2.10",
        "answer.jsonrpc",
        "An answer carries jsonrpc and echoes the version of the request.",
    ),
    clause(
        Stated,
        "2.10",
        "answer.id",
        "An answer echoes the id of its request, the same kind and the same value.",
    ),
    clause(
        Stated,
        "2.10",
        "answer.result-object",
        "The result of an answer is an object.",
    ),
];
