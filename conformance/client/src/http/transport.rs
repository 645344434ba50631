//! Exchanges with the target, one after the other on a connection, each within a deadline and a limit of size.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};

use tokio::time::{sleep, timeout};

use crate::diagnosis;
use crate::http::{Connection, SentBody, coding};
use crate::memory::{MemoryPermit, SMALL};
use crate::network::{Connector, Protocol, Target};
use paymaster_exchange::{Body, Exchange, Failure, HeaderSet, PLAIN_HEADERS, Part, Response, Stage};

/// The limits of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Total time of an exchange: connecting, sending, response head and body.
    pub timeout: Duration,
    /// Longest response body, in bytes.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), body: 1024 * 1024 }
    }
}

/// How requests reach the target: URL, headers, limits and connector. The same for every exchange.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The URL of the target.
    pub target: Target,
    /// The limits of each exchange.
    pub limits: Limits,
    /// The plain headers, and those of the user.
    headers: HeaderMap,
    /// The names of the headers of the user.
    own: Vec<HeaderName>,
    connector: Arc<Connector>,
    /// The whole URL, for HTTP/2 and for HTTP proxies.
    absolute: Uri,
}

impl Transport {
    /// A transport that sends these headers beside the default ones. A header of the same name replaces the default.
    pub fn new(target: Target, limits: Limits, extra: &[(HeaderName, HeaderValue)]) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, target.authority.clone());
        for (name, value) in &*PLAIN_HEADERS.lines {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
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
            connector: Arc::new(Connector::direct(&target)),
            absolute: target.absolute(),
            target,
            limits,
            headers,
            own: extra.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// The same transport with connections made by `connector`. https:// targets and proxies need one.
    #[must_use]
    pub fn with_connector(mut self, connector: Connector) -> Self {
        if let Some(authorization) = connector.forward_authorization() {
            self.headers.insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        self.connector = Arc::new(connector);
        self
    }

    /// Makes the connections.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// The headers of a request: the plain ones, or those of `sent_as` in their place. The headers of the user take precedence.
    fn headers_as(&self, sent_as: Option<&HeaderSet>) -> HeaderMap {
        let mut headers = self.headers.clone();
        let Some(sent_as) = sent_as else { return headers };
        let is_own = |name: &HeaderName| self.own.contains(name);
        for plain in [CONTENT_TYPE, ACCEPT, ACCEPT_ENCODING, USER_AGENT] {
            if !is_own(&plain) {
                headers.remove(plain);
            }
        }
        for (name, value) in &*sent_as.lines {
            let name = HeaderName::from_static(name);
            if !is_own(&name) {
                headers.append(name, HeaderValue::from_static(value));
            }
        }
        headers
    }

    /// The head of an HTTP/1.1 request up to the value of `content-length`, byte for byte as hyper writes it; none if a header of the
    /// user changes how a message is sent.
    pub(crate) fn plain_head(&self) -> Option<Vec<u8>> {
        let changes =
            [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, EXPECT, UPGRADE, TE, TRAILER, ACCEPT_ENCODING];
        if self.own.iter().any(|name| changes.contains(name)) {
            return None;
        }
        let uri = if self.connector.forwards() { &self.absolute } else { &self.target.path };
        let mut head = format!("POST {uri} HTTP/1.1\r\n").into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"content-length: ");
        Some(head)
    }

    fn request(&self, body: Bytes, headers: HeaderMap, protocol: Protocol) -> Request<SentBody> {
        let is_in_parts = protocol == Protocol::Http1 && headers.contains_key(TRANSFER_ENCODING);
        let mut request =
            Request::new(if is_in_parts { in_parts(body) } else { Either::Left(Full::new(body)) });
        *request.method_mut() = Method::POST;
        *request.headers_mut() = headers;
        let whole = protocol == Protocol::Http2 || self.connector.forwards();
        *request.uri_mut() = if whole { &self.absolute } else { &self.target.path }.clone();
        if protocol == Protocol::Http2 {
            // In HTTP/2, the URL carries it (RFC 9113, section 8.3.1).
            request.headers_mut().remove(HOST);
            // Frames have the place of chunks, and a connection is not one of a request (section 8.2.2).
            request.headers_mut().remove(TRANSFER_ENCODING);
            request.headers_mut().remove(CONNECTION);
        }
        request
    }
}

/// How long the second part of a body comes after the first: a server reads the first alone, as it does where a network lies between.
const BETWEEN_PARTS: Duration = Duration::from_millis(4);

/// A body in two parts. Where it has a letter of several bytes, the parts meet within it.
fn in_parts(mut body: Bytes) -> SentBody {
    let within_letter = body.iter().position(|byte| !byte.is_ascii()).map(|start| start + 1);
    let first = body.split_to(within_letter.unwrap_or(body.len() / 2));
    let rest = async move {
        sleep(BETWEEN_PARTS).await;
        body
    };
    let parts = stream::iter([first]).chain(stream::once(rest)).map(|part| Ok(Frame::data(part)));
    Either::Right(StreamBody::new(parts).boxed_unsync())
}

/// A connection that is kept from one exchange to the next, and opened anew when the target closed it.
#[derive(Default)]
pub struct PooledConnection {
    connection: Option<Connection>,
    /// What the present exchange waits for, for the message when its deadline passes.
    stage: Stage,
    /// The HTTP version of the last connection.
    protocol: Option<Protocol>,
    /// How many reused connections the last exchange lost.
    closed: u64,
    /// Whether a connection is opened for names of headers in title case.
    in_title_case: bool,
}

impl std::fmt::Debug for PooledConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PooledConnection").field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl PooledConnection {
    /// An established connection, over which `exchanges` requests were sent.
    pub(crate) fn over(mut connection: Connection, exchanges: u64) -> Self {
        connection.exchanges = exchanges;
        Self { connection: Some(connection), ..Self::default() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Sends a body and reads the response. Errors stand in the outcome of the exchange.
    pub async fn exchange(&mut self, transport: &Transport, body: impl Into<Body>) -> Exchange {
        self.exchange_as(transport, body, None, &MemoryPermit::default()).await
    }

    /// The same with the headers of `sent_as` in place of the plain ones. A large response is read when `permit` is acquired; the time of
    /// waiting for the permit counts neither for the deadline nor for the duration of the exchange. A content coding that the request permits is decoded.
    pub async fn exchange_as(
        &mut self,
        transport: &Transport,
        body: impl Into<Body>,
        sent_as: Option<Arc<HeaderSet>>,
        permit: &MemoryPermit,
    ) -> Exchange {
        self.exchange_since(transport, body.into(), sent_as, permit, Instant::now()).await
    }

    /// The same for an exchange that began at `started`.
    pub(crate) async fn exchange_since(
        &mut self,
        transport: &Transport,
        body: Body,
        sent_as: Option<Arc<HeaderSet>>,
        permit: &MemoryPermit,
        started: Instant,
    ) -> Exchange {
        let headers = transport.headers_as(sent_as.as_deref());
        // In HTTP/2 all names are in lower case (RFC 9113, section 8.2.1).
        self.in_title_case = sent_as.as_ref().is_some_and(|client| client.in_title_case)
            && self.protocol != Some(Protocol::Http2);
        if self.in_title_case {
            self.connection = None;
        }
        let after = transport.limits.timeout;
        let mut waited = Duration::ZERO;
        let left = || after.saturating_sub(started.elapsed());
        let read = timeout(left(), self.attempt(transport, body.bytes(), &headers)).await;
        let mut read = read.unwrap_or_else(|_| Err(self.timed_out(after)));
        if let Ok(reading) = &mut read
            && !reading.is_whole
        {
            let left = left();
            let waits = Instant::now();
            // A body without a stated length may become as long as the limit.
            let announced = reading.body.size_hint().exact();
            let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
            permit.acquire(announced.unwrap_or(transport.limits.body)).await;
            waited = waits.elapsed();
            let limit = transport.limits.body;
            let rest = match &mut self.connection {
                Some(connection) => timeout(left, reading.read(connection, limit, limit)).await,
                None => Ok(Err(Failure::Cut("the connection is gone".to_owned()))),
            };
            if let Err(failure) = rest.unwrap_or_else(|_| Err(self.timed_out(after))) {
                read = Err(failure);
            }
        }
        let mut outcome = read.map(Reading::response);
        let ends = self.in_title_case
            || headers.contains_key(TRANSFER_ENCODING)
            || headers.get(CONNECTION).is_some_and(|value| value == "close");
        if ends && self.protocol == Some(Protocol::Http1) {
            // The request asked for the end of the connection, or the names of the next one are in lower case. Or it was sent in chunks: a
            // server that knows only content-length takes these for its next request, and would answer that too.
            self.connection = None;
        } else if outcome.is_ok()
            && let Err(surplus) = self.settle().await
        {
            outcome = Err(surplus);
        }
        if outcome.is_err() {
            self.connection = None;
        }
        let took = started.elapsed().saturating_sub(waited);
        let accepted = headers.get(ACCEPT_ENCODING).map(|value| value.to_str().unwrap_or_default());
        let outcome = match outcome {
            Ok(response) => coding::decoded(response, accepted, transport.limits.body, permit).await,
            Err(failure) => Err(failure),
        };
        Exchange { sent_as, received: Some(SystemTime::now()), ..Exchange::new(body, outcome, took) }
    }

    /// The HTTP version of the last exchange; none before the first connection.
    pub fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// How many reused connections were closed before an answer to the last exchange came: its request was sent again.
    pub fn closed(&self) -> u64 {
        self.closed
    }

    fn timed_out(&self, after: Duration) -> Failure {
        let tap = self.connection.as_ref().map(|connection| &*connection.tap);
        let waiting_for = tap.map_or(self.stage, |tap| diagnosis::waiting_for(self.stage, tap));
        Failure::Timeout { waiting_for, after }
    }

    async fn attempt(
        &mut self,
        transport: &Transport,
        body: &Bytes,
        headers: &HeaderMap,
    ) -> Result<Reading, Failure> {
        self.closed = 0;
        loop {
            self.stage = Stage::Connection;
            let connection =
                connected(&mut self.connection, transport, &mut self.stage, self.in_title_case).await?;
            let reused = connection.exchanges > 0;
            let before = connection.tap.received();
            let protocol = connection.protocol();
            self.protocol = Some(protocol);
            self.stage = Stage::Head;
            let request = transport.request(body.clone(), headers.clone(), protocol);
            match connection.send(request).await {
                // The end of an idle connection, announced while the request was on its way (RFC 9110, section 15.5.9).
                Ok(head) if reused && head.status() == StatusCode::REQUEST_TIMEOUT => self.connection = None,
                Ok(head) => {
                    self.stage = Stage::Body;
                    return read(connection, head, transport.limits.body).await;
                }
                // A server may close an idle connection at any time (RFC 9112, section 9.3.1). Where no byte came, or only bytes from before
                // the request (hyper cancels it), it is sent again. HTTP/2 states which requests it did not process.
                Err(cause)
                    if reused
                        && match protocol {
                            Protocol::Http1 if connection.tap.received() > before => cause.is_canceled(),
                            Protocol::Http1 => cause.is_canceled() || is_closed(&cause),
                            Protocol::Http2 => cause.is_closed() || cause.is_canceled(),
                        } =>
                {
                    self.connection = None;
                    self.closed += 1;
                }
                Err(cause) => return Err(diagnosis::failure(&cause, &connection.tap)),
            }
        }
    }

    /// Fails where bytes follow the response that was read.
    async fn settle(&mut self) -> Result<(), Failure> {
        if let Some(connection) = &mut self.connection
            && !connection.settle().await
        {
            diagnosis::surplus(connection.error.as_ref(), &connection.tap)?;
            self.connection = None;
        }
        Ok(())
    }
}

/// A response whose body is being read.
struct Reading {
    /// The response, as yet without its body.
    head: Response,
    body: Incoming,
    bytes: BytesMut,
    is_whole: bool,
}

impl Reading {
    /// Reads the body to its end, or until more than `pause_at` bytes have come or are announced. More than `limit` bytes are an error.
    async fn read(
        &mut self,
        connection: &mut Connection,
        pause_at: usize,
        limit: usize,
    ) -> Result<(), Failure> {
        self.bytes.reserve(self.length().min(pause_at).saturating_sub(self.bytes.len()));
        while !self.is_whole && self.length() <= pause_at {
            match next(connection, &mut self.body).await? {
                Some(data) => self.bytes.extend_from_slice(&data),
                None => self.is_whole = true,
            }
        }
        let is_too_large = self.length() > limit;
        if is_too_large { Err(Failure::TooLarge { part: Part::Body, limit }) } else { Ok(()) }
    }

    /// How long the body is at least, in bytes.
    fn length(&self) -> usize {
        let missing = usize::try_from(self.body.size_hint().lower()).unwrap_or(usize::MAX);
        self.bytes.len().saturating_add(missing)
    }

    fn response(self) -> Response {
        Response { body: self.bytes.freeze().into(), ..self.head }
    }
}

/// The open connection, or a new one when there is none or the target closed it.
async fn connected<'a>(
    connection: &'a mut Option<Connection>,
    transport: &Transport,
    stage: &mut Stage,
    in_title_case: bool,
) -> Result<&'a mut Connection, Failure> {
    if let Some(open) = connection
        && !open.ready().await
    {
        *connection = None;
    }
    match connection {
        Some(open) => Ok(open),
        empty => {
            let connected = transport.connector.connect(stage).await?;
            Ok(empty.insert(Connection::over(connected, in_title_case).await?))
        }
    }
}

/// Reads a response; of a body larger than [`SMALL`] only the beginning, since the permit is acquired before it is buffered.
async fn read(
    connection: &mut Connection,
    response: hyper::Response<Incoming>,
    limit: usize,
) -> Result<Reading, Failure> {
    let (head, body) = response.into_parts();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
    let head = Response { status: head.status.as_u16(), headers: headers.collect(), body: Body::default() };
    let mut reading = Reading { head, body, bytes: BytesMut::new(), is_whole: false };
    reading.read(connection, SMALL.min(limit), limit).await?;
    Ok(reading)
}

/// The next bytes of a body; none at its end.
async fn next(connection: &mut Connection, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
    while let Some(frame) = connection.drive(body.frame()).await {
        if let Ok(data) = frame.map_err(|cause| diagnosis::incomplete_body(&cause))?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn is_closed(cause: &hyper::Error) -> bool {
    let is_io = |source: &(dyn Error + 'static)| source.is::<std::io::Error>();
    cause.is_closed() || cause.is_incomplete_message() || cause.source().is_some_and(is_io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_in_parts_is_whole_and_its_parts_meet_within_a_letter() {
        for (text, expected) in [("{\"id\":\"za\u{17c}\"}", 10), ("{\"a\":1}", 3), ("", 0)] {
            let (mut body, mut parts) = (in_parts(Bytes::from(text)), Vec::new());
            while let Some(frame) = body.frame().await {
                parts.push(frame.expect("it cannot fail").into_data().expect("it is data"));
            }
            assert_eq!((parts.len(), parts[0].len(), parts.concat()), (2, expected, text.into()));
        }
    }
}
