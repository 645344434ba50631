//! One exchange after the other with the target, each within a total deadline and bounded in size.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request, Uri,
    body::{Body, Incoming},
    header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT},
};

use super::{
    connection::Connection,
    dial::{Dialler, Protocol, stage},
    symptoms,
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
    headers: HeaderMap,
    dialler: Arc<Dialler>,
    /// The whole URL, for HTTP/2 and for proxies.
    absolute: Uri,
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
            dialler: Arc::new(Dialler::direct(&target)),
            absolute: target.absolute(),
            target,
            limits,
            headers,
        }
    }

    /// The same transport with connections made by `dialler`: one is needed for https:// and for proxies.
    #[must_use]
    pub fn dialled_by(mut self, dialler: Dialler) -> Self {
        if let Some(authorization) = dialler.forward_authorization() {
            self.headers.insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        self.dialler = Arc::new(dialler);
        self
    }

    /// Makes the connections.
    pub fn dialler(&self) -> &Dialler {
        &self.dialler
    }

    fn request(&self, body: Bytes, protocol: Protocol) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.headers_mut() = self.headers.clone();
        let whole = protocol == Protocol::Http2 || self.dialler.forwards();
        *request.uri_mut() = if whole { &self.absolute } else { &self.target.path }.clone();
        if protocol == Protocol::Http2 {
            // It stands in the URL already (RFC 9113, section 8.3.1).
            request.headers_mut().remove(HOST);
        }
        request
    }
}

/// A line to the target: a connection that is kept while it lasts.
#[derive(Default)]
pub struct Line {
    connection: Option<Connection>,
    /// What is being waited for, for the message when it does not come.
    stage: &'static str,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

impl Line {
    /// Sends a body and reads what comes back. Never fails otherwise than in the outcome.
    pub async fn exchange(&mut self, transport: &Transport, body: Bytes) -> Exchange {
        let started = Instant::now();
        let after = transport.limits.timeout;
        let attempt = self.attempt(transport, &body);
        let outcome = match tokio::time::timeout(after, attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Timeout {
                waiting_for: self.waiting_for(),
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
        }
    }

    fn waiting_for(&self) -> &'static str {
        match &self.connection {
            Some(connection) => symptoms::waiting_for(self.stage, connection.tap()),
            None => self.stage,
        }
    }

    async fn attempt(&mut self, transport: &Transport, body: &Bytes) -> Result<Response, Failure> {
        loop {
            self.stage = stage::CONNECTION;
            let connection = connected(&mut self.connection, transport, &mut self.stage).await?;
            let reused = connection.exchanges > 0;
            let before = connection.tap().received();
            let protocol = connection.protocol();
            self.stage = stage::HEAD;
            match connection.send(transport.request(body.clone(), protocol)).await {
                Ok(head) => {
                    self.stage = stage::BODY;
                    let response = read(connection, head, transport.limits.body).await?;
                    if !connection.settle().await {
                        symptoms::surplus(connection.fault.as_ref())?;
                        self.connection = None;
                    }
                    return Ok(response);
                }
                // A server may close an idle connection at any time (RFC 9112, 9.3.1): no byte of an answer came, so ask again.
                // HTTP/2 says of itself which requests it never handed over; its own frames are no answers.
                Err(cause)
                    if reused
                        && match protocol {
                            Protocol::Http1 => connection.tap().received() == before && is_closed(&cause),
                            Protocol::Http2 => cause.is_closed() || cause.is_canceled(),
                        } =>
                {
                    self.connection = None;
                }
                Err(cause) => return Err(symptoms::failure(&cause, connection.tap())),
            }
        }
    }
}

/// The connection that is there, or a new one when there is none or it is over.
async fn connected<'a>(
    connection: &'a mut Option<Connection>,
    transport: &Transport,
    stage: &mut &'static str,
) -> Result<&'a mut Connection, Failure> {
    if let Some(open) = connection
        && !open.ready().await
    {
        *connection = None;
    }
    match connection {
        Some(open) => Ok(open),
        empty => {
            let opened = Connection::open(&transport.dialler, stage)
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
            .map_err(|cause| symptoms::behind_the_head(&cause))?
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

fn is_closed(cause: &hyper::Error) -> bool {
    cause.is_closed()
        || cause.is_canceled()
        || cause.is_incomplete_message()
        || cause
            .source()
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some()
}
