//! The HTTP server: POST at any path, `GET /health` and CORS, bounded in size, time and number of connections.

mod answer;
mod body;
mod connection;
mod cors;
mod listener;
mod progress;
pub(crate) mod respond;
mod socket;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;

pub use self::listener::{Listen, PipeConnector, PipeListener, pipe};
use crate::http::respond::Respond;
use crate::message::error_codes::ErrorCode;
use crate::observation::observer::Observer;
use crate::service::Reply;

/// Wait before the next accept when the system has no descriptor or memory left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Longest time that a refused connection takes to read the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// What the connections of a server share.
#[derive(Debug)]
struct Server<S> {
    service: Arc<S>,
    observer: Observer,
}

/// Serves until `shutdown` is ready. Then it answers the requests in flight, within the drain timeout, and returns. It logs
/// no requests and counts none.
pub async fn run<L: Listen, S: Respond>(listener: L, service: Arc<S>, shutdown: impl Future<Output = ()>) {
    run_observed(listener, service, Observer::default(), shutdown).await;
}

/// The same with log and metrics of the requests, as `observer` has them.
pub async fn run_observed<L: Listen, S: Respond>(
    mut listener: L,
    service: Arc<S>,
    observer: Observer,
    shutdown: impl Future<Output = ()>,
) {
    let server = Arc::new(Server { service, observer });
    let service = &server.service;
    let bounds = service.bounds();
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);

    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(stream) if connections.len() < bounds.max_connections => {
                    if service.resets_connections() {
                        L::reset_when_closed(&stream);
                    }
                    connections.spawn(connection::serve(stream, Arc::clone(&server), graceful.watcher()));
                }
                Ok(stream) => {
                    tokio::spawn(refuse(stream));
                }
                Err(error) => pause_after(&error).await,
            },
        }
    }
    drop(listener);
    tracing::info!(connections = connections.len(), "stopping");
    let drain = tokio::time::timeout(Duration::from_millis(bounds.drain_timeout_ms), graceful.shutdown());
    if drain.await.is_err() {
        tracing::warn!("requests in flight were cut off");
    }
    connections.shutdown().await;
    tracing::info!("stopped");
}

/// Waits when the system lacks descriptors or memory, which passes only with time; not when only one connection failed.
async fn pause_after(error: &io::Error) {
    let only_this_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    );
    if !only_this_connection {
        tracing::warn!(%error, "cannot accept connections");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// Answers a connection beyond the bound, without reading its request.
async fn refuse(mut stream: impl AsyncWrite + Unpin) {
    let reply = Reply::refusal(503, ErrorCode::TooManyConnections, "try again later");
    let body = reply.body.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let response = [head.as_bytes(), &body].concat();
    let _ = tokio::time::timeout(REFUSAL_TIMEOUT, async {
        stream.write_all(&response).await?;
        stream.shutdown().await
    })
    .await;
}
