//! Faults of the response envelope (sections 1 and 2.10).

use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::faults::{Fault, fault};
use crate::injection::{SOME_DATA, change, in_error, remove, replace, set, some_result};

const OBJECT: Fault = Fault::breaking("answer.object");
const EITHER: Fault = Fault::breaking("answer.result-or-error");
const OF_FEE_QUOTE: Fault = EITHER.of_fee_quote();
const TOKENS: Fault = OF_FEE_QUOTE.when(|view| view.is(kinds::SPONSOR_ERC20));
const BESIDE_ERROR: Fault = Fault::breaking("interoperability.no-result-beside-error");
const VERSION: Fault = Fault::breaking("answer.jsonrpc");
const RESULT: Fault = Fault::breaking("answer.result-object").also(RESULTS).of_fee_quote();

pub(crate) const FAULTS: &[Fault] = &[
    fault(OBJECT, "answer-in-array", "puts the answer into an array")
        .on_reply(|_, answer| *answer = answer.take().map(|answer| Value::Array(vec![answer])))
        .when(|view| view.is_call()),
    fault(OBJECT, "answer-as-text", "puts the answer to a quote into a JSON string")
        .on_reply(|_, answer| *answer = answer.take().map(|answer| answer.to_string().into()))
        .when(|view| view.is_quote())
        .of_fee_quote(),
    fault(OBJECT, "answer-null", "answers quotes with null")
        .on_reply(|_, answer| *answer = answer.take().map(|_| Value::Null))
        .when(|view| view.is_quote())
        .of_fee_quote(),
    fault(OBJECT, "answer-true-now-and-then", "answers true in 1 of 25 answers")
        .on_reply(|_, answer| *answer = answer.take().map(|_| true.into()))
        .when(|view| view.is_call() && view.is_one_in(25)),
    fault(TOKENS, "result-and-error", "adds an error to every result of sponsoring in token mode")
        .on_answer(|_, answer| {
            if answer.contains_key("result") {
                set(answer, "error", json!({ "code": 0, "message": "no error" }));
            }
        })
        .also(&["sponsor.erc20-result", BESIDE_ERROR.clause]),
    fault(EITHER, "result-and-null-error", "adds error null to every result").on_answer(|_, answer| {
        if answer.contains_key("result") {
            set(answer, "error", Value::Null);
        }
    }),
    fault(OF_FEE_QUOTE, "error-and-null-result", "adds result null to every error")
        .on_answer(|_, answer| in_error(answer, |answer| set(answer, "result", Value::Null)))
        .also(&[BESIDE_ERROR.clause]),
    fault(BESIDE_ERROR, "error-and-null-result-for-tokens", "adds result null to errors of paying in tokens")
        .on_answer(|_, answer| in_error(answer, |answer| set(answer, "result", Value::Null)))
        .when(|view| view.is(kinds::SPONSOR_ERC20))
        .also(&[EITHER.clause])
        .of_fee_quote(),
    fault(TOKENS, "error-and-result", "adds a result to every error of sponsoring in token mode")
        .on_answer(|_, answer| {
            in_error(answer, |answer| set(answer, "result", some_result("ERC20", SOME_DATA)));
        })
        .also(&[BESIDE_ERROR.clause]),
    fault(TOKENS, "neither-result-nor-error", "leaves errors about missing and unsupported tokens out")
        .on_answer(|_, answer| remove(answer, "error"))
        .also(&["error.token-absent", "error.token-unsupported"]),
    fault(OF_FEE_QUOTE, "result-under-another-name", "names the result of a quote in sponsored mode `data`")
        .on_answer(|_, answer| {
            if let Some(result) = answer.shift_remove("result") {
                set(answer, "data", result);
            }
        })
        .when(|view| view.is(kinds::QUOTE_SPONSORED))
        .also(&["quote.sponsored-result"]),
    fault(VERSION, "jsonrpc-missing", "leaves jsonrpc out").on_answer(|_, answer| remove(answer, "jsonrpc")),
    fault(VERSION, "jsonrpc-missing-in-errors", "leaves jsonrpc out of errors")
        .on_answer(|_, answer| in_error(answer, |answer| remove(answer, "jsonrpc"))),
    fault(VERSION, "jsonrpc-number", "jsonrpc is a number")
        .on_answer(|_, answer| set(answer, "jsonrpc", crate::injection::json("2.0"))),
    fault(VERSION, "jsonrpc-one", "jsonrpc is 1.0").on_answer(|_, answer| set(answer, "jsonrpc", "1.0")),
    fault(VERSION, "jsonrpc-null-in-token-mode", "jsonrpc is null in token mode")
        .on_answer(|_, answer| set(answer, "jsonrpc", Value::Null))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
    fault(VERSION, "jsonrpc-not-echoed", "jsonrpc is 2.0.0 when the request has 2.0")
        .on_answer(|view, answer| {
            if view.request["jsonrpc"] == "2.0" {
                set(answer, "jsonrpc", "2.0.0");
            }
        })
        .depends_on("/jsonrpc")
        .of_fee_quote(),
    fault(RESULT, "result-as-text", "puts the result into a JSON string")
        .on_answer(|_, answer| change(answer, "result", |result| result.to_string().into())),
    fault(RESULT, "result-in-array", "puts the result into an array")
        .on_answer(|_, answer| change(answer, "result", |result| json!([result]))),
    fault(RESULT, "result-null", "result is null")
        .on_answer(|_, answer| replace(answer, "result", Value::Null)),
    fault(RESULT, "result-bare-data", "result is the paymasterAndData alone").on_answer(|_, answer| {
        change(answer, "result", |result| result.get("paymasterAndData").unwrap_or(result).clone());
    }),
    fault(RESULT, "result-true-now-and-then", "result is true in 1 of 25 answers")
        .on_answer(|_, answer| replace(answer, "result", true))
        .when(|view| view.is_call() && view.is_one_in(25)),
];

/// The clauses that a result other than an object breaks.
const RESULTS: &[&str] =
    &["quote.sponsored-result", "quote.erc20-result", "sponsor.sponsored-result", "sponsor.erc20-result"];
