//! Answers that are the relay's own, marked as such: they are never judged.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};

use paymaster_exchange::Failure;

/// The header that marks an answer of our own.
pub(super) const MARK: &str = "x-paymaster-conformance-proxy";

/// The code of an error inside the service, as JSON-RPC 2.0 reserves it.
const INTERNAL_ERROR: i64 = -32_603;

/// The answer to a request that could not be passed on, or whose answer did not come.
pub(super) fn unanswered(request: &[u8], failure: &Failure) -> Response<Full<Bytes>> {
    let status = match failure {
        Failure::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    answer(
        status,
        request,
        &format!("the upstream gave no answer: {failure}"),
    )
}

/// The answer to a request that did not arrive whole, in time and within the bounds.
pub(super) fn not_passed_on(limit: usize) -> Response<Full<Bytes>> {
    let said = format!(
        "the request is larger than {limit} bytes, broke off or took too long, and was not passed on"
    );
    answer(StatusCode::PAYLOAD_TOO_LARGE, b"", &said)
}

fn answer(status: StatusCode, request: &[u8], said: &str) -> Response<Full<Bytes>> {
    let id = serde_json::from_slice::<Value>(request)
        .ok()
        .and_then(|call| call.get("id").cloned())
        .filter(|id| id.is_string() || id.is_number())
        .unwrap_or_default();
    let message = format!("paymaster-conformance proxy: {said}");
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(MARK, HeaderValue::from_static("answered by the proxy itself"));
    // A page must be able to read why its call failed.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
