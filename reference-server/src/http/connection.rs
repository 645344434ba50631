//! One connection: hyper's HTTP/1 with our timeouts.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::MissedTickBehavior;

use super::body::{self, BodyError};
use super::progress::{Progress, TickBounds};
use super::socket::Socket;
use crate::bounds::Bounds;
use crate::error_codes::ErrorCode;
use crate::respond::Respond;
use crate::service::Reply;

/// Smallest buffer of a connection, in bytes. A larger bound on heads needs a larger one.
const BUFFER_BYTES: usize = 64 * 1024;
/// Requests of a connection after which it yields to other connections: a client that pipelines without end must not keep
/// them waiting.
const REQUESTS_BEFORE_YIELD: u32 = 4;

/// Serves a connection until it ends, times out, or has answered its last request after the shutdown began.
pub(super) async fn serve<S: Respond>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: Arc<S>,
    shutdown: Watcher,
) {
    let progress = Arc::new(Progress::new());
    let socket = Socket {
        stream,
        progress: Arc::clone(&progress),
    };
    let tick_bounds = TickBounds::new(service.bounds());
    let max_header_bytes = service.bounds().max_header_bytes;
    let served = AtomicU32::new(0);
    let connection = http1::Builder::new()
        // A client that closes its sending half after the request still gets the response.
        .half_close(true)
        .max_header_size(max_header_bytes)
        .max_buf_size(BUFFER_BYTES.max(max_header_bytes.saturating_mul(2)))
        .serve_connection(
            TokioIo::new(socket),
            service_fn(|request| {
                let yields = served.fetch_add(1, Ordering::Relaxed) % REQUESTS_BEFORE_YIELD
                    == REQUESTS_BEFORE_YIELD - 1;
                respond(request, Arc::clone(&service), Arc::clone(&progress), yields)
            }),
        );
    let mut connection = pin!(shutdown.watch(connection));
    let mut ticks = tokio::time::interval(tick_bounds.period());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection failed");
                }
                return;
            }
            _ = ticks.tick() => {
                if let Err(reason) = progress.tick(&tick_bounds) {
                    tracing::debug!(reason, "connection closed");
                    return;
                }
            }
        }
    }
}

/// Responds to one request.
async fn respond<S: Respond>(
    request: Request<Incoming>,
    service: Arc<S>,
    progress: Arc<Progress>,
    yields: bool,
) -> io::Result<Response<Either<Full<Bytes>, S::Body>>> {
    progress.head_read();
    if yields {
        tokio::task::yield_now().await;
    }
    let response = if request.method() == Method::POST {
        let bounds = service.bounds();
        let expects_continue = request.headers().contains_key(EXPECT);
        let timeout = Duration::from_millis(bounds.body_timeout_ms);
        let (head, body) = request.into_parts();
        match body::read(body, bounds.max_body_bytes, timeout, expects_continue).await {
            Ok(body) => service
                .respond(&head.headers, &body)
                .await
                .map(|response| response.map(Either::Right)),
            Err(error) => Ok(refuse_body(error, bounds).map(Either::Left)),
        }
    } else {
        let reply = Reply::refusal(405, ErrorCode::HttpMethod, "only POST is served");
        let mut response = Response::from(reply);
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        Ok(response.map(Either::Left))
    };
    progress.answered();
    response
}

fn refuse_body(error: BodyError, bounds: &Bounds) -> Response<Full<Bytes>> {
    let (status, code, reason) = match error {
        BodyError::TooLarge => {
            let reason = format!("more than {} bytes", bounds.max_body_bytes);
            (413, ErrorCode::BodyTooLarge, reason)
        }
        BodyError::Late => (
            408,
            ErrorCode::BodyIncomplete,
            "it did not arrive in time".to_owned(),
        ),
        BodyError::Broken => (
            400,
            ErrorCode::BodyIncomplete,
            "it did not arrive whole".to_owned(),
        ),
    };
    let mut response = Response::from(Reply::refusal(status, code, &reason));
    // The rest of the body must not be parsed as the next request.
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

impl From<Reply> for Response<Full<Bytes>> {
    fn from(reply: Reply) -> Self {
        let has_body = reply.body.is_some();
        let mut response = Self::new(Full::new(Bytes::from(reply.body.unwrap_or_default())));
        *response.status_mut() =
            StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if has_body {
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        response
    }
}
