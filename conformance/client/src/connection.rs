//! One HTTP connection. HTTP/1.1 is driven by whoever uses it: no task of its own, so an exchange costs no wake-up across threads.
//! HTTP/2 has a task, which hyper wants.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::task::AbortHandle;

use crate::{
    dial::{Dialler, Protocol},
    wire::{Tap, Wire},
};

/// Most response headers we are willing to read.
pub(crate) const MAX_HEADERS: usize = 128;

/// Longest response head that we are willing to read, in bytes.
pub(crate) const MAX_HEAD: usize = 32 * 1024;

/// So much of an HTTP/2 answer may be on its way unread: the worst that a target can make us hold for each connection.
const WINDOW: u32 = 64 * 1024;

type Driver = http1::Connection<TokioIo<Wire>, Full<Bytes>>;

pub(crate) struct Connection {
    sender: Sender,
    driver: Option<Pin<Box<Driver>>>,
    tap: Arc<Tap>,
    /// Why the connection ended, when it ended badly.
    pub(crate) fault: Option<hyper::Error>,
    /// How many exchanges it has carried.
    pub(crate) exchanges: u64,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2 {
        sender: http2::SendRequest<Full<Bytes>>,
        /// Held, not read: its end is the task's.
        _task: Task,
    },
}

/// The task of an HTTP/2 connection: ends with it.
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    pub(crate) async fn open(dialler: &Dialler, stage: &mut &'static str) -> Result<Self, String> {
        let dialled = dialler.dial_telling(stage).await?;
        let tap = Arc::new(Tap::default());
        let wire = TokioIo::new(Wire::new(dialled.stream, Arc::clone(&tap)));
        let (sender, driver) = match dialled.protocol {
            Protocol::Http1 => {
                let (sender, driver) = http1::Builder::new()
                    .max_headers(MAX_HEADERS)
                    .max_buf_size(MAX_HEAD)
                    .handshake(wire)
                    .await
                    .map_err(|cause| cause.to_string())?;
                (Sender::Http1(sender), Some(Box::pin(driver)))
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                    .initial_stream_window_size(WINDOW)
                    .initial_connection_window_size(WINDOW)
                    .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
                    .handshake(wire)
                    .await
                    .map_err(|cause| cause.to_string())?;
                // Its end shows in the exchange under way, and in `ready`.
                let task = tokio::spawn(async { drop(connection.await) });
                (
                    Sender::Http2 {
                        sender,
                        _task: Task(task.abort_handle()),
                    },
                    None,
                )
            }
        };
        Ok(Self {
            sender,
            driver,
            tap,
            fault: None,
            exchanges: 0,
        })
    }

    /// The HTTP version that is spoken.
    pub(crate) fn protocol(&self) -> Protocol {
        match self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2 { .. } => Protocol::Http2,
        }
    }

    /// What came over it.
    pub(crate) fn tap(&self) -> &Tap {
        &self.tap
    }

    /// Waits until a request can be sent; false when the connection is over.
    pub(crate) async fn ready(&mut self) -> bool {
        let Self {
            sender,
            driver,
            fault,
            ..
        } = self;
        match sender {
            Sender::Http1(sender) => {
                drive(driver, fault, sender.ready()).await.is_ok() && self.driver.is_some()
            }
            Sender::Http2 { sender, .. } => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.exchanges += 1;
        self.tap.begin();
        match &mut self.sender {
            Sender::Http1(sender) => {
                let response = sender.send_request(request);
                drive(&mut self.driver, &mut self.fault, response).await
            }
            Sender::Http2 { sender, .. } => sender.send_request(request).await,
        }
    }

    /// Waits for something that only moves when the connection does.
    pub(crate) async fn drive<T>(&mut self, future: impl Future<Output = T>) -> T {
        drive(&mut self.driver, &mut self.fault, future).await
    }

    /// Lets the connection look, without waiting, at what stands behind the response; false when it is over.
    pub(crate) async fn settle(&mut self) -> bool {
        poll_fn(|cx| {
            advance(&mut self.driver, &mut self.fault, cx);
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
    fault: &mut Option<hyper::Error>,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(output);
        }
        advance(driver, fault, cx);
        future.as_mut().poll(cx)
    })
    .await
}

fn advance(
    driver: &mut Option<Pin<Box<Driver>>>,
    fault: &mut Option<hyper::Error>,
    cx: &mut std::task::Context<'_>,
) {
    let Some(running) = driver else { return };
    if let Poll::Ready(end) = running.as_mut().poll(cx) {
        *driver = None;
        *fault = end.err();
    }
}
