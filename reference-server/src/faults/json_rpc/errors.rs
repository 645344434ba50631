//! Faults of the form of errors (section 7).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, decimal_text};

const OBJECT: &str = "error.object";
const CODE: &str = "error.code";
const MESSAGE: &str = "error.message";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        OBJECT,
        "error-as-text",
        "error is a string",
        Behaviour::Answer(|_, answer| {
            replace(answer, |error| error["message"].clone());
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        OBJECT,
        "error-in-array",
        "error is an array",
        Behaviour::Answer(|_, answer| {
            replace(answer, |error| Value::Array(vec![error.clone()]));
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        OBJECT,
        "error-true",
        "error is true",
        Behaviour::Answer(|_, answer| replace(answer, |_| true.into())),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        OBJECT,
        "error-number",
        "error is its code alone",
        Behaviour::Answer(|_, answer| {
            replace(answer, |error| error["code"].clone());
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        CODE,
        "error-code-missing",
        "leaves code out",
        Behaviour::Error(|_, error| {
            error.shift_remove("code");
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        CODE,
        "error-code-string",
        "code is a string",
        Behaviour::Error(|_, error| {
            let code = decimal_text(error.get("code").unwrap_or(&Value::Null));
            error.insert("code".to_owned(), code);
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        CODE,
        "error-code-name",
        "code is a name",
        Behaviour::Error(|_, error| {
            error.insert("code".to_owned(), "INVALID".into());
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        CODE,
        "error-code-fraction",
        "code has a fraction",
        Behaviour::Error(|_, error| {
            error.insert("code".to_owned(), crate::injection::json("-32000.5"));
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        CODE,
        "error-code-null-without-token",
        "code is null when no token is named",
        Behaviour::Error(|_, error| {
            error.insert("code".to_owned(), Value::Null);
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_ERC20) && view.fee_token().is_none())
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        MESSAGE,
        "error-message-missing",
        "leaves message out",
        Behaviour::Error(|_, error| {
            error.shift_remove("message");
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        MESSAGE,
        "error-message-null",
        "message is null",
        Behaviour::Error(|_, error| {
            error.insert("message".to_owned(), Value::Null);
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        MESSAGE,
        "error-message-object",
        "message is an object",
        Behaviour::Error(|_, error| {
            let message = error.get("message").cloned();
            error.insert("message".to_owned(), json!({ "text": message }));
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        MESSAGE,
        "error-message-array",
        "message is an array",
        Behaviour::Error(|_, error| {
            let message = error.get("message").cloned();
            error.insert("message".to_owned(), json!([message]));
        }),
    )
    .when(is_about_tokens)
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
];

type Answer = serde_json::Map<String, Value>;

fn replace(answer: &mut Answer, change: fn(&Value) -> Value) {
    if let Some(error) = answer.get_mut("error") {
        *error = change(error);
    }
}

/// Whether the request gets an error about its token. Other clauses are about the predefined codes.
fn is_about_tokens(view: &RequestView<'_>) -> bool {
    view.omits_fee_token() || view.names_unsupported_fee_token()
}
