//! Faults of the form of errors (section 7).

use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::faults::{FEE_TOKEN, Fault, fault};
use crate::injection::{RequestView, change, decimal_text, remove, replace, set};

const OBJECT: Fault = Fault::breaking("error.object").depends_on(FEE_TOKEN).when(is_about_tokens);
const CODE: Fault = Fault::breaking("error.code").depends_on(FEE_TOKEN).when(is_about_tokens);
const MESSAGE: Fault = Fault::breaking("error.message").depends_on(FEE_TOKEN).when(is_about_tokens);

pub(crate) const FAULTS: &[Fault] = &[
    fault(OBJECT, "error-as-text", "error is a string")
        .on_answer(|_, answer| change(answer, "error", |error| error["message"].clone())),
    fault(OBJECT, "error-in-array", "error is an array")
        .on_answer(|_, answer| change(answer, "error", |error| Value::Array(vec![error.clone()]))),
    fault(OBJECT, "error-true", "error is true").on_answer(|_, answer| replace(answer, "error", true)),
    fault(OBJECT, "error-number", "error is its code alone")
        .on_answer(|_, answer| change(answer, "error", |error| error["code"].clone())),
    fault(CODE, "error-code-missing", "leaves code out").on_error(|_, error| remove(error, "code")),
    fault(CODE, "error-code-string", "code is a string").on_error(|_, error| {
        let code = decimal_text(error.get("code").unwrap_or(&Value::Null));
        set(error, "code", code);
    }),
    fault(CODE, "error-code-name", "code is a name").on_error(|_, error| set(error, "code", "INVALID")),
    fault(CODE, "error-code-fraction", "code has a fraction")
        .on_error(|_, error| set(error, "code", crate::injection::json("-32000.5"))),
    fault(CODE, "error-code-null-without-token", "code is null when no token is named")
        .on_error(|_, error| set(error, "code", Value::Null))
        .when(|view| view.is(kinds::SPONSOR_ERC20) && view.fee_token().is_none()),
    fault(MESSAGE, "error-message-missing", "leaves message out")
        .on_error(|_, error| remove(error, "message")),
    fault(MESSAGE, "error-message-null", "message is null")
        .on_error(|_, error| set(error, "message", Value::Null)),
    fault(MESSAGE, "error-message-object", "message is an object").on_error(|_, error| {
        let message = error.get("message").cloned();
        set(error, "message", json!({ "text": message }));
    }),
    fault(MESSAGE, "error-message-array", "message is an array").on_error(|_, error| {
        let message = error.get("message").cloned();
        set(error, "message", json!([message]));
    }),
];

/// Whether the request gets an error about its token. Other clauses are about the predefined codes.
fn is_about_tokens(view: &RequestView<'_>) -> bool {
    view.omits_fee_token() || view.names_unsupported_fee_token()
}
