//! One connection: hyper's HTTP/1 with our timeouts.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::MissedTickBehavior;

use super::Server;
use super::answer::{ServerBody, answer};
use super::progress::{Progress, TickBounds};
use super::socket::Socket;
use crate::http::respond::{AnnouncesTimeout, IdleBefore, Respond};

/// Smallest buffer of a connection, in bytes. A larger bound on heads needs a larger one.
const BUFFER_BYTES: usize = 64 * 1024;
/// Requests of a connection after which it yields to other connections: a client that pipelines without end must not keep
/// them waiting.
const REQUESTS_BEFORE_YIELD: u32 = 4;

/// Serves a connection until it ends, times out, or has answered its last request after the shutdown began.
pub(super) async fn serve<S: Respond>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: Arc<Server<S>>,
    shutdown: Watcher,
) {
    let progress = Arc::new(Progress::default());
    let socket = Socket { stream, progress: Arc::clone(&progress) };
    let bounds = server.service.bounds();
    let tick_bounds = TickBounds::new(bounds);
    let max_header_bytes = bounds.max_header_bytes;
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
                respond(request, Arc::clone(&server), Arc::clone(&progress), yields)
            }),
        );
    let mut connection = pin!(shutdown.watch(connection));
    let mut ticks = tokio::time::interval(tick_bounds.period);
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
                if let Err(reason) = progress.tick(&tick_bounds)
                    && !progress.time_out()
                {
                    tracing::debug!(reason, "connection closed");
                    return;
                }
            }
        }
    }
}

/// Responds to one request.
async fn respond<S: Respond>(
    mut request: Request<Incoming>,
    server: Arc<Server<S>>,
    progress: Arc<Progress>,
    yields: bool,
) -> io::Result<Response<ServerBody<S>>> {
    if let Some(idle) = progress.since_answer() {
        request.extensions_mut().insert(IdleBefore(idle));
    }
    progress.head_read();
    if yields {
        tokio::task::yield_now().await;
    }
    let response = answer(request, &server).await;
    if let Ok(response) = &response
        && response.extensions().get::<AnnouncesTimeout>().is_some()
    {
        progress.announce_timeout();
    }
    progress.answered();
    response
}
