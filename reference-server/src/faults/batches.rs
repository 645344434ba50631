//! What JSON-RPC asks for beyond the form of one answer: predefined codes, batches, notifications.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::Fault;
use crate::deviations::{Act, Asked};

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

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        PARSE,
        "parse-error-internal",
        "gives bodies that are not JSON the code of an internal error",
        Act::Error(|_, error| {
            recode(error, -32700, -32603);
        }),
    ),
    Fault::of(
        PARSE,
        "parse-error-own-code",
        "gives bodies that are not JSON a code of its own",
        Act::Error(|_, error| {
            recode(error, -32700, -32000);
        }),
    ),
    Fault::of(
        INVALID_REQUEST,
        "invalid-request-own-code",
        "gives JSON that is no request a code of its own",
        Act::Error(|_, error| {
            recode(error, -32600, -32000);
        }),
    )
    .when(|asked| !asked.request.is_array()),
    Fault::of(
        INVALID_REQUEST,
        "invalid-request-internal",
        "gives JSON that is no request the code of an internal error",
        Act::Error(|_, error| {
            recode(error, -32600, -32603);
        }),
    )
    .when(|asked| !asked.request.is_array()),
    Fault::of(
        METHOD,
        "method-not-found-own-code",
        "gives unknown methods a code of its own",
        Act::Error(|_, error| {
            recode(error, -32601, -32000);
        }),
    ),
    Fault::of(
        METHOD,
        "method-not-found-invalid-request",
        "gives unknown methods the code of an invalid request",
        Act::Error(|_, error| {
            recode(error, -32601, -32600);
        }),
    ),
    Fault::of(
        PARAMS,
        "invalid-params-own-code",
        "gives wrong parameters a code of its own",
        Act::Error(|_, error| {
            recode(error, -32602, -32000);
        }),
    ),
    Fault::of(
        PARAMS,
        "invalid-params-internal",
        "gives wrong parameters the code of an internal error",
        Act::Error(|_, error| {
            recode(error, -32602, -32603);
        }),
    ),
    Fault::of(
        RESERVED,
        "token-error-method-not-found",
        "gives an unsupported token the code of an unknown method",
        Act::Error(|_, error| {
            recode(error, -32002, -32601);
        }),
    )
    .also(&["endpoint.both-methods"]),
    Fault::of(
        RESERVED,
        "token-error-parse-error",
        "gives an absent token the code of a parse error",
        Act::Error(|_, error| {
            recode(error, -32001, -32700);
        }),
    ),
    Fault::of(
        NULL_ID,
        "null-id-missing",
        "leaves the id out where it could not be read",
        Act::Answer(|_, answer| {
            answer.shift_remove("id");
        }),
    )
    .when(is_unread),
    Fault::of(
        NULL_ID,
        "null-id-zero",
        "says id 0 where it could not be read",
        Act::Answer(|_, answer| {
            answer.insert("id".to_owned(), 0.into());
        }),
    )
    .when(is_unread),
    Fault::of(
        NULL_ID,
        "null-id-empty",
        "says an empty id where it could not be read",
        Act::Answer(|_, answer| {
            answer.insert("id".to_owned(), "".into());
        }),
    )
    .when(is_unread),
    Fault::of(
        BATCH,
        "batch-only-first",
        "answers only the first request of a batch",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                answers.truncate(1);
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-first-bare",
        "answers a batch with the answer to its first request",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                *answer = answers.first().cloned();
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-refused",
        "refuses batches",
        Act::Whole(|asked, answer| {
            if is_full_batch(asked) {
                *answer = Some(refusal());
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-refused-in-array",
        "answers a batch with an array of one error",
        Act::Whole(|asked, answer| {
            if is_full_batch(asked) {
                *answer = Some(Value::Array(vec![refusal()]));
            }
        }),
    )
    .also(&["json-rpc.notification"]),
    Fault::of(
        BATCH,
        "batch-answers-repeated",
        "answers the last request of a batch twice",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                answers.extend(answers.last().cloned());
            }
        }),
    )
    .also(&["json-rpc.notification"]),
    Fault::of(
        BATCH,
        "batch-without-last",
        "does not answer the last request of a batch",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                answers.pop();
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-cut-at-eight",
        "answers only the first eight requests of a batch",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                answers.truncate(8);
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-without-errors",
        "leaves errors out of the answer to a batch",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                answers.retain(|answer| answer.get("error").is_none());
            }
        }),
    ),
    Fault::of(
        BATCH,
        "batch-ids-as-text",
        "answers requests of a batch only once whose ids read the same",
        Act::Whole(|_, answer| {
            if let Some(Value::Array(answers)) = answer {
                let mut seen = HashSet::new();
                answers.retain(|answer| seen.insert(answer["id"].to_string().replace('"', "")));
            }
        }),
    ),
    Fault::of(
        ELEMENTS,
        "batch-fails-as-a-whole",
        "answers every request of a batch with an error when one of them is an error",
        Act::Whole(|_, answer| {
            let Some(Value::Array(answers)) = answer else {
                return;
            };
            let Some(error) = answers.iter().find_map(|answer| answer.get("error")).cloned() else {
                return;
            };
            for answer in answers.iter_mut().filter_map(Value::as_object_mut) {
                answer.shift_remove("result");
                answer.insert("error".to_owned(), error.clone());
            }
        }),
    ),
    Fault::of(
        ELEMENTS,
        "batch-result-of-first",
        "answers every request of a batch with the result of the first",
        Act::Whole(|_, answer| {
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
        }),
    ),
    Fault::of(
        EMPTY,
        "empty-batch-array",
        "answers an empty batch with an empty array",
        Act::Whole(|asked, answer| {
            if is_empty_batch(asked) {
                *answer = Some(json!([]));
            }
        }),
    ),
    Fault::of(
        EMPTY,
        "empty-batch-error-in-array",
        "puts the error for an empty batch into an array",
        Act::Whole(|asked, answer| {
            if is_empty_batch(asked) {
                *answer = answer.take().map(|answer| Value::Array(vec![answer]));
            }
        }),
    ),
    Fault::of(
        EMPTY,
        "empty-batch-silent",
        "does not answer an empty batch",
        Act::Whole(|asked, answer| {
            if is_empty_batch(asked) {
                *answer = None;
            }
        }),
    ),
    Fault::of(
        NOTIFICATION,
        "notification-answered",
        "answers notifications with id null",
        Act::Whole(|asked, answer| {
            if answer.is_none() && asked.request.is_object() {
                *answer = Some(unasked_answer());
            }
        }),
    ),
    Fault::of(
        NOTIFICATION,
        "notification-refused",
        "answers notifications with an error",
        Act::Whole(|asked, answer| {
            if answer.is_none() && asked.request.is_object() {
                *answer = Some(refusal());
            }
        }),
    ),
    Fault::of(
        NOTIFICATION,
        "notification-answered-in-batch",
        "answers notifications within a batch",
        Act::Whole(|asked, answer| {
            let Value::Array(requests) = asked.request else {
                return;
            };
            let notifications = requests.iter().filter(|request| is_notification(request)).count();
            if let Some(Value::Array(answers)) = answer {
                answers.extend((0..notifications).map(|_| unasked_answer()));
            }
        }),
    )
    .also(&[BATCH]),
];

fn recode(error: &mut Map<String, Value>, from: i32, to: i32) {
    if error.get("code").is_some_and(|code| *code == from) {
        error.insert("code".to_owned(), to.into());
    }
}

/// Whether the request has no id that could be echoed.
fn is_unread(asked: &Asked<'_>) -> bool {
    !asked.id().is_string() && !asked.id().is_number()
}

fn is_notification(request: &Value) -> bool {
    request.is_object() && request.get("id").is_none() && request.get("method").is_some()
}

fn is_full_batch(asked: &Asked<'_>) -> bool {
    asked.request.as_array().is_some_and(|batch| !batch.is_empty())
}

fn is_empty_batch(asked: &Asked<'_>) -> bool {
    asked.request.as_array().is_some_and(Vec::is_empty)
}

fn refusal() -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "invalid request" } })
}

/// An answer to a notification, right in everything but that it is there.
fn unasked_answer() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": null,
        "result": {
            "MODE": "SPONSORED",
            "mode": "SPONSORED",
            "paymasterAndData": "0x",
            "preVerificationGas": "45000",
            "verificationGasLimit": 120_000,
            "callGasLimit": 60_000,
        },
    })
}
