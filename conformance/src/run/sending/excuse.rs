//! Excuses: what in an exchange may have another reason than its request. A target may refuse requests while too many are in flight, limit
//! how many it takes in a time, or be out of service behind its gateway. All of that is lawful, so it breaks no rule.

use paymaster_client::throttling;
use paymaster_engine::message::{Answer, error_of, has_one_of, speaks_of_rate};
use paymaster_exchange::{Exchange, Failure};
use serde_json::Value;

use crate::run::sending::OwnWords;

/// What in an exchange may have another reason than its request. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excuse {
    /// What the target did, in words.
    pub(super) sign: String,
    /// Whether it may come from other requests in flight: HTTP 429 or 503, a connection that is refused, or closed without an answer, or a
    /// JSON-RPC error whose message speaks of overload or of a rate limit.
    pub(super) may_be_load: bool,
    /// Whether it may come from a gateway whose service restarts: HTTP 502, or 503 without Retry-After.
    pub(super) may_be_outage: bool,
    /// The limit on requests that it states.
    pub(super) limit: Option<Limit>,
}

/// How an answer states that too many requests were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// HTTP 429 or 503 with Retry-After.
    WithTime,
    /// HTTP 429 without Retry-After.
    WithoutTime,
    /// A JSON-RPC error that speaks of a rate limit.
    InBody,
}

impl Excuse {
    /// The excuse in an exchange, by the words of errors and those that were found to be the target's own for a limit.
    pub(super) fn of(exchange: &Exchange, own_words: &OwnWords) -> Self {
        let response = match &exchange.outcome {
            Ok(response) => response,
            Err(failure) => {
                let sign = match failure {
                    Failure::Broken(_) => "no answer, and the connection is closed".to_owned(),
                    Failure::Connect(cause) => format!("no connection: {cause}"),
                    Failure::Cut(cause) if cause.contains("reset") => "the connection is reset".to_owned(),
                    _ => return Self::default(),
                };
                return Self { sign, may_be_load: true, ..Self::default() };
            }
        };
        let status = response.status;
        let words = error_of_load(exchange, own_words);
        if words.is_none() && !matches!(status, 429 | 502 | 503) {
            return Self::default();
        }
        let is_throttled = throttling::is_throttled(response);
        Self {
            sign: match &words {
                Some((words, _)) if !matches!(status, 429 | 503) => words.clone(),
                _ => format!("HTTP {status}"),
            },
            may_be_load: status != 502 || words.is_some(),
            may_be_outage: matches!(status, 502 | 503) && !is_throttled,
            limit: match words {
                _ if throttling::is_throttled_without_time(response) => Some(Limit::WithoutTime),
                _ if is_throttled => Some(Limit::WithTime),
                Some((_, true)) => Some(Limit::InBody),
                _ => None,
            },
        }
    }

    /// Whether too many requests were sent, and no time is stated: other requests in flight may be the reason as well.
    pub(super) fn is_limit_without_time(&self) -> bool {
        matches!(self.limit, Some(Limit::WithoutTime | Limit::InBody))
    }
}

/// The first JSON-RPC error that speaks of overload or of a rate limit, in words, and whether it speaks of a rate limit.
fn error_of_load(exchange: &Exchange, own_words: &OwnWords) -> Option<(String, bool)> {
    errors(exchange).iter().find_map(|error| {
        let message = error.get("message")?.as_str()?;
        let is_rate_limit = speaks_of_rate(error) || own_words.has_limit(error);
        let is_overload =
            has_one_of(message, &["busy", "overload", "too many concurrent", "try again later"]);
        (is_rate_limit || is_overload).then(|| (format!("the error \"{message}\""), is_rate_limit))
    })
}

/// The JSON-RPC errors of an answer, or of the elements of a batch.
pub(super) fn errors(exchange: &Exchange) -> Vec<&Value> {
    if exchange.outcome.as_ref().is_ok_and(|response| response.body.len() > LONGEST_ERROR) {
        return Vec::new();
    }
    let answer = Answer::of(exchange);
    let elements = answer.array().into_iter().flatten().filter_map(Value::as_object);
    elements.chain(answer.object()).filter_map(error_of).collect()
}

/// Longer answers are not looked at, in bytes.
const LONGEST_ERROR: usize = 2048;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use paymaster_exchange::Response;
    use serde_json::json;

    use super::*;

    fn exchange(outcome: Result<(u16, &str), Failure>) -> Exchange {
        let outcome = outcome.map(|(status, body)| Response {
            status,
            headers: Vec::new(),
            body: body.to_owned().into(),
        });
        Exchange::new(Bytes::new(), outcome, Duration::ZERO)
    }

    #[test]
    fn errors_that_may_come_from_overload() {
        let error = |message: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32005,"message":"{message}"}}}}"#)
        };
        for (outcome, expected) in [
            (Ok((503, "<html>")), true),
            (Ok((429, "")), true),
            (Ok((500, "<html>")), false),
            (Ok((200, &*error("Server busy"))), true),
            (Ok((503, &*error("no"))), true),
            (Ok((400, &*error("RATE_LIMIT exceeded"))), true),
            (Ok((200, &*error("too many requests"))), true),
            (Ok((200, &*format!("[{}]", error("too many requests")))), true),
            (Ok((200, &*error("limit exceeded"))), true),
            (Ok((200, &*error("unsupported token"))), false),
            (Ok((200, r#"{"result":{"message":"busy"}}"#)), false),
            (Ok((200, r#"{"result":{},"error":{"message":"busy"}}"#)), false),
            (Err(Failure::Broken("closed".to_owned())), true),
            (Err(Failure::Cut("connection reset by peer".to_owned())), true),
            (Err(Failure::Cut("end of file before message length reached".to_owned())), false),
            (Err(Failure::Connect("refused".to_owned())), true),
        ] {
            let exchange = exchange(outcome);
            let may_be_load = Excuse::of(&exchange, &OwnWords::default()).may_be_load;
            assert_eq!(may_be_load, expected, "{exchange:?}");
        }
    }

    #[test]
    fn a_rate_limit_in_the_body_counts_where_http_states_none() {
        let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limit exceeded"}}"#;
        for (status, counts) in [(200, true), (400, true), (503, true), (429, false)] {
            let excuse = Excuse::of(&exchange(Ok((status, body))), &OwnWords::default());
            assert_eq!(matches!(excuse.limit, Some(Limit::InBody)), counts, "{status}");
        }
        let speaks = |message: &str| {
            let body = json!({ "error": { "code": -32005, "message": message } }).to_string();
            Excuse::of(&exchange(Ok((200, &body))), &OwnWords::default()).limit == Some(Limit::InBody)
        };
        assert!(speaks("Limit exceeded") && speaks("daily request count exceeded"));
        assert!(!speaks("server busy") && !speaks("spending limit exceeded"));
    }
}
