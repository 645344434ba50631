//! Faults of the form of errors (section 7).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, change, decimal_text, remove, replace, set};

const OBJECT: &str = "error.object";
const CODE: &str = "error.code";
const MESSAGE: &str = "error.message";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(OBJECT, "error-as-text", "error is a string")
        .injects(Behaviour::Answer(|_, answer| change(answer, "error", |error| error["message"].clone())))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(OBJECT, "error-in-array", "error is an array")
        .injects(Behaviour::Answer(|_, answer| {
            change(answer, "error", |error| Value::Array(vec![error.clone()]));
        }))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(OBJECT, "error-true", "error is true")
        .injects(Behaviour::Answer(|_, answer| replace(answer, "error", true)))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(OBJECT, "error-number", "error is its code alone")
        .injects(Behaviour::Answer(|_, answer| change(answer, "error", |error| error["code"].clone())))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(CODE, "error-code-missing", "leaves code out")
        .injects(Behaviour::Error(|_, error| remove(error, "code")))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(CODE, "error-code-string", "code is a string")
        .injects(Behaviour::Error(|_, error| {
            let code = decimal_text(error.get("code").unwrap_or(&Value::Null));
            set(error, "code", code);
        }))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(CODE, "error-code-name", "code is a name")
        .injects(Behaviour::Error(|_, error| set(error, "code", "INVALID")))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(CODE, "error-code-fraction", "code has a fraction")
        .injects(Behaviour::Error(|_, error| set(error, "code", crate::injection::json("-32000.5"))))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(CODE, "error-code-null-without-token", "code is null when no token is named")
        .injects(Behaviour::Error(|_, error| set(error, "code", Value::Null)))
        .when(|view| view.is(Pair::SPONSOR_ERC20) && view.fee_token().is_none())
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(MESSAGE, "error-message-missing", "leaves message out")
        .injects(Behaviour::Error(|_, error| remove(error, "message")))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(MESSAGE, "error-message-null", "message is null")
        .injects(Behaviour::Error(|_, error| set(error, "message", Value::Null)))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(MESSAGE, "error-message-object", "message is an object")
        .injects(Behaviour::Error(|_, error| {
            let message = error.get("message").cloned();
            set(error, "message", json!({ "text": message }));
        }))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(MESSAGE, "error-message-array", "message is an array")
        .injects(Behaviour::Error(|_, error| {
            let message = error.get("message").cloned();
            set(error, "message", json!([message]));
        }))
        .when(is_about_tokens)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
];

/// Whether the request gets an error about its token. Other clauses are about the predefined codes.
fn is_about_tokens(view: &RequestView<'_>) -> bool {
    view.omits_fee_token() || view.names_unsupported_fee_token()
}
