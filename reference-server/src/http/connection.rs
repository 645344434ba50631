//! One connection: hyper's HTTP/1 under our watch.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::body::{self, BodyError};
use super::deviating::{self, HungUp, Pieces};
use super::progress::{Progress, TickBounds, Verdict};
use super::pulse::{Pulse, Stage};
use super::socket::Socket;
use crate::chain::World;
use crate::error_codes::ErrorCode;
use crate::service::{Reply, Service};

/// hyper's buffer for what it reads and writes, at least; heads longer than this need more.
const BUFFER_BYTES: usize = 64 * 1024;

/// Serves a connection to its end.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: Arc<Service>,
    pulse: Arc<Pulse>,
    tick_bounds: Arc<TickBounds>,
) {
    let progress = Arc::new(Progress::new(Arc::clone(&pulse)));
    let socket = Socket {
        stream,
        progress: Arc::clone(&progress),
    };
    let max_header_bytes = service.bounds().max_header_bytes;
    let answering = Arc::clone(&progress);
    let connection = http1::Builder::new()
        // A client that sends its request and then closes its half still gets the answer.
        .half_close(true)
        .max_header_size(max_header_bytes)
        .max_buf_size(BUFFER_BYTES.max(max_header_bytes.saturating_mul(2)))
        .serve_connection(
            TokioIo::new(socket),
            service_fn(|request| answer(request, Arc::clone(&service), Arc::clone(&answering))),
        );
    let mut connection = pin!(connection);
    let enrolled = Enrolled::new(&pulse);
    let mut seen = Seen {
        tick: pulse.now(),
        stage: Stage::Serving,
        listening: false,
    };
    poll_fn(|cx| {
        enrolled.listen_once(&mut seen, cx);
        progress.turn_begins();
        let ended = connection.as_mut().poll(cx);
        if let Poll::Ready(end) = ended {
            if let Err(error) = end {
                tracing::debug!(%error, "connection failed");
            }
            return Poll::Ready(());
        }
        let stage = pulse.stage();
        if stage != seen.stage {
            seen.stage = stage;
            match stage {
                Stage::Serving => {}
                Stage::Stopping => connection.as_mut().graceful_shutdown(),
                Stage::Ending => return Poll::Ready(()),
            }
            return connection.as_mut().poll(cx).map(|_| ());
        }
        let tick = pulse.now();
        if tick == seen.tick {
            return Poll::Pending;
        }
        seen.tick = tick;
        match progress.check(&tick_bounds) {
            Verdict::InTime => Poll::Pending,
            Verdict::BodyLate => connection.as_mut().poll(cx).map(|_| ()),
            Verdict::Close(reason) => {
                tracing::debug!(reason, "connection closed");
                Poll::Ready(())
            }
        }
    })
    .await;
}

/// What a connection last knew of the pulse.
struct Seen {
    tick: u32,
    stage: Stage,
    listening: bool,
}

/// A connection's place in the pulse, given up when it is dropped, however that comes.
struct Enrolled<'a> {
    pulse: &'a Pulse,
    number: u64,
}

impl<'a> Enrolled<'a> {
    fn new(pulse: &'a Pulse) -> Self {
        Self {
            pulse,
            number: pulse.enrol(),
        }
    }

    /// A task has one waker for life, so that the first poll's will do.
    fn listen_once(&self, seen: &mut Seen, cx: &Context<'_>) {
        if !seen.listening {
            seen.listening = true;
            self.pulse.listen(self.number, cx.waker());
        }
    }
}

impl Drop for Enrolled<'_> {
    fn drop(&mut self) {
        self.pulse.leave(self.number);
    }
}

/// Answers one request.
async fn answer(
    request: Request<Incoming>,
    service: Arc<Service>,
    progress: Arc<Progress>,
) -> Result<Response<Either<Full<Bytes>, Pieces>>, HungUp> {
    progress.head_read();
    if progress.is_turn_over() {
        tokio::task::yield_now().await;
    }
    let response = if request.method() == Method::POST {
        let waits = request.headers().contains_key(EXPECT);
        let limit = service.bounds().max_body_bytes;
        match body::read(request.into_body(), limit, waits, &progress).await {
            Ok(body) => {
                let known = service.look_up(&body).await;
                let now = unix_now();
                let world = known
                    .as_ref()
                    .map_or(World::at(now), |nonces| World { now, nonces });
                match service.deviations() {
                    None => into_response(service.handle(&body, world)),
                    Some(deviations) => {
                        let sent = deviations.respond(&service, &body, world).await;
                        let response = deviating::into_response(sent).await;
                        progress.answered();
                        return response;
                    }
                }
            }
            Err(error) => refused_body(&service, error),
        }
    } else {
        let mut response = into_response(service.refuse(405, ErrorCode::HttpMethod, "only POST is served"));
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        response
    };
    progress.answered();
    Ok(response.map(Either::Left))
}

fn refused_body(service: &Service, error: BodyError) -> Response<Full<Bytes>> {
    let reply = match error {
        BodyError::TooLarge => {
            let reason = format!("more than {} bytes", service.bounds().max_body_bytes);
            service.refuse(413, ErrorCode::BodyTooLarge, &reason)
        }
        BodyError::Late => service.refuse(408, ErrorCode::BodyIncomplete, "it did not arrive in time"),
        BodyError::Broken => service.refuse(400, ErrorCode::BodyIncomplete, "it did not arrive whole"),
    };
    let mut response = into_response(reply);
    // What is left of the body must not be taken for the next request.
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn into_response(reply: Reply) -> Response<Full<Bytes>> {
    let has_body = reply.body.is_some();
    let mut response = Response::new(Full::new(Bytes::from(reply.body.unwrap_or_default())));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if has_body {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

/// Unix time, in seconds; 0 on a machine whose clock is before 1970.
fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
