//! The wallet's side: takes requests until it is told to stop.

use std::{
    convert::Infallible,
    pin::pin,
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};

use crate::recorded::secrets;
use crate::relay::{Bounds, Passed, Upstream, forward::Asked, heads, ours};
use paymaster_client::stop::Stop;
use paymaster_exchange::{Exchange, Response as Answer};

/// How long exchanges under way may take to end when the relay is told to stop.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long a wallet may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Most connections at a time; the next one waits until one ends.
const MOST_CONNECTIONS: usize = 512;
/// How long is waited after a connection could not be taken: mostly there are too many open.
const RECOVERY: Duration = Duration::from_millis(50);

/// Serves until `stop`; what passes through is told to `passed`. Returns when every exchange has ended or was given up.
pub(crate) async fn serve(
    listener: TcpListener,
    upstream: Upstream,
    passed: mpsc::Sender<Passed>,
    stop: &Stop,
) {
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            biased;
            () = stop.stopped() => break,
            // Ended ones are let go of.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => {
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(RECOVERY).await;
                    continue;
                };
                stream
            }
        };
        let (upstream, passed) = (upstream.clone(), passed.clone());
        let service = service_fn(move |request| {
            let (upstream, passed) = (upstream.clone(), passed.clone());
            async move { Ok::<_, Infallible>(pass(request, &upstream, &passed).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .serve_connection(TokioIo::new(stream), service);
        let stop = stop.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => return,
                () = stop.stopped() => connection.as_mut().graceful_shutdown(),
            }
            // How it ends is for the wallet.
            let _ = connection.await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_WORDS, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    connections.shutdown().await;
}

async fn pass(
    request: Request<Incoming>,
    upstream: &Upstream,
    passed: &mpsc::Sender<Passed>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Bounds { timeout, body: limit } = upstream.bounds;
    let arriving = Limited::new(body, limit).collect();
    let Ok(Ok(body)) = tokio::time::timeout(timeout, arriving).await else {
        return ours::not_passed_on(limit);
    };
    let body = body.to_bytes();
    let asked = Asked {
        method: head.method,
        uri: head.uri,
        headers: head.headers,
    };
    let started = Instant::now();
    let answered = upstream.ask(&asked, body.clone()).await;
    let took = started.elapsed();
    let (response, outcome) = match answered {
        Ok((headers, status, answer)) => {
            let mut response = Response::new(Full::new(answer.clone()));
            *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            *response.headers_mut() = heads::of_answer(&headers, asked.method == Method::HEAD);
            let headers = headers
                .iter()
                .map(|(name, value)| {
                    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                    (name.as_str().to_owned(), value)
                })
                .collect();
            let outcome = Ok(Answer {
                status,
                headers,
                body: answer,
            });
            (response, outcome)
        }
        Err(failure) => (ours::unanswered(&body, &failure), Err(failure)),
    };
    let told = asked.headers.iter();
    let told = told.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    // When nobody listens any more, the traffic passes all the same.
    let _ = passed
        .send(Passed {
            method: asked.method.to_string(),
            secrets: secrets(told),
            exchange: Exchange {
                request: body,
                outcome,
                took,
                on_chain: None,
            },
            ended: SystemTime::now(),
        })
        .await;
    response
}
