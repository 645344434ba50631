//! What the requests of one HTTP request were about and how each was answered, for log and metrics.
//!
//! It is read from the bytes that came and the bytes that went, after the response is made: serving does not depend on it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use paymaster_schemas::Mode;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{ErrorCode, pair_of};
use crate::paymaster::ServedMethod;

/// One JSON-RPC request, or one HTTP request that holds none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The JSON-RPC method as the log shows it. Where the request has none that is readable, it is what came instead, such as `OPTIONS`.
    pub(crate) method: Cow<'static, str>,
    /// The label of the method in metrics: its name if the service has it.
    pub(crate) label: &'static str,
    /// SPONSORED or ERC20; [`NONE`] when the request is not a call of one of the two methods.
    pub(crate) mode: &'static str,
    pub(crate) outcome: &'static str,
}

/// What log and metrics show of a request without a method or a mode.
pub(crate) const NONE: &str = "none";

/// How a request was answered, where no [`ErrorCode`] says it.
pub(crate) mod outcome {
    pub(crate) const RESULT: &str = "result";
    pub(crate) const NOT_SPONSORED: &str = "not-sponsored";
    /// An error with a code that is not one of the service's: a layer around the service made it.
    pub(crate) const OTHER_ERROR: &str = "other-error";
    /// A response that is neither a result nor an error: a layer around the service made it.
    pub(crate) const MALFORMED: &str = "malformed";
    /// No response: to a notification, or because a layer around the service left it out.
    pub(crate) const NO_RESPONSE: &str = "no-response";
    pub(crate) const HEALTH: &str = "health";
    pub(crate) const PREFLIGHT: &str = "preflight";
}

/// Longest name of an unknown method that is kept, in characters.
const LONGEST_NAME: usize = 64;

/// The calls in the body of a POST request; `response` is the body of its response.
pub(crate) fn calls(request: &[u8], response: Option<&[u8]>) -> Vec<Call> {
    let request = read(request, request_of);
    let response = response.map(|text| read(text, response_of));
    match (&request, response) {
        (Value::Array(requests), Some(Value::Array(mut responses))) => {
            // Notifications come last, so that they do not take the response to a request whose id is not valid.
            let mut order: Vec<usize> = (0..requests.len()).collect();
            order.sort_by_key(|index| is_notification(&requests[*index]));
            let mut calls: Vec<(usize, Call)> = order
                .into_iter()
                .map(|index| {
                    let request = &requests[index];
                    let id = answered_id(request);
                    let found = responses.iter().position(|response| response["id"] == *id);
                    let response = found.map(|index| responses.remove(index));
                    (index, call(request, response.as_ref()))
                })
                .collect();
            calls.sort_by_key(|(index, _)| *index);
            calls.into_iter().map(|(_, call)| call).collect()
        }
        (Value::Array(requests), None) => requests.iter().map(|request| call(request, None)).collect(),
        // A batch that is refused as a whole gets one error.
        (request, response) => vec![call(request, response.as_ref())],
    }
}

/// What `of` takes of a JSON text, or of each element where it is an array. Reading whole bodies would cost as much as serving them.
fn read(text: &[u8], of: fn(&str) -> Value) -> Value {
    let Ok(text) = str::from_utf8(text) else { return Value::Null };
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(elements) => elements.into_iter().map(|element| of(element.get())).collect(),
        Err(_) => of(text),
    }
}

/// What tells the method, the mode and the id of a request.
fn request_of(text: &str) -> Value {
    skimmed(text, |name, value| match name {
        "id" | "method" => whole(value),
        "params" => {
            let params: Vec<&RawValue> = serde_json::from_str(value).ok()?;
            let mode = skimmed(params.get(1)?.get(), |name, value| {
                if matches!(name, "mode" | "tokenInfo") { whole(value) } else { None }
            });
            Some(vec![Value::Null, mode].into())
        }
        _ => None,
    })
}

/// What tells the outcome of a response, and to which request it is.
fn response_of(text: &str) -> Value {
    skimmed(text, |name, value| match name {
        "id" | "error" => whole(value),
        "result" => {
            Some(skimmed(value, |name, value| if name == "paymasterAndData" { whole(value) } else { None }))
        }
        _ => None,
    })
}

/// The members that are taken of an object; another value as it is, and null where the text is no JSON.
fn skimmed(text: &str, take: impl Fn(&str, &str) -> Option<Value>) -> Value {
    let Ok(members) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text) else {
        return whole(text).unwrap_or_default();
    };
    members.iter().filter_map(|(name, value)| Some((name.as_ref(), take(name, value.get())?))).collect()
}

fn whole(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn is_notification(request: &Value) -> bool {
    request.get("id").is_none() && request.get("method").is_some_and(Value::is_string)
}

/// The id that the response to a request has: null where the request has no valid one.
fn answered_id(request: &Value) -> &Value {
    match request.get("id") {
        Some(id) if id.is_string() || id.is_number() => id,
        _ => &Value::Null,
    }
}

fn call(request: &Value, response: Option<&Value>) -> Call {
    let named = request.get("method").and_then(Value::as_str);
    let (method, label) = match named.map(|name| (name, ServedMethod::find(name))) {
        Some((_, Some(method))) => (method.name.into(), method.name),
        Some((name, None)) => {
            let name: String = name.chars().take(LONGEST_NAME).collect();
            // In quotes, and with control characters escaped: clients choose it.
            (format!("{name:?}").into(), "other")
        }
        None => (NONE.into(), NONE),
    };
    let mode = pair_of(request).map_or(NONE, |pair| Mode::of(pair).into_str());
    Call { method, label, mode, outcome: response.map_or(outcome::NO_RESPONSE, outcome_of) }
}

fn outcome_of(response: &Value) -> &'static str {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        return error["code"].as_i64().and_then(ErrorCode::of).map_or(outcome::OTHER_ERROR, ErrorCode::name);
    }
    match response.get("result") {
        Some(result) if result["paymasterAndData"] == "0x" => outcome::NOT_SPONSORED,
        Some(_) => outcome::RESULT,
        None => outcome::MALFORMED,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcomes(request: &Value, response: Option<Value>) -> Vec<&'static str> {
        let response = response.map(|response| response.to_string().into_bytes());
        let calls = calls(request.to_string().as_bytes(), response.as_deref());
        calls.iter().map(|call| call.outcome).collect()
    }

    #[test]
    fn each_request_of_a_batch_has_the_outcome_of_its_own_response() {
        let request = json!([
            { "id": 1, "method": "a" }, { "method": "b" }, { "id": "1", "method": "c" }, { "id": [], "method": "d" }
        ]);
        let response = json!([
            { "id": null, "error": { "code": -32600 } },
            { "id": "1", "result": { "paymasterAndData": "0x" } },
            { "id": 1, "result": {} },
        ]);
        let expected = ["result", "no-response", "not-sponsored", "invalid-request"];
        assert_eq!(outcomes(&request, Some(response)), expected);
        assert_eq!(outcomes(&request, None), ["no-response"; 4]);
        let refused = json!({ "id": null, "error": { "code": -32600 } });
        assert_eq!(outcomes(&request, Some(refused)), ["invalid-request"]);
    }

    #[test]
    fn a_call_is_told_from_what_its_text_says_of_it() {
        for (request, method, mode) in [
            (
                r#"{"id":1,"method":"pm_getFeeQuoteOrData","params":[{},{"mode":"ERC20"}]}"#,
                "pm_getFeeQuoteOrData",
                "ERC20",
            ),
            (
                r#"{"method":"pm_getFeeQuoteOrData","params":[[],{"tokenInfo":{"a":1}}]}"#,
                "pm_getFeeQuoteOrData",
                "ERC20",
            ),
            (
                r#" {"m\u0065thod":"pm_sponsorUserOperation","params":[1,{"mode":"SPONSORSHIP"},2]}"#,
                "pm_sponsorUserOperation",
                "SPONSORED",
            ),
            (r#"{"method":"pm_getPaymasterData","params":[{},"0x",1]}"#, "pm_getPaymasterData", "none"),
            (r#"{"method":"other","method":"eth_call"}"#, "\"eth_call\"", "none"),
            (r#"{"method":7}"#, "none", "none"),
            ("7", "none", "none"),
            ("{", "none", "none"),
        ] {
            let [call] = &*calls(request.as_bytes(), None) else { panic!("one call") };
            assert_eq!((&*call.method, call.mode), (method, mode), "{request}");
        }
    }

    #[test]
    fn what_a_layer_around_the_service_made_has_an_outcome_too() {
        for (response, expected) in [
            (json!({ "error": "text" }), "other-error"),
            (json!({ "error": { "code": 7 } }), "other-error"),
            (json!("text"), "malformed"),
            (json!([]), "malformed"),
        ] {
            assert_eq!(outcomes(&json!({ "id": 1 }), Some(response)), [expected]);
        }
    }
}
