//! The relay behind `proxy`: forwards a wallet's requests to the upstream, returns the answers unchanged, and reports each exchange.
//!
//! Two things are changed: hop-by-hop headers are removed, as RFC 9110, section 7.6.1 requires, and Accept-Encoding is removed, so that
//! answers are uncompressed and can be judged.

mod forward;
mod headers;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use paymaster_client::stop::Stop;
use paymaster_exchange::{Exchange, Failure, Response as Answer};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use crate::recorded::secrets;
pub(crate) use forward::Upstream;

/// The limits of the relay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The timeout of an exchange with the upstream, body included. Default: 30 s.
    pub timeout: Duration,
    /// The longest body of a request or an answer, in bytes. Default: 8 MiB.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), body: 8 * 1024 * 1024 }
    }
}

/// An exchange that the relay forwarded.
#[derive(Debug)]
pub(crate) struct RelayedExchange {
    /// The HTTP method of the request.
    pub method: String,
    /// The request and the response, and when this was received.
    pub exchange: Exchange,
    /// Path and query of the forwarded request: those of the upstream and those of the wallet.
    pub path: String,
    /// Header values of the request that must not appear in any output.
    pub secrets: Vec<String>,
}

/// How long exchanges under way may take to end when the relay is stopped.
const SHUTDOWN_TIME: Duration = Duration::from_secs(3);
/// How long a wallet may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The largest number of connections at a time; further ones wait until one ends.
const MOST_CONNECTIONS: usize = 512;
/// The pause after a connection could not be accepted, mostly because too many files are open.
const RECOVERY: Duration = Duration::from_millis(50);

/// Serves until `stop`, and reports each exchange. Returns when every exchange has ended or was aborted.
pub(crate) async fn serve(listener: TcpListener, upstream: Arc<Upstream>, stop: &Stop) {
    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    loop {
        let stream = tokio::select! {
            biased;
            () = stop.stopped() => break,
            // Removes a connection that has ended.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => {
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(RECOVERY).await;
                    continue;
                };
                stream
            }
        };
        let upstream = Arc::clone(&upstream);
        let service = service_fn(move |request| {
            let upstream = Arc::clone(&upstream);
            async move { Ok::<_, Infallible>(relay(request, &upstream).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .serve_connection(TokioIo::new(stream), service);
        // An error of the connection concerns the wallet only.
        connections.spawn(graceful.watch(connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIME, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// Relays one request and reports the exchange.
async fn relay(request: Request<Incoming>, upstream: &Upstream) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Limits { timeout, body: limit } = upstream.limits;
    let arriving = Limited::new(body, limit).collect();
    let Ok(Ok(body)) = tokio::time::timeout(timeout, arriving).await else {
        // It did not arrive completely, in time and within the limit.
        let text = format!(
            "the request is larger than {limit} bytes, broke off or took too long, and was not forwarded"
        );
        return answer(StatusCode::PAYLOAD_TOO_LARGE, b"", &text);
    };
    let body = body.to_bytes();
    let started = Instant::now();
    let answered = upstream.forward(&head, body.clone()).await;
    let took = started.elapsed();
    let (response, outcome) = match answered {
        Ok(answer) => {
            let mut response = Response::new(Full::new(answer.body().clone()));
            *response.status_mut() = answer.status();
            let to_head = head.method == Method::HEAD;
            *response.headers_mut() = headers::of_answer(answer.headers(), to_head);
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            let headers = answer.headers().iter();
            let headers = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
            let outcome =
                Ok(Answer { status: answer.status().as_u16(), headers, body: answer.into_body().into() });
            (response, outcome)
        }
        Err(failure) => (unanswered(&body, &failure), Err(failure)),
    };
    let sent = head.headers.iter();
    let sent = sent.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    // The exchange is relayed even when the receiver is gone.
    let _ = upstream
        .relayed
        .send(RelayedExchange {
            method: head.method.to_string(),
            path: upstream.path(&head.uri),
            secrets: secrets(sent),
            exchange: Exchange { received: Some(SystemTime::now()), ..Exchange::new(body, outcome, took) },
        })
        .await;
    response
}

/// The header that marks an answer of the relay.
const MARK: &str = "x-paymaster-conformance-proxy";

/// The code that JSON-RPC 2.0 reserves for internal errors.
const INTERNAL_ERROR: i64 = -32_603;

/// The answer to a request that the upstream did not answer.
fn unanswered(request: &[u8], failure: &Failure) -> Response<Full<Bytes>> {
    let status = match failure {
        Failure::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    answer(status, request, &format!("the upstream gave no answer: {failure}"))
}

fn answer(status: StatusCode, request: &[u8], text: &str) -> Response<Full<Bytes>> {
    let id = serde_json::from_slice::<Value>(request)
        .ok()
        .and_then(|call| call.get("id").cloned())
        .filter(|id| id.is_string() || id.is_number())
        .unwrap_or_default();
    let message = format!("paymaster-conformance proxy: {text}");
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(MARK, HeaderValue::from_static("answered by the proxy itself"));
    // Lets a web page read why its call failed.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
