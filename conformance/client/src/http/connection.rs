//! One HTTP connection.
//!
//! hyper-util's pooled client is not used: it drives each connection in a task of its own and takes it back after the body, so that
//! bytes behind a Content-Length that is too small, and the first bytes of what is no HTTP, stay hidden. Here HTTP/1.1 is driven by the
//! caller, who looks at what follows a response before the next request. HTTP/2 frames its responses, so its connection has a task.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http_body_util::{Either, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::task::JoinSet;

use crate::http::{MAX_HEAD, MAX_HEADERS, Tap, TappedStream};
use crate::network::{BoxedStream, ConnectError, Connected, Protocol};

/// How many bytes of HTTP/2 responses a target may send ahead of our reading: the most memory that a connection can need.
const WINDOW: u32 = 64 * 1024;

/// The body of a request: whole, or in parts.
pub(crate) type SentBody = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

type Driver = http1::Connection<TokioIo<TappedStream>, SentBody>;

pub(crate) struct Connection {
    sender: Sender,
    driver: Option<Pin<Box<Driver>>>,
    pub(crate) tap: Arc<Tap>,
    /// Why the connection ended, where it ended with an error.
    pub(crate) error: Option<hyper::Error>,
    /// How many requests were sent over it.
    pub(crate) exchanges: u64,
}

enum Sender {
    Http1(http1::SendRequest<SentBody>),
    Http2 {
        sender: http2::SendRequest<SentBody>,
        /// Drives the connection; dropping it aborts its task.
        _task: JoinSet<()>,
    },
}

impl Connection {
    /// HTTP on an established connection. In HTTP/1.1 it may have the names of headers in title case.
    pub(crate) async fn over(connected: Connected, in_title_case: bool) -> Result<Self, ConnectError> {
        if connected.protocol == Protocol::Http1 {
            return Self::http1(connected.stream, in_title_case).await.map_err(ConnectError::of);
        }
        let tap = Arc::new(Tap::default());
        let stream = TokioIo::new(tap.on(connected.stream));
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
            .handshake(stream)
            .await
            .map_err(ConnectError::of)?;
        // The exchange in progress and `ready` report the end of the connection.
        let task = JoinSet::from_iter([async { drop(connection.await) }]);
        let sender = Sender::Http2 { sender, _task: task };
        Ok(Self::new(sender, None, tap))
    }

    /// HTTP/1.1 on a stream.
    pub(crate) async fn http1(stream: BoxedStream, in_title_case: bool) -> Result<Self, hyper::Error> {
        let tap = Arc::new(Tap::default());
        let stream = TokioIo::new(tap.on(stream));
        let mut builder = http1::Builder::new();
        builder.max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD).title_case_headers(in_title_case);
        let (sender, driver) = builder.handshake(stream).await?;
        Ok(Self::new(Sender::Http1(sender), Some(Box::pin(driver)), tap))
    }

    fn new(sender: Sender, driver: Option<Pin<Box<Driver>>>, tap: Arc<Tap>) -> Self {
        Self { sender, driver, tap, error: None, exchanges: 0 }
    }

    /// The HTTP version of the connection.
    pub(crate) fn protocol(&self) -> Protocol {
        match self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2 { .. } => Protocol::Http2,
        }
    }

    /// Waits until a request can be sent. False when the connection is closed.
    pub(crate) async fn ready(&mut self) -> bool {
        let Self { sender, driver, error, .. } = self;
        match sender {
            Sender::Http1(sender) => {
                drive(driver, error, sender.ready()).await.is_ok() && self.driver.is_some()
            }
            Sender::Http2 { sender, .. } => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &mut self,
        request: Request<SentBody>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.exchanges += 1;
        self.tap.begin();
        match &mut self.sender {
            Sender::Http1(sender) => {
                let response = sender.send_request(request);
                drive(&mut self.driver, &mut self.error, response).await
            }
            Sender::Http2 { sender, .. } => sender.send_request(request).await,
        }
    }

    /// Waits for a future that makes progress only while the connection is driven.
    pub(crate) async fn drive<T>(&mut self, future: impl Future<Output = T>) -> T {
        drive(&mut self.driver, &mut self.error, future).await
    }

    /// Reads, without waiting, what follows the response. False when the connection is closed.
    pub(crate) async fn settle(&mut self) -> bool {
        poll_fn(|cx| {
            advance(&mut self.driver, &mut self.error, cx);
            Poll::Ready(())
        })
        .await;
        match &self.sender {
            Sender::Http1(sender) => self.driver.is_some() && !sender.is_closed(),
            Sender::Http2 { sender, .. } => !sender.is_closed(),
        }
    }
}

async fn drive<T>(
    driver: &mut Option<Pin<Box<Driver>>>,
    error: &mut Option<hyper::Error>,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(output);
        }
        advance(driver, error, cx);
        future.as_mut().poll(cx)
    })
    .await
}

fn advance(
    driver: &mut Option<Pin<Box<Driver>>>,
    error: &mut Option<hyper::Error>,
    cx: &mut std::task::Context<'_>,
) {
    let Some(running) = driver else { return };
    if let Poll::Ready(end) = running.as_mut().poll(cx) {
        *driver = None;
        *error = end.err();
    }
}
