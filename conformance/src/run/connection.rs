//! One HTTP/1.1 connection, driven by whoever uses it: no task of its own, so an exchange costs no wake-up across threads.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::wire::Wire;

/// Most response headers we are willing to read.
const MAX_HEADERS: usize = 128;

/// Longest response head that we are willing to read, in bytes.
pub(crate) const MAX_HEAD: usize = 64 * 1024;

type Driver = http1::Connection<TokioIo<Wire>, Full<Bytes>>;

pub(crate) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Option<Pin<Box<Driver>>>,
    received: Arc<AtomicU64>,
    /// Why the connection ended, when it ended badly.
    pub(crate) fault: Option<hyper::Error>,
    /// How many exchanges it has carried.
    pub(crate) exchanges: u64,
}

impl Connection {
    pub(crate) async fn open(host: &str, port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect((host, port))
            .await
            .map_err(|cause| cause.to_string())?;
        // Small requests must not wait for Nagle; a failure to say so only costs time.
        let _ = stream.set_nodelay(true);
        let received = Arc::new(AtomicU64::new(0));
        let (sender, driver) = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD)
            .handshake(TokioIo::new(Wire::new(stream, Arc::clone(&received))))
            .await
            .map_err(|cause| cause.to_string())?;
        Ok(Self {
            sender,
            driver: Some(Box::pin(driver)),
            received,
            fault: None,
            exchanges: 0,
        })
    }

    /// Bytes read so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Waits until a request can be sent; false when the connection is over.
    pub(crate) async fn ready(&mut self) -> bool {
        let Self {
            sender,
            driver,
            fault,
            ..
        } = self;
        drive(driver, fault, sender.ready()).await.is_ok() && self.driver.is_some()
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.exchanges += 1;
        let response = self.sender.send_request(request);
        drive(&mut self.driver, &mut self.fault, response).await
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
        self.driver.is_some() && !self.sender.is_closed()
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
