//! The page that Prometheus scrapes: `GET /metrics` on a port of its own.

use std::convert::Infallible;
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

use super::Metrics;

/// The content type of OpenMetrics text.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
/// Most connections at a time; further ones wait.
const MOST_CONNECTIONS: usize = 16;
/// Longest time of a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait before the next accept after one that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the page until the future is dropped. A connection is closed after its response.
pub async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            let connection = http1::Builder::new().keep_alive(false).serve_connection(
                TokioIo::new(stream),
                service_fn(|request| {
                    let response = page(&request, &metrics);
                    async { Ok::<_, Infallible>(response) }
                }),
            );
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
            drop(permit);
        });
    }
}

fn page<B>(request: &Request<B>, metrics: &Metrics) -> Response<Full<Bytes>> {
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
    match metrics.text() {
        Ok(text) => {
            let mut response = Response::new(Full::from(text));
            response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
            response
        }
        Err(_) => plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the metrics cannot be written\n",
        ),
    }
}
