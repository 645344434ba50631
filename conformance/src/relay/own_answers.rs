//! Answers that the relay itself gives. They are marked by a header and never judged.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};

use paymaster_exchange::Failure;

/// The header that marks an answer of the relay.
pub(super) const MARK: &str = "x-paymaster-conformance-proxy";

/// The code that JSON-RPC 2.0 reserves for internal errors.
const INTERNAL_ERROR: i64 = -32_603;

/// The answer to a request that the upstream did not answer.
pub(super) fn unanswered(request: &[u8], failure: &Failure) -> Response<Full<Bytes>> {
    let status = match failure {
        Failure::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    answer(status, request, &format!("the upstream gave no answer: {failure}"))
}

/// The answer to a request that did not arrive completely, in time and within the size limit.
pub(super) fn not_forwarded(limit: usize) -> Response<Full<Bytes>> {
    let message = format!(
        "the request is larger than {limit} bytes, broke off or took too long, and was not forwarded"
    );
    answer(StatusCode::PAYLOAD_TOO_LARGE, b"", &message)
}

fn answer(status: StatusCode, request: &[u8], text: &str) -> Response<Full<Bytes>> {
    let id = serde_json::from_slice::<Value>(request)
        .ok()
        .and_then(|call| call.get("id").cloned())
        .filter(|id| id.is_string() || id.is_number())
        .unwrap_or_default();
    let message = format!("paymaster-conformance proxy: {text}");
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(MARK, HeaderValue::from_static("answered by the proxy itself"));
    // Lets a web page read why its call failed.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
