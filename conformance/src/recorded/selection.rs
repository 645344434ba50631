//! Which exchanges of a wallet's traffic are judged: calls of the paymaster service with an answer of the service.

use paymaster_engine::specification::Specification;
use paymaster_settings::SPECIFICATIONS;
use serde_json::Value;

use paymaster_client::throttling::is_throttled;
use paymaster_exchange::Response;

/// Why a request is not judged; none where it calls a method of a specification.
///
/// The method decides, not the address: one address often serves bundler and paymaster methods.
pub fn request_skip_reason(http_method: &str, body: &[u8]) -> Option<&'static str> {
    if !http_method.eq_ignore_ascii_case("POST") {
        return Some("not a POST request");
    }
    match serde_json::from_slice::<Value>(body) {
        Err(_) => Some("the request is no JSON"),
        Ok(Value::Array(calls)) if !calls.is_empty() && calls.iter().any(is_paymaster_call) => {
            (!calls.iter().all(is_paymaster_call)).then_some("a batch with calls of other methods too")
        }
        Ok(call) if is_paymaster_call(&call) => None,
        Ok(_) => Some("no call of a method of a specification"),
    }
}

fn is_paymaster_call(call: &Value) -> bool {
    specification_of(call).is_some()
}

/// The specification of a call, by its method.
fn specification_of(call: &Value) -> Option<&'static Specification> {
    let method = call["method"].as_str()?;
    SPECIFICATIONS.iter().copied().find(|known| known.methods().contains(&method))
}

/// The specification whose method a request calls, the first call of a batch.
pub fn called_specification(body: &[u8]) -> Option<&'static Specification> {
    match serde_json::from_slice(body).ok()? {
        Value::Array(calls) => calls.iter().find_map(specification_of),
        call => specification_of(&call),
    }
}

/// Why a response is not judged; none where it is.
///
/// A 429, or a 503 with Retry-After, is not an answer of the service: in a check the request is sent again.
pub fn response_skip_reason(response: &Response) -> Option<&'static str> {
    if is_throttled(response) {
        return Some("the target asked to come again later");
    }
    let encoding = response.header("content-encoding").unwrap_or_default().trim();
    let encoded = !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity");
    // Recorders decode bodies and keep the header: only bodies that are not UTF-8 are still compressed.
    (encoded && std::str::from_utf8(&response.body).is_err())
        .then_some("the body of the answer was recorded compressed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_of_methods_of_a_specification_are_judged() {
        for (method, body, expected) in [
            ("POST", r#"{"method":"pm_getFeeQuoteOrData"}"#, None),
            ("post", r#"[{"method":"pm_sponsorUserOperation"}]"#, None),
            ("OPTIONS", "", Some("not a POST request")),
            ("POST", "a=b", Some("the request is no JSON")),
            ("POST", "[]", Some("no call of a method of a specification")),
            ("POST", r#"{"method":"eth_chainId"}"#, Some("no call of a method of a specification")),
            (
                "POST",
                r#"[{"method":"pm_sponsorUserOperation"},{"method":"eth_chainId"}]"#,
                Some("a batch with calls of other methods too"),
            ),
        ] {
            assert_eq!(request_skip_reason(method, body.as_bytes()), expected, "{method} {body}");
        }
    }

    #[test]
    fn a_response_that_asks_for_a_retry_is_not_judged() {
        for (status, header, expected) in [
            (200, "", None),
            (429, "", Some("the target asked to come again later")),
            (503, "", None),
            (503, "retry-after", Some("the target asked to come again later")),
        ] {
            let response = Response {
                status,
                headers: vec![(header.to_owned(), "1".to_owned())],
                body: bytes::Bytes::new(),
            };
            assert_eq!(response_skip_reason(&response), expected, "{status} {header}");
        }
    }
}
