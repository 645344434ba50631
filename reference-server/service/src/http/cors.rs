//! The headers of Cross-Origin Resource Sharing, and the response to a preflight request.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap,
    HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::config::Cors;
use crate::message::ErrorCode;
use crate::observation::calls::outcome;
use crate::service::Reply;

/// How long a browser may keep the response to a preflight request, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("POST, GET");
const VARY_ORIGIN: HeaderValue = HeaderValue::from_static("origin");

/// Whether a browser asks with this request if a page may send another one.
pub(super) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(ORIGIN)
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The response to a preflight request, without the headers of [`add_headers`]; and what it was about.
pub(super) fn preflight(cors: &Cors, request: &HeaderMap) -> (Response<Full<Bytes>>, &'static str) {
    let origin = request.get(ORIGIN).map(HeaderValue::as_bytes).unwrap_or_default();
    if !cors.allows(origin) {
        let origin = String::from_utf8_lossy(origin);
        let reason = format!("{origin} is not one of cors.origins in the configuration of this server");
        let code = ErrorCode::OriginNotAllowed;
        return (Reply::refusal(403, code, &reason).into(), code.name());
    }
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    if let Some(wanted) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    (response, outcome::PREFLIGHT)
}

/// Lets pages of `origin`, the origin of the request, read the response if it is allowed.
pub(super) fn add_headers(cors: &Cors, origin: &HeaderValue, response: &mut HeaderMap) {
    match cors {
        Cors::Any => {
            response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
        }
        Cors::Listed(_) => {
            response.append(VARY, VARY_ORIGIN);
            if cors.allows(origin.as_bytes()) {
                response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            }
        }
    }
}
