//! Faults of the response envelope (sections 1 and 2.10).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::injection::Behaviour;

const OBJECT: &str = "answer.object";
const EITHER: &str = "answer.result-or-error";
const NO_RESULT_BESIDE_ERROR: &str = "interoperability.no-result-beside-error";
const VERSION: &str = "answer.jsonrpc";
const RESULT: &str = "answer.result-object";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        OBJECT,
        "answer-in-array",
        "puts the answer into an array",
        Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|answer| Value::Array(vec![answer]));
        }),
    )
    .when(|view| view.is_call()),
    Fault::new(
        OBJECT,
        "answer-as-text",
        "puts the answer to a quote into a JSON string",
        Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|answer| answer.to_string().into());
        }),
    )
    .when(|view| view.is_quote()),
    Fault::new(
        OBJECT,
        "answer-null",
        "answers quotes with null",
        Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|_| Value::Null);
        }),
    )
    .when(|view| view.is_quote()),
    Fault::new(
        OBJECT,
        "answer-true-now-and-then",
        "answers true in 1 of 25 answers",
        Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|_| true.into());
        }),
    )
    .when(|view| view.is_call() && view.is_one_in_25()),
    Fault::new(
        EITHER,
        "result-and-error",
        "adds an error to every result of sponsoring in token mode",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("result") {
                answer.insert("error".to_owned(), json!({ "code": 0, "message": "no error" }));
            }
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&["sponsor.erc20-result", NO_RESULT_BESIDE_ERROR]),
    Fault::new(
        EITHER,
        "result-and-null-error",
        "adds error null to every result",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("result") {
                answer.insert("error".to_owned(), Value::Null);
            }
        }),
    ),
    Fault::new(
        EITHER,
        "error-and-null-result",
        "adds result null to every error",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.insert("result".to_owned(), Value::Null);
            }
        }),
    )
    .also(&[NO_RESULT_BESIDE_ERROR]),
    Fault::new(
        NO_RESULT_BESIDE_ERROR,
        "error-and-null-result-for-tokens",
        "adds result null to every error of sponsoring in token mode",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.insert("result".to_owned(), Value::Null);
            }
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&[EITHER]),
    Fault::new(
        EITHER,
        "error-and-result",
        "adds a result to every error of sponsoring in token mode",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                let result = json!({
                    "MODE": "ERC20",
                    "mode": "ERC20",
                    "paymasterAndData": "0x6d1a5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e",
                    "preVerificationGas": "45000",
                    "verificationGasLimit": 120_000,
                    "callGasLimit": 60_000,
                });
                answer.insert("result".to_owned(), result);
            }
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&[NO_RESULT_BESIDE_ERROR]),
    Fault::new(
        EITHER,
        "neither-result-nor-error",
        "leaves the error out when a token is missing or not supported",
        Behaviour::Answer(|_, answer| {
            answer.shift_remove("error");
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&["error.token-absent", "error.token-unsupported"]),
    Fault::new(
        EITHER,
        "result-under-another-name",
        "names the result of a quote in sponsored mode `data`",
        Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.shift_remove("result") {
                answer.insert("data".to_owned(), result);
            }
        }),
    )
    .when(|view| view.is(Pair::QUOTE_SPONSORED))
    .also(&["quote.sponsored-result"]),
    Fault::new(
        VERSION,
        "jsonrpc-missing",
        "leaves jsonrpc out",
        Behaviour::Answer(|_, answer| {
            answer.shift_remove("jsonrpc");
        }),
    ),
    Fault::new(
        VERSION,
        "jsonrpc-missing-in-errors",
        "leaves jsonrpc out of errors",
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.shift_remove("jsonrpc");
            }
        }),
    ),
    Fault::new(
        VERSION,
        "jsonrpc-number",
        "jsonrpc is a number",
        Behaviour::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), crate::injection::json("2.0"));
        }),
    ),
    Fault::new(
        VERSION,
        "jsonrpc-one",
        "jsonrpc is 1.0",
        Behaviour::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), "1.0".into());
        }),
    ),
    Fault::new(
        VERSION,
        "jsonrpc-null-in-token-mode",
        "jsonrpc is null in token mode",
        Behaviour::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), Value::Null);
        }),
    )
    .when(|view| view.is_token_mode()),
    Fault::new(
        VERSION,
        "jsonrpc-not-echoed",
        "jsonrpc is 2.0.0 when the request has 2.0",
        Behaviour::Answer(|view, answer| {
            if view.request["jsonrpc"] == "2.0" {
                answer.insert("jsonrpc".to_owned(), "2.0.0".into());
            }
        }),
    )
    .depends_on("/jsonrpc"),
    Fault::new(
        RESULT,
        "result-as-text",
        "puts the result into a JSON string",
        Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = result.to_string().into();
            }
        }),
    )
    .also(RESULTS),
    Fault::new(
        RESULT,
        "result-in-array",
        "puts the result into an array",
        Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = Value::Array(vec![result.take()]);
            }
        }),
    )
    .also(RESULTS),
    Fault::new(
        RESULT,
        "result-null",
        "result is null",
        Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = Value::Null;
            }
        }),
    )
    .also(RESULTS),
    Fault::new(
        RESULT,
        "result-bare-data",
        "result is the paymasterAndData alone",
        Behaviour::Answer(|_, answer| {
            let data = answer.get("result").and_then(|result| result.get("paymasterAndData")).cloned();
            if let Some(data) = data {
                answer.insert("result".to_owned(), data);
            }
        }),
    )
    .also(RESULTS),
    Fault::new(
        RESULT,
        "result-true-now-and-then",
        "result is true in 1 of 25 answers",
        Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = true.into();
            }
        }),
    )
    .when(|view| view.is_call() && view.is_one_in_25())
    .also(RESULTS),
];

/// The clauses that a result other than an object breaks.
const RESULTS: &[&str] =
    &["quote.sponsored-result", "quote.erc20-result", "sponsor.sponsored-result", "sponsor.erc20-result"];
