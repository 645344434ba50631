//! Faults of what is refused, and of the form of a refusal.

use serde_json::{Map, Value, json};

use super::requests::creates_account;
use crate::faults::Fault;
use crate::injection::{NO_CONTRACT, change, remove, set, text_of};

const EARLY: &str = "refusal.early";
const OF_DATA: &str = "refusal.of-data";
/// What an answer breaks too that is no refusal.
const NOT_REFUSED: &[&str] = &["refusal.*", "entry-point.*", "json-rpc.*"];

/// A fault of the answers to calls, of which the change follows.
const fn answered(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).when(|view| view.is_paymaster_call())
}

pub(crate) const FAULTS: &[Fault] = &[
    served(EARLY, "denied-stub-served", "serves the stub of a sender whose data it refuses")
        .when(|view| view.is_stub() && view.is_denied()),
    served(OF_DATA, "denied-data-served", "serves the data of a sender whose stub it refuses")
        .when(|view| view.is_data() && view.is_denied()),
    served(OF_DATA, "denied-checksum-served", "serves the data of a refused sender with a checksum").when(
        |view| {
            let sender = view.text("sender");
            view.is_data() && view.is_denied() && *sender != sender.to_lowercase()
        },
    ),
    served(OF_DATA, "denied-new-account-served", "serves the data of a refused sender that is to be created")
        .when(|view| view.is_data() && view.is_denied() && creates_account(view)),
    served(
        OF_DATA,
        "denied-delegate-served",
        "serves the data of a refused sender that delegates by EIP-7702",
    )
    .when(|view| view.is_data() && view.is_denied() && view.operation()["eip7702Auth"].is_object()),
    served(
        OF_DATA,
        "denied-null-context-served",
        "serves the data of a refused sender where the context is null",
    )
    .when(|view| view.is_data() && view.is_denied() && view.context().is_null()),
    answered("result.paymaster-and-data", "refusal-as-empty-data", "answers 0x instead of a refusal")
        .on_answer(|_, answer| refuse_with(answer, &json!({ "paymasterAndData": "0x" })))
        .when(|view| view.is_paymaster_call() && view.is_denied())
        .also(&[
            "refusal.*",
            "stub.members-07",
            "data.*",
            "stub.post-op-gas-07",
            "stub.post-op-gas-08",
            "stub.members-06",
            "data.members-06",
        ]),
    answered("error.object", "refusal-without-envelope", "refuses by an object with a text and nothing else")
        .on_answer(|_, answer| {
            if let Some(error) = answer.get("error").map(|error| error["message"].clone()) {
                *answer = Map::from_iter([("error".to_owned(), error)]);
            }
        })
        .also(&["answer.*", "error.*", "json-rpc.*"]),
    answered("answer.result-object", "refusal-as-result-null", "refuses by a result that is null")
        .on_answer(|_, answer| refuse_with(answer, &Value::Null))
        .also(NOT_REFUSED),
    answered("stub.members-07", "refusal-as-result", "refuses by a result with an error in it")
        .on_answer(|_, answer| {
            if let Some(error) = answer.get("error").cloned() {
                refuse_with(answer, &json!({ "error": error }));
            }
        })
        .also(&[
            "stub.members-06",
            "data.*",
            "stub.post-op-gas-07",
            "stub.post-op-gas-08",
            "refusal.*",
            "entry-point.*",
            "json-rpc.*",
        ]),
    answered("answer.result-or-error", "error-null-beside-result", "writes error: null beside every result")
        .on_answer(|_, answer| {
            if answer.contains_key("result") {
                set(answer, "error", Value::Null);
            }
        })
        .also(&["error.object"]),
    answered("error.code", "refusal-code-text", "the code of a refusal is a text")
        .on_answer(|_, answer| {
            change(answer, "error", |error| {
                let mut error = error.clone();
                error["code"] = text_of(&error["code"]).into();
                error
            });
        })
        .also(&["json-rpc.*"]),
    answered("answer.id", "denied-text-id-null", "returns id null to a refused sender whose id is a text")
        .on_answer(|_, answer| set(answer, "id", Value::Null))
        .when_at("/id", |view| view.is_paymaster_call() && view.is_denied() && view.id_string().is_some()),
    answered("error.message", "refusal-without-message", "leaves the message out of refusals")
        .on_answer(|_, answer| change(answer, "error", |error| json!({ "code": error["code"] }))),
    answered("json-rpc.reserved-codes", "denied-as-unknown-method", "refuses senders as an unknown method")
        .on_answer(|_, answer| {
            change(answer, "error", |error| json!({ "code": -32601, "message": error["message"] }));
        })
        .when(|view| view.is_paymaster_call() && view.is_denied())
        .also(&["endpoint.stub-and-data"]),
];

/// A fault that serves a sender which must be refused, of which the condition follows.
const fn served(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about)
        .on_request(|_, request| request["params"][0]["sender"] = NO_CONTRACT.into())
}

/// Puts this result in the place of an error.
fn refuse_with(answer: &mut Map<String, Value>, result: &Value) {
    if answer.contains_key("error") {
        remove(answer, "error");
        set(answer, "result", result.clone());
    }
}
