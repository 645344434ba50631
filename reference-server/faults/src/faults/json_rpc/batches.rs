//! Faults of JSON-RPC beyond the form of one response: predefined codes, batches, notifications.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, remove, set, some_result};

const PARSE: &str = "json-rpc.parse-error";
const INVALID_REQUEST: &str = "json-rpc.invalid-request";
const METHOD: &str = "json-rpc.method-not-found";
const PARAMS: &str = "json-rpc.invalid-params";
const RESERVED: &str = "json-rpc.reserved-codes";
const NULL_ID: &str = "json-rpc.null-id";
const BATCH: &str = "json-rpc.batch";
const ELEMENTS: &str = "json-rpc.batch-elements";
const EMPTY: &str = "json-rpc.empty-batch";
const NOTIFICATION: &str = "json-rpc.notification";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        PARSE,
        "parse-error-internal",
        "returns the code of an internal error for bodies that are not JSON",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32700, -32603))),
    Fault::new(PARSE, "parse-error-own-code", "returns its own code for bodies that are not JSON")
        .injects(Behaviour::Error(|_, error| recode(error, -32700, -32000))),
    Fault::new(
        INVALID_REQUEST,
        "invalid-request-own-code",
        "returns its own code for JSON that is not a request",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32600, -32000)))
    .when(|view| !view.request.is_array()),
    Fault::new(
        INVALID_REQUEST,
        "invalid-request-internal",
        "returns the code of an internal error for JSON that is not a request",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32600, -32603)))
    .when(|view| !view.request.is_array()),
    Fault::new(METHOD, "method-not-found-own-code", "returns its own code for unknown methods")
        .injects(Behaviour::Error(|_, error| recode(error, -32601, -32000))),
    Fault::new(
        METHOD,
        "method-not-found-invalid-request",
        "returns the code of an invalid request for unknown methods",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32601, -32600))),
    Fault::new(PARAMS, "invalid-params-own-code", "returns its own code for wrong parameters")
        .injects(Behaviour::Error(|_, error| recode(error, -32602, -32000))),
    Fault::new(
        PARAMS,
        "invalid-params-internal",
        "returns the code of an internal error for wrong parameters",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32602, -32603))),
    Fault::new(
        RESERVED,
        "token-error-method-not-found",
        "returns the code of an unknown method for an unsupported token",
    )
    .injects(Behaviour::Error(|_, error| recode(error, -32002, -32601)))
    .also(&["endpoint.both-methods"])
    .depends_on("/params/1/tokenInfo/feeTokenAddress")
    .of_fee_quote(),
    Fault::new(RESERVED, "token-error-parse-error", "returns the code of a parse error for a missing token")
        .injects(Behaviour::Error(|_, error| recode(error, -32001, -32700)))
        .depends_on("/params/1/tokenInfo/feeTokenAddress")
        .of_fee_quote(),
    Fault::new(NULL_ID, "null-id-missing", "leaves the id out where it could not be read")
        .injects(Behaviour::Answer(|_, answer| remove(answer, "id")))
        .when(has_no_id),
    Fault::new(NULL_ID, "null-id-zero", "returns id 0 where it could not be read")
        .injects(Behaviour::Answer(|_, answer| set(answer, "id", 0)))
        .when(has_no_id),
    Fault::new(NULL_ID, "null-id-empty", "returns an empty id where it could not be read")
        .injects(Behaviour::Answer(|_, answer| set(answer, "id", "")))
        .when(has_no_id),
    Fault::new(BATCH, "batch-only-first", "answers only the first request of a batch")
        .injects(Behaviour::Reply(|_, answer| in_batch(answer, |answers| answers.truncate(1)))),
    Fault::new(BATCH, "batch-first-bare", "answers a batch with the answer to its first request").injects(
        Behaviour::Reply(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                *answer = answers.first().cloned();
            }
        }),
    ),
    Fault::new(BATCH, "batch-refused", "refuses batches").injects(Behaviour::Reply(|view, answer| {
        if is_full_batch(view) {
            *answer = Some(refusal());
        }
    })),
    Fault::new(BATCH, "batch-refused-in-array", "answers a batch with an array of one error")
        .injects(Behaviour::Reply(|view, answer| {
            if is_full_batch(view) {
                *answer = Some(Value::Array(vec![refusal()]));
            }
        }))
        .also(&["json-rpc.notification"]),
    Fault::new(BATCH, "batch-answers-repeated", "answers the last request of a batch twice")
        .injects(Behaviour::Reply(|_, answer| {
            in_batch(answer, |answers| answers.extend(answers.last().cloned()));
        }))
        .also(&["json-rpc.notification"]),
    Fault::new(BATCH, "batch-without-last", "does not answer the last request of a batch")
        .injects(Behaviour::Reply(|_, answer| in_batch(answer, |answers| drop(answers.pop())))),
    Fault::new(BATCH, "batch-cut-at-eight", "answers only the first eight requests of a batch")
        .injects(Behaviour::Reply(|_, answer| in_batch(answer, |answers| answers.truncate(8)))),
    Fault::new(BATCH, "batch-without-errors", "leaves errors out of the answer to a batch").injects(
        Behaviour::Reply(|_, answer| {
            in_batch(answer, |answers| answers.retain(|answer| answer.get("error").is_none()));
        }),
    ),
    Fault::new(
        BATCH,
        "batch-ids-as-text",
        "answers only the first of several requests in a batch whose ids have the same text",
    )
    .injects(Behaviour::Reply(|_, answer| {
        if let Some(Value::Array(answers)) = answer {
            let mut seen = HashSet::new();
            answers.retain(|answer| seen.insert(answer["id"].to_string().replace('"', "")));
        }
    })),
    Fault::new(
        ELEMENTS,
        "batch-fails-as-a-whole",
        "answers every request of a batch with an error when one of them is an error",
    )
    .injects(Behaviour::Reply(|_, answer| {
        let Some(Value::Array(answers)) = answer else {
            return;
        };
        let Some(error) = answers.iter().find_map(|answer| answer.get("error")).cloned() else {
            return;
        };
        for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
            remove(answer, "result");
            set(answer, "error", error.clone());
        }
    })),
    Fault::new(
        ELEMENTS,
        "batch-result-of-first",
        "answers every request of a batch with the result of the first",
    )
    .injects(Behaviour::Reply(|_, answer| {
        let Some(Value::Array(answers)) = answer else {
            return;
        };
        let Some(first) = answers.first().and_then(|answer| answer.get("result")).cloned() else {
            return;
        };
        for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(result) = answer.get_mut("result") {
                *result = first.clone();
            }
        }
    }))
    .of_fee_quote(),
    Fault::new(EMPTY, "empty-batch-array", "answers an empty batch with an empty array").injects(
        Behaviour::Reply(|view, answer| {
            if is_empty_batch(view) {
                *answer = Some(json!([]));
            }
        }),
    ),
    Fault::new(EMPTY, "empty-batch-error-in-array", "puts the error for an empty batch into an array")
        .injects(Behaviour::Reply(|view, answer| {
            if is_empty_batch(view) {
                *answer = answer.take().map(|answer| Value::Array(vec![answer]));
            }
        })),
    Fault::new(EMPTY, "empty-batch-silent", "does not answer an empty batch").injects(Behaviour::Reply(
        |view, answer| {
            if is_empty_batch(view) {
                *answer = None;
            }
        },
    )),
    Fault::new(NOTIFICATION, "notification-answered", "answers notifications with id null")
        .injects(Behaviour::Reply(|view, answer| {
            if answer.is_none() && view.request.is_object() {
                *answer = Some(notification_answer());
            }
        }))
        .depends_on("/id"),
    Fault::new(NOTIFICATION, "notification-refused", "answers notifications with an error")
        .injects(Behaviour::Reply(|view, answer| {
            if answer.is_none() && view.request.is_object() {
                *answer = Some(refusal());
            }
        }))
        .depends_on("/id"),
    Fault::new(NOTIFICATION, "notification-answered-in-batch", "answers notifications within a batch")
        .injects(Behaviour::Reply(|view, answer| {
            let Value::Array(requests) = view.request else {
                return;
            };
            let notifications = requests.iter().filter(|request| is_notification(request)).count();
            if let Some(Value::Array(answers)) = answer {
                answers.extend((0..notifications).map(|_| notification_answer()));
            }
        }))
        .also(&[BATCH]),
];

fn in_batch(reply: &mut Option<Value>, change: impl FnOnce(&mut Vec<Value>)) {
    if let Some(Value::Array(answers)) = reply {
        change(answers);
    }
}

fn recode(error: &mut Map<String, Value>, from: i32, to: i32) {
    if error.get("code").is_some_and(|code| *code == from) {
        set(error, "code", to);
    }
}

/// Whether the request has no id that the response could repeat.
fn has_no_id(view: &RequestView<'_>) -> bool {
    !view.id().is_string() && !view.id().is_number()
}

fn is_notification(request: &Value) -> bool {
    request.is_object() && request.get("id").is_none() && request.get("method").is_some()
}

fn is_full_batch(view: &RequestView<'_>) -> bool {
    view.request.as_array().is_some_and(|batch| !batch.is_empty())
}

fn is_empty_batch(view: &RequestView<'_>) -> bool {
    view.request.as_array().is_some_and(Vec::is_empty)
}

fn refusal() -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "invalid request" } })
}

/// A response to a notification, correct except that there must be none.
fn notification_answer() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": null,
        "result": some_result("SPONSORED", "0x") })
}
