//! The page that Prometheus scrapes: `GET /metrics` on a port of its own. The load generator serves its figures with it, too.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The content type of OpenMetrics text.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
/// Most connections at a time; further ones wait.
const MOST_CONNECTIONS: u32 = 16;
/// Longest time of a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait before the next accept after one that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address that an argument of `--metrics` names: `PORT` and `:PORT` are ports of 127.0.0.1.
pub fn metrics_address(argument: &str) -> String {
    let port = argument.strip_prefix(':').unwrap_or(argument);
    if port.contains(':') { argument.to_owned() } else { format!("127.0.0.1:{port}") }
}

/// Serves OpenMetrics text at `/metrics`. `text` makes it for each request, on a thread that may block. A connection is closed after
/// its response. After `shutdown`, no connection is accepted, and those that are open get their responses.
pub async fn serve_metrics<T>(listener: TcpListener, text: T, shutdown: impl Future<Output = ()>)
where
    T: Fn() -> Result<String, fmt::Error> + Clone + Send + Sync + 'static,
{
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS as usize));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = shutdown.as_mut() => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let text = text.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let text = text.clone();
                async move { Ok::<_, Infallible>(page(&request, text).await) }
            });
            let connection =
                http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
            drop(permit);
        });
    }
    // Every connection ends, by its timeout at the latest.
    let _ = permits.acquire_many(MOST_CONNECTIONS).await;
}

async fn page<B>(
    request: &Request<B>,
    text: impl FnOnce() -> Result<String, fmt::Error> + Send + 'static,
) -> Response<Full<Bytes>> {
    let plain = |status, text: &'static str| {
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = status;
        response
    };
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "the metrics are at /metrics\n");
    }
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is served\n");
    }
    match tokio::task::spawn_blocking(text).await {
        Ok(Ok(text)) => {
            let mut response = Response::new(Full::from(text));
            response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
            response
        }
        Ok(Err(_)) | Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written\n"),
    }
}
