//! Faults of JSON-RPC beyond the form of one response: predefined codes, batches, notifications.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::faults::{FEE_TOKEN, Fault, fault};
use crate::injection::{RequestView, remove, set, some_result};

const PARSE: Fault = Fault::breaking("json-rpc.parse-error");
const INVALID_REQUEST: Fault =
    Fault::breaking("json-rpc.invalid-request").when(|view| !view.request.is_array());
const METHOD: Fault = Fault::breaking("json-rpc.method-not-found");
const PARAMS: Fault = Fault::breaking("json-rpc.invalid-params");
const RESERVED: Fault = Fault::breaking("json-rpc.reserved-codes").depends_on(FEE_TOKEN).of_fee_quote();
const NULL_ID: Fault = Fault::breaking("json-rpc.null-id").when(has_no_id);
const BATCH: Fault = Fault::breaking("json-rpc.batch");
const ELEMENTS: Fault = Fault::breaking("json-rpc.batch-elements");
const EMPTY: Fault =
    Fault::breaking("json-rpc.empty-batch").among(|view| has_elements(view, |count| count == 0));
const NOTIFICATION: Fault = Fault::breaking("json-rpc.notification");
const SINGLE_NOTIFICATION: Fault = NOTIFICATION.among(|view| view.request.is_object()).depends_on("/id");

pub(crate) const FAULTS: &[Fault] = &[
    fault(PARSE, "parse-error-internal", "returns the code of an internal error for a body that is not JSON")
        .on_error(|_, error| recode(error, -32700, -32603)),
    fault(PARSE, "parse-error-own-code", "returns its own code for bodies that are not JSON")
        .on_error(|_, error| recode(error, -32700, -32000)),
    fault(INVALID_REQUEST, "invalid-request-own-code", "returns its own code for JSON that is not a request")
        .on_error(|_, error| recode(error, -32600, -32000)),
    fault(INVALID_REQUEST, "invalid-request-internal", "calls JSON that is no request an internal error")
        .on_error(|_, error| recode(error, -32600, -32603)),
    fault(METHOD, "method-not-found-own-code", "returns its own code for unknown methods")
        .on_error(|_, error| recode(error, -32601, -32000)),
    fault(METHOD, "method-not-found-invalid-request", "calls an unknown method an invalid request")
        .on_error(|_, error| recode(error, -32601, -32600)),
    fault(PARAMS, "invalid-params-own-code", "returns its own code for wrong parameters")
        .on_error(|_, error| recode(error, -32602, -32000)),
    fault(PARAMS, "invalid-params-internal", "returns the code of an internal error for wrong parameters")
        .on_error(|_, error| recode(error, -32602, -32603)),
    fault(RESERVED, "token-error-method-not-found", "calls an unsupported token an unknown method")
        .on_error(|_, error| recode(error, -32002, -32601))
        .also(&["endpoint.both-methods"]),
    fault(RESERVED, "token-error-parse-error", "returns the code of a parse error for a missing token")
        .on_error(|_, error| recode(error, -32001, -32700)),
    fault(NULL_ID, "null-id-missing", "leaves the id out where it could not be read")
        .on_answer(|_, answer| remove(answer, "id")),
    fault(NULL_ID, "null-id-zero", "returns id 0 where it could not be read")
        .on_answer(|_, answer| set(answer, "id", 0)),
    fault(NULL_ID, "null-id-empty", "returns an empty id where it could not be read")
        .on_answer(|_, answer| set(answer, "id", "")),
    fault(BATCH, "batch-only-first", "answers only the first request of a batch")
        .on_batch(|_, answers| answers.truncate(1)),
    fault(BATCH, "batch-first-bare", "answers a batch with the answer to its first request")
        .on_reply(first_alone),
    fault(BATCH, "batch-of-one-bare", "answers a batch of one request with its answer alone")
        .among(|view| has_elements(view, |count| count == 1))
        .on_reply(first_alone),
    fault(BATCH, "batch-refused", "refuses batches")
        .among(|view| has_elements(view, |count| count > 0))
        .on_reply(|_, answer| *answer = Some(refusal())),
    fault(BATCH, "batch-refused-for-one-element", "refuses a batch as a whole when an element is no request")
        .among(|view| view.request.as_array().into_iter().flatten().any(|element| !element.is_object()))
        .on_reply(|_, answer| *answer = Some(refusal())),
    fault(BATCH, "batch-refused-in-array", "answers a batch with an array of one error")
        .among(|view| has_elements(view, |count| count > 0))
        .on_reply(|_, answer| *answer = Some(Value::Array(vec![refusal()])))
        .also(&["json-rpc.notification"]),
    fault(BATCH, "batch-answers-repeated", "answers the last request of a batch twice")
        .on_batch(|_, answers| answers.extend(answers.last().cloned()))
        .also(&["json-rpc.notification", "data.differs"]),
    fault(BATCH, "batch-without-last", "does not answer the last request of a batch")
        .on_batch(|_, answers| drop(answers.pop())),
    fault(BATCH, "batch-cut-at-eight", "answers only the first eight requests of a batch")
        .on_batch(|_, answers| answers.truncate(8)),
    fault(BATCH, "batch-without-errors", "leaves errors out of the answer to a batch")
        .on_batch(|_, answers| answers.retain(|answer| answer.get("error").is_none()))
        .depends_on("/*/method"),
    fault(BATCH, "batch-ids-as-text", "answers the first of several requests whose ids have the same text")
        .on_batch(|_, answers| {
            let mut seen = HashSet::new();
            answers.retain(|answer| seen.insert(answer["id"].to_string().replace('"', "")));
        })
        .depends_on("/*/id"),
    fault(ELEMENTS, "batch-fails-as-a-whole", "answers a batch with errors when one answer is an error")
        .on_batch(|_, answers| {
            if let Some(error) = answers.iter().find_map(|answer| answer.get("error")).cloned() {
                for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
                    remove(answer, "result");
                    set(answer, "error", error.clone());
                }
            }
        }),
    fault(ELEMENTS, "batch-answers-without-jsonrpc", "leaves jsonrpc out of the answers of a batch")
        .on_batch(|_, answers| {
            answers.iter_mut().filter_map(Value::as_object_mut).for_each(|answer| remove(answer, "jsonrpc"));
        }),
    fault(ELEMENTS, "batch-result-of-first", "answers every request of a batch with the result of the first")
        .on_batch(|_, answers| {
            if let Some(first) = answers.first().and_then(|answer| answer.get("result")).cloned() {
                let results = answers.iter_mut().filter_map(|answer| answer.get_mut("result"));
                results.for_each(|result| result.clone_from(&first));
            }
        })
        .of_fee_quote(),
    fault(
        ELEMENTS,
        "refused-granted-in-batches",
        "grants what it refuses where it granted another call of a batch",
    )
    .on_batch(|_, answers| {
        let is_refused = |result: &Value| result["paymasterAndData"] == "0x";
        let mut results = answers.iter().filter_map(|answer| answer.get("result"));
        let Some(granted) = results.find(|result| !is_refused(result)).cloned() else { return };
        for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
            let is_denied = answer.get("error").is_some_and(|error| !is_predefined(&error["code"]));
            if is_denied || answer.get("result").is_some_and(is_refused) {
                remove(answer, "error");
                set(answer, "result", granted.clone());
            }
        }
    })
    .depends_on_others(),
    fault(EMPTY, "empty-batch-array", "answers an empty batch with an empty array")
        .on_reply(|_, answer| *answer = Some(json!([]))),
    fault(EMPTY, "empty-batch-error-in-array", "puts the error for an empty batch into an array")
        .on_reply(|_, answer| *answer = answer.take().map(|answer| Value::Array(vec![answer]))),
    fault(EMPTY, "empty-batch-silent", "does not answer an empty batch").on_reply(|_, answer| *answer = None),
    fault(SINGLE_NOTIFICATION, "notification-answered", "answers notifications with id null")
        .on_reply(|_, answer| *answer = answer.take().or_else(|| Some(notification_answer()))),
    fault(SINGLE_NOTIFICATION, "notification-refused", "answers notifications with an error")
        .on_reply(|_, answer| *answer = answer.take().or_else(|| Some(refusal()))),
    fault(NOTIFICATION, "notification-answered-in-batch", "answers notifications within a batch")
        .on_batch(|view, answers| {
            let requests = view.request.as_array().into_iter().flatten();
            let notifications = requests.filter(|request| is_notification(request));
            answers.extend(notifications.map(|_| notification_answer()));
        })
        .also(&[BATCH.clause]),
];

/// Answers a batch with the first of its answers.
fn first_alone(_: &RequestView<'_>, reply: &mut Option<Value>) {
    if let Some(Value::Array(answers)) = reply {
        *reply = answers.first().cloned();
    }
}

/// Whether JSON-RPC defines a code.
fn is_predefined(code: &Value) -> bool {
    code.as_i64().is_some_and(|code| (-32_700..-32_099).contains(&code))
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

/// Whether the request is a batch with such a number of elements.
fn has_elements(view: &RequestView<'_>, is_such: fn(usize) -> bool) -> bool {
    view.request.as_array().is_some_and(|batch| is_such(batch.len()))
}

fn refusal() -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "invalid request" } })
}

/// A response to a notification, correct except that there must be none.
fn notification_answer() -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "result": some_result("SPONSORED", "0x") })
}
