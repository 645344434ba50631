//! One exchange after the other with the target, each within a total deadline and bounded in size.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request,
    body::{Body, Incoming},
    header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT},
};

use super::{
    connection::{Connection, MAX_HEAD},
    on_chain::Chain,
    target::Target,
};
use crate::exchange::{Exchange, Failure, Response};

/// What we are willing to wait for and to read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Total time of an exchange: connecting, sending, head and body.
    pub timeout: Duration,
    /// Longest response body, in bytes.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            body: 8 * 1024 * 1024,
        }
    }
}

/// How the target is asked: the same for every exchange.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Where.
    pub target: Target,
    /// Within which bounds.
    pub limits: Limits,
    /// The chain that is asked what it makes of answers.
    pub chain: Option<Chain>,
    headers: HeaderMap,
}

impl Transport {
    /// A transport that sends these headers beside our own; one of the same name replaces ours.
    pub fn new(target: Target, limits: Limits, extra: &[(HeaderName, HeaderValue)]) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, target.authority.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("paymaster-conformance/", env!("CARGO_PKG_VERSION"))),
        );
        for (name, _) in extra {
            headers.remove(name);
        }
        for (name, value) in extra {
            headers.append(name, value.clone());
        }
        Self {
            target,
            limits,
            chain: None,
            headers,
        }
    }

    /// The same, and this chain is asked what it makes of answers.
    #[must_use]
    pub fn asking(self, chain: Option<Chain>) -> Self {
        Self { chain, ..self }
    }

    fn request(&self, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.path.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// A line to the target: a connection that is kept while it lasts.
#[derive(Default)]
pub(crate) struct Line {
    connection: Option<Connection>,
    /// What is being waited for, for the message when it does not come.
    stage: &'static str,
}

impl Line {
    /// Sends a body and reads what comes back. Never fails otherwise than in the outcome.
    pub(crate) async fn exchange(&mut self, transport: &Transport, body: Bytes) -> Exchange {
        let started = Instant::now();
        let after = transport.limits.timeout;
        let attempt = self.attempt(transport, &body);
        let outcome = match tokio::time::timeout(after, attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Timeout {
                waiting_for: self.stage,
                after,
            }),
        };
        if outcome.is_err() {
            self.connection = None;
        }
        Exchange {
            request: body,
            outcome,
            took: started.elapsed(),
            on_chain: None,
        }
    }

    async fn attempt(&mut self, transport: &Transport, body: &Bytes) -> Result<Response, Failure> {
        loop {
            self.stage = "connection";
            let connection = connected(&mut self.connection, transport).await?;
            let reused = connection.exchanges > 0;
            let before = connection.received();
            self.stage = "response head";
            match connection.send(transport.request(body.clone())).await {
                Ok(head) => {
                    self.stage = "response body";
                    let response = read(connection, head, transport.limits.body).await?;
                    if !connection.settle().await {
                        surplus(connection)?;
                        self.connection = None;
                    }
                    return Ok(response);
                }
                // A server may close an idle connection at any time (RFC 9112, 9.3.1): no byte of an answer came, so ask again.
                Err(cause) if reused && connection.received() == before && is_closed(&cause) => {
                    self.connection = None;
                }
                Err(cause) => return Err(failure(&cause)),
            }
        }
    }
}

/// The connection that is there, or a new one when there is none or it is over.
async fn connected<'a>(
    connection: &'a mut Option<Connection>,
    transport: &Transport,
) -> Result<&'a mut Connection, Failure> {
    if let Some(open) = connection
        && !open.ready().await
    {
        *connection = None;
    }
    match connection {
        Some(open) => Ok(open),
        empty => {
            let target = &transport.target;
            let opened = Connection::open(&target.host, target.port)
                .await
                .map_err(Failure::Connect)?;
            Ok(empty.insert(opened))
        }
    }
}

async fn read(
    connection: &mut Connection,
    response: hyper::Response<Incoming>,
    limit: usize,
) -> Result<Response, Failure> {
    let (head, mut body) = response.into_parts();
    let too_large = || Failure::TooLarge { what: "body", limit };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut whole: Option<BytesMut> = None;
    while let Some(frame) = connection.drive(body.frame()).await {
        let Ok(data) = frame
            .map_err(|cause| behind_the_head(failure(&cause)))?
            .into_data()
        else {
            continue;
        };
        if whole.as_ref().map_or(first.len(), BytesMut::len) + data.len() > limit {
            return Err(too_large());
        }
        if first.is_empty() && whole.is_none() {
            first = data;
        } else {
            whole
                .get_or_insert_with(|| BytesMut::from(&first[..]))
                .extend_from_slice(&data);
        }
    }
    Ok(Response {
        status: head.status.as_u16(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect(),
        body: whole.map_or(first, BytesMut::freeze),
    })
}

/// Bytes behind the end of a response (a Content-Length that is too small) would be taken for the next answer.
fn surplus(connection: &Connection) -> Result<(), Failure> {
    match &connection.fault {
        Some(fault) if fault.to_string().contains("unexpected message") => Err(Failure::Cut(
            "bytes behind the end of the response: is Content-Length too small?".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn is_closed(cause: &hyper::Error) -> bool {
    cause.is_closed()
        || cause.is_canceled()
        || cause.is_incomplete_message()
        || cause
            .source()
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some()
}

/// The same failure, of a response whose head was there.
fn behind_the_head(failure: Failure) -> Failure {
    match failure {
        Failure::Broken(cause) => Failure::Cut(cause),
        other => other,
    }
}

fn failure(cause: &hyper::Error) -> Failure {
    if cause.is_parse_too_large() {
        return Failure::TooLarge {
            what: "head",
            limit: MAX_HEAD,
        };
    }
    let mut text = cause.to_string();
    let mut source = cause.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    Failure::Broken(text)
}
