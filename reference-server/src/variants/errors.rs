//! Errors: codes, messages and data are the service's own.

use paymaster_schemas::Pair;
use serde_json::{Map, Value, json};

use super::Variant;
use crate::deviations::{Act, Asked};

pub(super) const VARIANTS: &[Variant] = &[
    Variant::of(
        "token-errors-positive",
        "errors about tokens have positive codes",
        Act::Error(|_, error| {
            recode_token_error(error, 7001);
        }),
    ),
    Variant::of(
        "token-errors-invalid-params",
        "errors about tokens are those of wrong parameters",
        Act::Error(|_, error| {
            recode_token_error(error, -32602);
        }),
    ),
    Variant::of(
        "token-errors-internal",
        "errors about tokens are internal errors",
        Act::Error(|_, error| {
            recode_token_error(error, -32603);
        }),
    ),
    Variant::of(
        "token-errors-zero",
        "errors about tokens have the code 0",
        Act::Error(|_, error| {
            recode_token_error(error, 0);
        }),
    ),
    Variant::of(
        "error-data-absent",
        "errors have no data",
        Act::Error(|_, error| {
            error.shift_remove("data");
        }),
    ),
    Variant::of(
        "error-data-null",
        "errors have data null",
        Act::Error(|_, error| {
            error.insert("data".to_owned(), Value::Null);
        }),
    ),
    Variant::of(
        "error-data-rich",
        "errors have data of every kind",
        Act::Error(|_, error| {
            let data = json!({ "trace": ["a", 1, null, true], "result": {}, "id": 5 });
            error.insert("data".to_owned(), data);
        }),
    ),
    Variant::of(
        "error-message-empty",
        "messages are empty",
        Act::Error(|_, error| {
            error.insert("message".to_owned(), "".into());
        }),
    ),
    Variant::of(
        "error-message-long",
        "messages have 4000 letters",
        Act::Error(|_, error| {
            error.insert("message".to_owned(), "refused ".repeat(500).into());
        }),
    ),
    Variant::of(
        "errors-with-400",
        "errors come with status 400",
        Act::Http(|_, sent| {
            restatus(sent, 400);
        }),
    )
    .when(is_single),
    Variant::of(
        "errors-with-500",
        "errors come with status 500",
        Act::Http(|_, sent| {
            restatus(sent, 500);
        }),
    )
    .when(is_single),
    Variant::of(
        "errors-with-422",
        "errors come with status 422",
        Act::Http(|_, sent| {
            restatus(sent, 422);
        }),
    )
    .when(is_single),
    Variant::of(
        "token-errors-with-404",
        "errors about tokens come with status 404",
        Act::Http(|_, sent| {
            restatus(sent, 404);
        }),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20)),
];

fn is_single(asked: &Asked<'_>) -> bool {
    !asked.request.is_array()
}

/// The codes of an absent and of an unsupported token are the service's own.
fn recode_token_error(error: &mut Map<String, Value>, code: i32) {
    if error
        .get("code")
        .is_some_and(|code| *code == -32001 || *code == -32002)
    {
        error.insert("code".to_owned(), code.into());
    }
}

fn restatus(sent: &mut crate::deviations::Sent, status: u16) {
    if sent.body.is_some() && !sent.has_result {
        sent.status = status;
    }
}
