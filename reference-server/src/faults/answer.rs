//! The envelope of an answer (sections 1 and 2.10).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::Fault;
use crate::deviations::Act;

const OBJECT: &str = "answer.object";
const EITHER: &str = "answer.result-or-error";
const NO_RESULT_BESIDE_ERROR: &str = "interoperability.no-result-beside-error";
const VERSION: &str = "answer.jsonrpc";
const RESULT: &str = "answer.result-object";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        OBJECT,
        "answer-in-array",
        "puts the answer into an array",
        Act::Whole(|_, answer| {
            *answer = answer.take().map(|answer| Value::Array(vec![answer]));
        }),
    )
    .when(|asked| asked.is_call()),
    Fault::of(
        OBJECT,
        "answer-as-text",
        "puts the answer into a JSON string",
        Act::Whole(|_, answer| {
            *answer = answer.take().map(|answer| answer.to_string().into());
        }),
    )
    .when(|asked| asked.is_call()),
    Fault::of(
        OBJECT,
        "answer-null",
        "answers null",
        Act::Whole(|_, answer| {
            *answer = answer.take().map(|_| Value::Null);
        }),
    )
    .when(|asked| asked.is_call()),
    Fault::of(
        OBJECT,
        "answer-true-now-and-then",
        "answers true in 1 of 25 answers",
        Act::Whole(|_, answer| {
            *answer = answer.take().map(|_| true.into());
        }),
    )
    .when(|asked| asked.is_call() && asked.now_and_then()),
    Fault::of(
        EITHER,
        "result-and-error",
        "adds an error to every result of sponsoring in token mode",
        Act::Answer(|_, answer| {
            if answer.contains_key("result") {
                answer.insert("error".to_owned(), json!({ "code": 0, "message": "no error" }));
            }
        }),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20))
    .also(&["sponsor.erc20-result", NO_RESULT_BESIDE_ERROR]),
    Fault::of(
        EITHER,
        "result-and-null-error",
        "adds error null to every result",
        Act::Answer(|_, answer| {
            if answer.contains_key("result") {
                answer.insert("error".to_owned(), Value::Null);
            }
        }),
    ),
    Fault::of(
        EITHER,
        "error-and-null-result",
        "adds result null to every error",
        Act::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.insert("result".to_owned(), Value::Null);
            }
        }),
    )
    .also(&[NO_RESULT_BESIDE_ERROR]),
    Fault::of(
        NO_RESULT_BESIDE_ERROR,
        "error-and-null-result-for-tokens",
        "adds result null to every error of sponsoring in token mode",
        Act::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.insert("result".to_owned(), Value::Null);
            }
        }),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20))
    .also(&[EITHER]),
    Fault::of(
        EITHER,
        "error-and-result",
        "adds a result to every error of sponsoring in token mode",
        Act::Answer(|_, answer| {
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
    .when(|asked| asked.is(Pair::SPONSOR_ERC20))
    .also(&[NO_RESULT_BESIDE_ERROR]),
    Fault::of(
        EITHER,
        "neither-result-nor-error",
        "leaves the error out when a token is absent or not supported",
        Act::Answer(|_, answer| {
            answer.shift_remove("error");
        }),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20))
    .also(&["error.token-absent", "error.token-unsupported"]),
    Fault::of(
        EITHER,
        "result-under-another-name",
        "calls the result of a quote in sponsored mode data",
        Act::Answer(|_, answer| {
            if let Some(result) = answer.shift_remove("result") {
                answer.insert("data".to_owned(), result);
            }
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_SPONSORED))
    .also(&["quote.sponsored-result"]),
    Fault::of(
        VERSION,
        "jsonrpc-missing",
        "leaves jsonrpc out",
        Act::Answer(|_, answer| {
            answer.shift_remove("jsonrpc");
        }),
    ),
    Fault::of(
        VERSION,
        "jsonrpc-missing-in-errors",
        "leaves jsonrpc out of errors",
        Act::Answer(|_, answer| {
            if answer.contains_key("error") {
                answer.shift_remove("jsonrpc");
            }
        }),
    ),
    Fault::of(
        VERSION,
        "jsonrpc-number",
        "jsonrpc is a number",
        Act::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), crate::deviations::json("2.0"));
        }),
    ),
    Fault::of(
        VERSION,
        "jsonrpc-one",
        "jsonrpc is 1.0",
        Act::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), "1.0".into());
        }),
    ),
    Fault::of(
        VERSION,
        "jsonrpc-null-in-token-mode",
        "jsonrpc is null in token mode",
        Act::Answer(|_, answer| {
            answer.insert("jsonrpc".to_owned(), Value::Null);
        }),
    )
    .when(|asked| asked.is_token_mode()),
    Fault::of(
        VERSION,
        "jsonrpc-not-echoed",
        "jsonrpc is 2.0.0 where 2.0 was asked",
        Act::Answer(|asked, answer| {
            if asked.request["jsonrpc"] == "2.0" {
                answer.insert("jsonrpc".to_owned(), "2.0.0".into());
            }
        }),
    ),
    Fault::of(
        RESULT,
        "result-as-text",
        "puts the result into a JSON string",
        Act::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = result.to_string().into();
            }
        }),
    )
    .also(RESULTS),
    Fault::of(
        RESULT,
        "result-in-array",
        "puts the result into an array",
        Act::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = Value::Array(vec![result.take()]);
            }
        }),
    )
    .also(RESULTS),
    Fault::of(
        RESULT,
        "result-null",
        "result is null",
        Act::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = Value::Null;
            }
        }),
    )
    .also(RESULTS),
    Fault::of(
        RESULT,
        "result-bare-data",
        "result is the paymasterAndData alone",
        Act::Answer(|_, answer| {
            let data = answer
                .get("result")
                .and_then(|result| result.get("paymasterAndData"))
                .cloned();
            if let Some(data) = data {
                answer.insert("result".to_owned(), data);
            }
        }),
    )
    .also(RESULTS),
    Fault::of(
        RESULT,
        "result-true-now-and-then",
        "result is true in 1 of 25 answers",
        Act::Answer(|_, answer| {
            if let Some(result) = answer.get_mut("result") {
                *result = true.into();
            }
        }),
    )
    .when(|asked| asked.is_call() && asked.now_and_then())
    .also(RESULTS),
];

/// What is no object is no result of any kind.
const RESULTS: &[&str] = &[
    "quote.sponsored-result",
    "quote.erc20-result",
    "sponsor.sponsored-result",
    "sponsor.erc20-result",
];
