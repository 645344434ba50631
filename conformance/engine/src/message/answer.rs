//! Reads answers from their bytes, independently of the types of the reference server.

use serde_json::{Map, Value};

use crate::json::{Document, NotJson};
use paymaster_exchange::{Exchange, Failure, PLAIN_HEADERS, Response};

/// What came back for a request.
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// No complete response.
    None(&'a Failure),
    /// A response whose body is not a JSON text.
    NotJson(&'a Response, NotJson),
    /// A response whose body is a JSON text.
    Json(&'a Response, &'a Document, Outcome<'a>),
}

/// The result or the error of an answer that is an object; neither where it has both. Most rules ask for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    result: Option<&'a Value>,
    error: Option<&'a Value>,
}

impl<'a> Outcome<'a> {
    fn of(object: &'a Map<String, Value>) -> Self {
        Self { result: result_of(object), error: error_of(object) }
    }
}

impl<'a> Answer<'a> {
    /// Reads the answer of an exchange.
    pub fn of(exchange: &'a Exchange) -> Self {
        match &exchange.outcome {
            Err(failure) => Self::None(failure),
            Ok(response) => match Document::read(&response.body) {
                Ok(document) => {
                    let outcome = document.value.as_object().map(Outcome::of).unwrap_or_default();
                    Self::Json(response, document, outcome)
                }
                Err(cause) => Self::NotJson(response, coded(exchange, response).unwrap_or(cause)),
            },
        }
    }

    /// The limit of this judge that the answer exceeds, in words. Such an answer is not judged: the specification sets no bounds
    /// (section 8), and ours only protect the user's machine.
    pub fn exceeded_limit(&self) -> Option<String> {
        match self {
            Self::None(failure @ Failure::TooLarge { .. }) => Some(failure.to_string()),
            Self::NotJson(_, not_json) if not_json.is_our_limit => Some(not_json.cause.clone()),
            _ => None,
        }
    }

    /// The response, when there is a complete one.
    pub fn response(&self) -> Option<&'a Response> {
        match self {
            Self::None(_) => None,
            Self::NotJson(response, _) | Self::Json(response, ..) => Some(response),
        }
    }

    /// The JSON text.
    pub fn document(&self) -> Option<&'a Document> {
        if let Self::Json(_, document, _) = self { Some(document) } else { None }
    }

    /// The answer as an object.
    pub fn object(&self) -> Option<&'a Map<String, Value>> {
        self.document().and_then(|document| document.value.as_object())
    }

    /// Whether the body is a JSON-RPC answer, correct or not, or a batch with one. Gateways answer with JSON of their own, such as
    /// `{"message": "Forbidden"}`.
    pub fn is_json_rpc(&self) -> bool {
        let is_answer = |value: &Value| {
            value.as_object().is_some_and(|object| {
                let outcome = object.contains_key("result") || object.contains_key("error");
                object.contains_key("jsonrpc") || outcome && object.contains_key("id")
            })
        };
        self.document().is_some_and(|document| match &document.value {
            Value::Array(answers) => answers.iter().any(is_answer),
            answer => is_answer(answer),
        })
    }

    /// Whether the text of the body has the member names of a JSON-RPC answer, even if it is no JSON: with a byte order mark or in
    /// UTF-16, for example. An object as result, with HTTP status 200, suffices. Such a target is a paymaster with a defect, not another
    /// service. So may be one that sends JSON in a content coding that was not requested: it is not read.
    pub fn resembles_json_rpc(&self) -> bool {
        let Some(response) = self.response() else { return false };
        let text: Vec<u8> = response.body.iter().copied().filter(|byte| *byte != 0).collect();
        let has = |name: &[u8]| text.windows(name.len()).any(|part| part == name);
        let is_json =
            response.header("content-type").is_some_and(|content_type| content_type.contains("json"));
        self.is_json_rpc()
            || is_json && response.header("content-encoding").is_some()
            || response.status == 200 && self.result().is_some_and(Value::is_object)
            || has(br#""jsonrpc""#)
            || has(br#""id""#) && (has(br#""result""#) || has(br#""error""#))
    }

    /// The answers to a batch.
    pub fn array(&self) -> Option<&'a Vec<Value>> {
        self.document().and_then(|document| document.value.as_array())
    }

    /// The result, when the answer has one and no error.
    pub fn result(&self) -> Option<&'a Value> {
        self.outcome().result
    }

    /// The error, when the answer has one and no result.
    pub fn error(&self) -> Option<&'a Value> {
        self.outcome().error
    }

    fn outcome(&self) -> Outcome<'a> {
        if let Self::Json(.., outcome) = self { *outcome } else { Outcome::default() }
    }
}

/// The result of one answer, alone or in a batch, when it has one and no error.
pub fn result_of(answer: &Map<String, Value>) -> Option<&Value> {
    if present(answer, "error").is_some() { None } else { present(answer, "result") }
}

/// The error of one answer, alone or in a batch, when it has one and no result.
pub fn error_of(answer: &Map<String, Value>) -> Option<&Value> {
    let alone = !answer.contains_key("result");
    answer.get("error").filter(|error| alone || !error.is_null() && present(answer, "result").is_none())
}

/// Whether an error is one of a rate limit, by its words, by the code of HTTP, or by that of EIP-1474 for an exceeded limit.
pub fn speaks_of_rate(error: &Value) -> bool {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let code = error.get("code").and_then(Value::as_i64);
    has_one_of(message, &["too many requests", "rate limit", "ratelimit", "throttl", "per second"])
        || code == Some(429)
        || code == Some(-32005) && is_exceeded_limit(message)
}

/// Whether an error says by its words that what the target grants is used up, for a day or for good. No pause of a run ends that.
pub fn speaks_of_quota(error: &Value) -> bool {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let words =
        ["quota", "budget", "allowance", "daily", "per day", "monthly", "per month", "used up", "exhausted"];
    has_one_of(message, &words)
}

/// Not the limit of a budget or of gas, which no pause ends.
fn is_exceeded_limit(message: &str) -> bool {
    message.trim().eq_ignore_ascii_case("limit exceeded")
        || has_one_of(message, &["request"]) && has_one_of(message, &["exceeded"])
}

/// Whether a message has one of these words, in any letter case.
pub fn has_one_of(message: &str, words: &[&str]) -> bool {
    let message = message.to_ascii_lowercase().replace(['-', '_'], " ");
    words.iter().any(|words| message.contains(words))
}

/// The error for a body with a content coding. A coding that the request permits is decoded before, if we can.
fn coded(exchange: &Exchange, response: &Response) -> Option<NotJson> {
    let coding = response.header("content-encoding")?;
    if coding.eq_ignore_ascii_case("identity") {
        return None;
    }
    let headers = exchange.sent_as.as_deref().unwrap_or(&PLAIN_HEADERS);
    let not_json = match headers.header("accept-encoding") {
        Some(accepted) if !coding.split(',').all(|coding| names(accepted, coding)) => NotJson::new(format!(
            "a body in a content coding that was not requested (Content-Encoding: {coding})"
        )),
        _ if DECODED.iter().any(|decoded| names(coding, decoded)) => return None,
        _ => NotJson::our_limit(format!("a body in the content coding {coding}, which we do not decode")),
    };
    Some(not_json)
}

/// The content codings that the client decodes.
const DECODED: [&str; 4] = ["gzip", "x-gzip", "deflate", "br"];

/// Whether a list of a header has this item.
fn names(list: &str, item: &str) -> bool {
    list.split(',').any(|known| known.trim().eq_ignore_ascii_case(item.trim()))
}

/// A member that is present and not null. An answer with a null and a value is read by its value, and another rule reports the
/// null. An answer with two values has neither a result nor an error.
fn present<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use paymaster_exchange::{Exchange, Response};

    use super::Answer;

    fn gzip(content_type: &str, body: &'static [u8]) -> Exchange {
        let headers = [("content-type", content_type), ("content-encoding", "gzip")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Exchange::new("{}", Ok(Response { status: 200, headers, body: body.into() }), Duration::ZERO)
    }

    /// Recordings hold the text, and the header of the coding in which it was sent.
    #[test]
    fn a_decoded_body_is_read_whatever_its_header_says() {
        let answer = gzip("application/json", br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(Answer::of(&answer).result().is_some());
    }

    #[test]
    fn what_says_to_be_json_in_a_coding_that_nobody_requested_may_be_of_json_rpc() {
        for (content_type, expected) in [("application/json", true), ("text/html", false)] {
            let exchange = gzip(content_type, b"\x1f\x8b\x08");
            let answer = Answer::of(&exchange);
            assert_eq!((answer.resembles_json_rpc(), answer.document().is_some()), (expected, false));
        }
    }
}
