//! Faults of the response envelope (sections 1 and 2.10).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::injection::{Behaviour, change, remove, replace, set, some_result};

const OBJECT: &str = "answer.object";
const EITHER: &str = "answer.result-or-error";
const NO_RESULT_BESIDE_ERROR: &str = "interoperability.no-result-beside-error";
const VERSION: &str = "answer.jsonrpc";
const RESULT: &str = "answer.result-object";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(OBJECT, "answer-in-array", "puts the answer into an array")
        .injects(Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|answer| Value::Array(vec![answer]));
        }))
        .when(|view| view.is_call()),
    Fault::new(OBJECT, "answer-as-text", "puts the answer to a quote into a JSON string")
        .injects(Behaviour::Reply(|_, answer| {
            *answer = answer.take().map(|answer| answer.to_string().into());
        }))
        .when(|view| view.is_quote())
        .of_fee_quote(),
    Fault::new(OBJECT, "answer-null", "answers quotes with null")
        .injects(Behaviour::Reply(|_, answer| *answer = answer.take().map(|_| Value::Null)))
        .when(|view| view.is_quote())
        .of_fee_quote(),
    Fault::new(OBJECT, "answer-true-now-and-then", "answers true in 1 of 25 answers")
        .injects(Behaviour::Reply(|_, answer| *answer = answer.take().map(|_| true.into())))
        .when(|view| view.is_call() && view.is_one_in_25()),
    Fault::new(EITHER, "result-and-error", "adds an error to every result of sponsoring in token mode")
        .injects(Behaviour::Answer(|_, answer| {
            if answer.contains_key("result") {
                set(answer, "error", json!({ "code": 0, "message": "no error" }));
            }
        }))
        .when(|view| view.is(Pair::SPONSOR_ERC20))
        .also(&["sponsor.erc20-result", NO_RESULT_BESIDE_ERROR])
        .of_fee_quote(),
    Fault::new(EITHER, "result-and-null-error", "adds error null to every result").injects(
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("result") {
                set(answer, "error", Value::Null);
            }
        }),
    ),
    Fault::new(EITHER, "error-and-null-result", "adds result null to every error")
        .injects(Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                set(answer, "result", Value::Null);
            }
        }))
        .also(&[NO_RESULT_BESIDE_ERROR])
        .of_fee_quote(),
    Fault::new(
        NO_RESULT_BESIDE_ERROR,
        "error-and-null-result-for-tokens",
        "adds result null to every error of sponsoring in token mode",
    )
    .injects(Behaviour::Answer(|_, answer| {
        if answer.contains_key("error") {
            set(answer, "result", Value::Null);
        }
    }))
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&[EITHER])
    .of_fee_quote(),
    Fault::new(EITHER, "error-and-result", "adds a result to every error of sponsoring in token mode")
        .injects(Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                set(answer, "result", some_result("ERC20", "0x6d1a5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"));
            }
        }))
        .when(|view| view.is(Pair::SPONSOR_ERC20))
        .also(&[NO_RESULT_BESIDE_ERROR])
        .of_fee_quote(),
    Fault::new(
        EITHER,
        "neither-result-nor-error",
        "leaves the error out when a token is missing or not supported",
    )
    .injects(Behaviour::Answer(|_, answer| remove(answer, "error")))
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .also(&["error.token-absent", "error.token-unsupported"])
    .of_fee_quote(),
    Fault::new(EITHER, "result-under-another-name", "names the result of a quote in sponsored mode `data`")
        .injects(Behaviour::Answer(|_, answer| {
            if let Some(result) = answer.shift_remove("result") {
                set(answer, "data", result);
            }
        }))
        .when(|view| view.is(Pair::QUOTE_SPONSORED))
        .also(&["quote.sponsored-result"])
        .of_fee_quote(),
    Fault::new(VERSION, "jsonrpc-missing", "leaves jsonrpc out")
        .injects(Behaviour::Answer(|_, answer| remove(answer, "jsonrpc"))),
    Fault::new(VERSION, "jsonrpc-missing-in-errors", "leaves jsonrpc out of errors").injects(
        Behaviour::Answer(|_, answer| {
            if answer.contains_key("error") {
                remove(answer, "jsonrpc");
            }
        }),
    ),
    Fault::new(VERSION, "jsonrpc-number", "jsonrpc is a number")
        .injects(Behaviour::Answer(|_, answer| set(answer, "jsonrpc", crate::injection::json("2.0")))),
    Fault::new(VERSION, "jsonrpc-one", "jsonrpc is 1.0")
        .injects(Behaviour::Answer(|_, answer| set(answer, "jsonrpc", "1.0"))),
    Fault::new(VERSION, "jsonrpc-null-in-token-mode", "jsonrpc is null in token mode")
        .injects(Behaviour::Answer(|_, answer| set(answer, "jsonrpc", Value::Null)))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
    Fault::new(VERSION, "jsonrpc-not-echoed", "jsonrpc is 2.0.0 when the request has 2.0")
        .injects(Behaviour::Answer(|view, answer| {
            if view.request["jsonrpc"] == "2.0" {
                set(answer, "jsonrpc", "2.0.0");
            }
        }))
        .depends_on("/jsonrpc")
        .of_fee_quote(),
    Fault::new(RESULT, "result-as-text", "puts the result into a JSON string")
        .injects(Behaviour::Answer(|_, answer| change(answer, "result", |result| result.to_string().into())))
        .also(RESULTS)
        .of_fee_quote(),
    Fault::new(RESULT, "result-in-array", "puts the result into an array")
        .injects(Behaviour::Answer(|_, answer| change(answer, "result", |result| json!([result]))))
        .also(RESULTS)
        .of_fee_quote(),
    Fault::new(RESULT, "result-null", "result is null")
        .injects(Behaviour::Answer(|_, answer| replace(answer, "result", Value::Null)))
        .also(RESULTS)
        .of_fee_quote(),
    Fault::new(RESULT, "result-bare-data", "result is the paymasterAndData alone")
        .injects(Behaviour::Answer(|_, answer| {
            let data = answer.get("result").and_then(|result| result.get("paymasterAndData")).cloned();
            if let Some(data) = data {
                set(answer, "result", data);
            }
        }))
        .also(RESULTS)
        .of_fee_quote(),
    Fault::new(RESULT, "result-true-now-and-then", "result is true in 1 of 25 answers")
        .injects(Behaviour::Answer(|_, answer| replace(answer, "result", true)))
        .when(|view| view.is_call() && view.is_one_in_25())
        .also(RESULTS)
        .of_fee_quote(),
];

/// The clauses that a result other than an object breaks.
const RESULTS: &[&str] =
    &["quote.sponsored-result", "quote.erc20-result", "sponsor.sponsored-result", "sponsor.erc20-result"];
