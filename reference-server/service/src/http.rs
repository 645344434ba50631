//! The HTTP server: POST at any path, `GET /health` and CORS, bounded in size, time and number of connections.

mod answer;
mod body;
mod connection;
mod cors;
mod progress;
pub(crate) mod respond;
mod socket;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::http::respond::Respond;
use crate::message::ErrorCode;
use crate::observation::observer::Observer;
use crate::service::Reply;

/// Wait before the next accept after one that failed, mostly because the system has no descriptor or memory left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Longest time that a refused connection takes to read the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// What the connections of a server share.
struct Server<S> {
    service: Arc<S>,
    observer: Observer,
}

/// Serves until `shutdown` is ready. Then it answers the requests in flight, within the drain timeout, and returns. It logs
/// no requests and counts none.
pub async fn run<S: Respond>(listener: TcpListener, service: Arc<S>, shutdown: impl Future<Output = ()>) {
    run_observed(listener, service, Observer::default(), shutdown).await;
}

/// Serves one connection of this process until it ends: HTTP over a pipe instead of a socket.
pub async fn serve_stream<S: Respond>(stream: DuplexStream, service: Arc<S>) {
    let server = Arc::new(Server { service, observer: Observer::default() });
    // Dropping it before the end would begin the shutdown of the connection.
    let graceful = GracefulShutdown::new();
    connection::serve(stream, server, graceful.watcher()).await;
}

/// The same as [`run`] with log and metrics of the requests, as `observer` has them.
pub async fn run_observed<S: Respond>(
    listener: TcpListener,
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
                Ok((stream, _)) if connections.len() < bounds.max_connections => {
                    // Responses are written whole, so that waiting for more data would only delay them.
                    let _ = stream.set_nodelay(true);
                    if service.resets_connections() {
                        let _ = stream.set_zero_linger();
                    }
                    connections.spawn(connection::serve(stream, Arc::clone(&server), graceful.watcher()));
                }
                Ok((stream, _)) => {
                    tokio::spawn(refuse(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
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

/// Answers a connection beyond the bound, without reading its request.
async fn refuse(mut stream: TcpStream) {
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;
    use crate::{Config, Service};

    #[tokio::test]
    async fn a_pipe_is_served_like_a_port() {
        let service = Service::new(&Config::default()).expect("the default configuration is valid");
        let (mut stream, served) = duplex(64 * 1024);
        let serving = tokio::spawn(serve_stream(served, Arc::new(service)));
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"none","params":[]}"#;
        let request = format!(
            "POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the response ends when the server closes");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""id":7"#), "{answer}");
        serving.await.expect("the server ends");
    }
}
