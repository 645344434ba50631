//! Which recorded requests are for the paymaster service: a wallet's traffic is full of others.

use paymaster_schemas::Method;
use serde_json::Value;

/// Why a request is none of ours; none when it calls one of the two methods.
///
/// The method is what counts, not the address: one address often serves bundler and paymaster methods, and a bundler method that
/// is answered there breaks nothing.
pub fn foreign(http_method: &str, body: &[u8]) -> Option<&'static str> {
    if !http_method.eq_ignore_ascii_case("POST") {
        return Some("not a POST request");
    }
    match serde_json::from_slice::<Value>(body) {
        Err(_) => Some("the request is no JSON"),
        Ok(Value::Array(calls)) if !calls.is_empty() && calls.iter().any(is_ours) => {
            (!calls.iter().all(is_ours)).then_some("a batch with calls of other methods too")
        }
        Ok(call) if is_ours(&call) => None,
        Ok(_) => Some("no call of the two methods"),
    }
}

fn is_ours(call: &Value) -> bool {
    call["method"]
        .as_str()
        .is_some_and(|method| Method::from_name(method).is_some())
}

/// Whether a response carries a body that only another program can read: it was compressed and recorded so.
pub fn is_unreadable(headers: &[(String, String)], body: &[u8]) -> bool {
    let encoded = headers.iter().any(|(name, value)| {
        name == "content-encoding" && !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "identity")
    });
    // Recorders decode bodies and keep the header: only bytes that are no text are still compressed.
    encoded && std::str::from_utf8(body).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_of_the_two_methods_are_ours() {
        for (method, body, expected) in [
            ("POST", r#"{"method":"pm_getFeeQuoteOrData"}"#, None),
            ("post", r#"[{"method":"pm_sponsorUserOperation"}]"#, None),
            ("OPTIONS", "", Some("not a POST request")),
            ("POST", "a=b", Some("the request is no JSON")),
            ("POST", "[]", Some("no call of the two methods")),
            (
                "POST",
                r#"{"method":"eth_chainId"}"#,
                Some("no call of the two methods"),
            ),
            (
                "POST",
                r#"[{"method":"pm_sponsorUserOperation"},{"method":"eth_chainId"}]"#,
                Some("a batch with calls of other methods too"),
            ),
        ] {
            assert_eq!(foreign(method, body.as_bytes()), expected, "{method} {body}");
        }
    }
}
