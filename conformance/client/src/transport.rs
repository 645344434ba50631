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
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT,
    },
};

use tokio::time::timeout;

use crate::{
    connection::Connection,
    dial::{Dialler, Protocol, stage},
    share::{LIGHT, Share},
    symptoms,
    target::Target,
};
use paymaster_exchange::{Exchange, Failure, Response};

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
            body: 1024 * 1024,
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
        // Without this, any coding would be acceptable (RFC 9110, section 12.5.3); we want the bytes as they are.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
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
    /// What the last connection spoke.
    spoken: Option<Protocol>,
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
        self.exchange_within(transport, body, &Share::default()).await
    }

    /// The same; to read a heavy answer, it waits for its share. That wait is ours: it counts neither for the deadline nor for
    /// the time that the target took.
    pub async fn exchange_within(&mut self, transport: &Transport, body: Bytes, share: &Share) -> Exchange {
        let started = Instant::now();
        let after = transport.limits.timeout;
        let mut waited = Duration::ZERO;
        let mut outcome = match timeout(after, self.attempt(transport, &body)).await {
            Ok(Ok(Reading::Whole(response))) => Ok(response),
            Ok(Ok(Reading::Heavy(partial))) => {
                let left = after.saturating_sub(started.elapsed());
                let waits = Instant::now();
                // One that does not say how long it is may become as long as we let it.
                let announced = partial.body.size_hint().exact();
                let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
                share.pass(announced.unwrap_or(transport.limits.body)).await;
                waited = waits.elapsed();
                timeout(left, self.rest(partial, transport.limits.body))
                    .await
                    .unwrap_or_else(|_| Err(self.late(after)))
            }
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(self.late(after)),
        };
        if outcome.is_ok()
            && let Err(surplus) = self.settle().await
        {
            outcome = Err(surplus);
        }
        if outcome.is_err() {
            self.connection = None;
        }
        Exchange::new(body, outcome, started.elapsed().saturating_sub(waited))
    }

    /// The HTTP version of the last exchange; none when there was no connection yet.
    pub fn spoken(&self) -> Option<Protocol> {
        self.spoken
    }

    fn late(&self, after: Duration) -> Failure {
        let waiting_for = match &self.connection {
            Some(connection) => symptoms::waiting_for(self.stage, connection.tap()),
            None => self.stage,
        };
        Failure::Timeout { waiting_for, after }
    }

    async fn attempt(&mut self, transport: &Transport, body: &Bytes) -> Result<Reading, Failure> {
        loop {
            self.stage = stage::CONNECTION;
            let connection = connected(&mut self.connection, transport, &mut self.stage).await?;
            let reused = connection.exchanges > 0;
            let before = connection.tap().received();
            let protocol = connection.protocol();
            self.spoken = Some(protocol);
            self.stage = stage::HEAD;
            match connection.send(transport.request(body.clone(), protocol)).await {
                Ok(head) => {
                    self.stage = stage::BODY;
                    return read(connection, head, transport.limits.body).await;
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

    /// Reads the rest of a heavy answer.
    async fn rest(&mut self, partial: Box<Partial>, limit: usize) -> Result<Response, Failure> {
        let Partial {
            head,
            mut body,
            start,
        } = *partial;
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(limit);
        let mut whole = BytesMut::with_capacity(limit.min(start.len() + announced));
        whole.extend_from_slice(&start);
        drop(start);
        let Some(connection) = &mut self.connection else {
            return Err(Failure::Cut("the connection is gone".to_owned()));
        };
        while let Some(data) = next(connection, &mut body).await? {
            if whole.len() + data.len() > limit {
                return Err(Failure::TooLarge { what: "body", limit });
            }
            whole.extend_from_slice(&data);
        }
        Ok(Response {
            body: whole.freeze(),
            ..head
        })
    }

    /// Looks at what stands behind a response that was read.
    async fn settle(&mut self) -> Result<(), Failure> {
        if let Some(connection) = &mut self.connection
            && !connection.settle().await
        {
            symptoms::surplus(connection.fault.as_ref())?;
            self.connection = None;
        }
        Ok(())
    }
}

/// How far the reading of a response came.
enum Reading {
    /// To its end.
    Whole(Response),
    /// To where it stops to be light.
    Heavy(Box<Partial>),
}

struct Partial {
    /// The response without its body.
    head: Response,
    /// The rest of the body.
    body: Incoming,
    /// Its beginning.
    start: BytesMut,
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

/// Reads a response, as long as it is light.
async fn read(
    connection: &mut Connection,
    response: hyper::Response<Incoming>,
    limit: usize,
) -> Result<Reading, Failure> {
    let (head, mut body) = response.into_parts();
    if body.size_hint().lower() > limit as u64 {
        return Err(Failure::TooLarge { what: "body", limit });
    }
    let head = Response {
        status: head.status.as_u16(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect(),
        body: Bytes::new(),
    };
    if body.size_hint().lower() > LIGHT as u64 {
        // Who waits with nothing read holds nothing.
        let start = BytesMut::new();
        return Ok(Reading::Heavy(Box::new(Partial { head, body, start })));
    }
    let mut first = Bytes::new();
    let mut whole: Option<BytesMut> = None;
    while let Some(data) = next(connection, &mut body).await? {
        let length = whole.as_ref().map_or(first.len(), BytesMut::len) + data.len();
        if length > limit {
            return Err(Failure::TooLarge { what: "body", limit });
        }
        if first.is_empty() && whole.is_none() {
            first = data;
        } else {
            whole
                .get_or_insert_with(|| BytesMut::from(&first[..]))
                .extend_from_slice(&data);
        }
        if length > LIGHT {
            let start = whole.unwrap_or_else(|| BytesMut::from(&first[..]));
            return Ok(Reading::Heavy(Box::new(Partial { head, body, start })));
        }
    }
    Ok(Reading::Whole(Response {
        body: whole.map_or(first, BytesMut::freeze),
        ..head
    }))
}

/// The next bytes of a body; none at its end.
async fn next(connection: &mut Connection, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
    while let Some(frame) = connection.drive(body.frame()).await {
        if let Ok(data) = frame
            .map_err(|cause| symptoms::behind_the_head(&cause))?
            .into_data()
        {
            return Ok(Some(data));
        }
    }
    Ok(None)
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
