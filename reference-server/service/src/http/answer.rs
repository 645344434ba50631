//! The response to one HTTP request: JSON-RPC by POST at any path, `GET /health`, and CORS.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};

use super::body::{self, BodyError};
use super::{Server, cors};
use crate::config::Bounds;
use crate::http::respond::{Respond, ResponseCopy};
use crate::message::ErrorCode;
use crate::observation::calls::outcome;
use crate::observation::observer::{Observation, Subject};
use crate::service::Reply;

/// The body of a response: our own, or that of the service.
pub(super) type ServerBody<S> = Either<Full<Bytes>, <S as Respond>::Body>;

/// The path of `GET /health`.
const HEALTH_PATH: &str = "/health";
const HEALTHY: &[u8] = br#"{"status":"ok"}"#;
/// Longest part of an HTTP method that is logged, in characters: clients choose it.
const LONGEST_METHOD: usize = 16;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Responds to a request, and observes it. An error closes the connection without a response.
pub(super) async fn answer<S: Respond>(
    request: Request<Incoming>,
    server: &Server<S>,
) -> io::Result<Response<ServerBody<S>>> {
    let mut observation = server.observer.begin();
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = if request.method() == Method::POST {
        post(request, &*server.service, observation.as_mut()).await
    } else {
        let (response, outcome) = without_json_rpc(&request, &*server.service);
        if let Some(observation) = &mut observation {
            let method = request.method().as_str().chars();
            let method = Cow::Owned(method.take(LONGEST_METHOD).collect());
            observation.subject = Subject::Http { method, outcome };
        }
        Ok(response.map(Either::Left))
    };
    if let (Some(origin), Ok(response)) = (origin, &mut response) {
        cors::add_headers(server.service.cors(), &origin, response.headers_mut());
    }
    if let Some(observation) = observation {
        observation.end(response.as_ref().ok().map(|response| response.status().as_u16()));
    }
    response
}

/// Responds to a POST request.
async fn post<S: Respond>(
    request: Request<Incoming>,
    service: &S,
    observation: Option<&mut Observation>,
) -> io::Result<Response<ServerBody<S>>> {
    let bounds = service.bounds();
    let expects_continue = request.headers().contains_key(EXPECT);
    let timeout = Duration::from_millis(bounds.body_timeout_ms);
    let (head, body) = request.into_parts();
    let body = match body::read(body, bounds.max_body_bytes, timeout, expects_continue).await {
        Ok(body) => body,
        Err(error) => {
            let (response, code) = refuse_body(error, bounds);
            if let Some(observation) = observation {
                observation.subject = Subject::Http { method: Cow::Borrowed("POST"), outcome: code.name() };
            }
            return Ok(response.map(Either::Left));
        }
    };
    let mut copy = ResponseCopy::new(observation.is_some());
    let response = service.respond(&head, &body, &mut copy).await;
    if let Some(observation) = observation {
        observation.subject = Subject::JsonRpc { request: body, response: copy };
    }
    Ok(response?.map(Either::Right))
}

/// Responds to a request that is no POST; returns what it was about, too.
fn without_json_rpc<S: Respond>(
    request: &Request<Incoming>,
    service: &S,
) -> (Response<Full<Bytes>>, &'static str) {
    if cors::is_preflight(request) {
        return cors::preflight(service.cors(), request.headers());
    }
    let is_health = request.uri().path() == HEALTH_PATH;
    if is_health && request.method() == Method::GET {
        let mut response = Response::new(Full::from(HEALTHY));
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        return (response, outcome::HEALTH);
    }
    let code = ErrorCode::HttpMethod;
    let reason = "only POST is served, and GET at /health";
    let mut response = Response::from(Reply::refusal(405, code, reason));
    let methods = HeaderValue::from_static(if is_health { "GET, POST" } else { "POST" });
    response.headers_mut().insert(ALLOW, methods);
    (response, code.name())
}

/// The response to a body that cannot be read, and its error code.
fn refuse_body(error: BodyError, bounds: &Bounds) -> (Response<Full<Bytes>>, ErrorCode) {
    let (status, code, reason) = match error {
        BodyError::TooLarge => {
            let reason = format!("more than {} bytes", bounds.max_body_bytes);
            (413, ErrorCode::BodyTooLarge, reason)
        }
        BodyError::Late => (408, ErrorCode::BodyIncomplete, "it did not arrive in time".to_owned()),
        BodyError::Broken => (400, ErrorCode::BodyIncomplete, "it did not arrive whole".to_owned()),
    };
    let mut response = Response::from(Reply::refusal(status, code, &reason));
    // The rest of the body must not be parsed as the next request.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    (response, code)
}

impl From<Reply> for Response<Full<Bytes>> {
    fn from(reply: Reply) -> Self {
        let has_body = reply.body.is_some();
        let mut response = Self::new(Full::new(Bytes::from(reply.body.unwrap_or_default())));
        *response.status_mut() =
            StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if has_body {
            response.headers_mut().insert(CONTENT_TYPE, JSON);
        }
        response
    }
}
