//! Variants of errors: codes, messages and data that a service may choose.

use paymaster_schemas::kinds;
use serde_json::{Map, Value, json};

use super::{Variant, variant};
use crate::injection::{RequestView, WireResponse, remove, set};

pub(super) const VARIANTS: &[Variant] = &[
    variant("token-errors-positive", "errors about tokens have positive codes")
        .on_error(|_, error| recode_token_error(error, 7001)),
    variant("token-errors-invalid-params", "errors about tokens have the code of invalid params")
        .on_error(|_, error| recode_token_error(error, -32602)),
    variant("token-errors-internal", "errors about tokens have the code of an internal error")
        .on_error(|_, error| recode_token_error(error, -32603)),
    variant("token-errors-zero", "errors about tokens have the code 0")
        .on_error(|_, error| recode_token_error(error, 0)),
    variant("error-data-absent", "errors have no data").on_error(|_, error| remove(error, "data")),
    variant("error-data-null", "errors have data null").on_error(|_, error| set(error, "data", Value::Null)),
    variant("error-data-rich", "errors have data of every kind").on_error(|_, error| {
        let data = json!({ "trace": ["a", 1, null, true], "result": {}, "id": 5 });
        set(error, "data", data);
    }),
    variant("error-message-empty", "messages are empty").on_error(|_, error| set(error, "message", "")),
    variant("error-message-long", "messages have 4000 letters")
        .on_error(|_, error| set(error, "message", "refused ".repeat(500))),
    variant("bundler-at-the-same-url", "serves methods of a bundler at the same URL")
        .on_answer(|_, answer| {
            remove(answer, "error");
            set(answer, "result", "0x7a69");
        })
        .when(|view| view.request["method"] == "eth_chainId"),
    variant("errors-with-400", "errors come with status 400")
        .on_http(|view, response| set_error_status(view, response, 400)),
    variant("errors-with-500", "errors come with status 500")
        .on_http(|view, response| set_error_status(view, response, 500)),
    variant("errors-with-422", "errors come with status 422")
        .on_http(|view, response| set_error_status(view, response, 422)),
    variant("token-errors-with-404", "errors about tokens come with status 404")
        .on_http(|view, response| set_error_status(view, response, 404))
        .when(|view| view.is(kinds::SPONSOR_ERC20))
        .of_fee_quote(),
];

/// Changes the code of the two errors about tokens, which a service may choose.
fn recode_token_error(error: &mut Map<String, Value>, code: i32) {
    if error.get("code").is_some_and(|code| *code == -32001 || *code == -32002) {
        set(error, "code", code);
    }
}

/// Gives errors a status; a batch of them has none.
fn set_error_status(view: &RequestView<'_>, response: &mut WireResponse, status: u16) {
    if !view.request.is_array() && response.body.is_some() && !response.has_result {
        response.status = status;
    }
}
