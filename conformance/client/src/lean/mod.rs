//! HTTP/1.1 exchanges at the least cost, for a load generator that counts every microsecond of its own.
//!
//! A request is written with one system call, and a response with a Content-Length is compared in the buffer it was read into. hyper
//! would copy the headers of both, and pass them between two state machines. Everything unusual (chunks, HTTP/2, a connection that ends, bytes
//! that are no HTTP) is left to the [`PooledConnection`], which gets the bytes that came (`replay`): so both give the same outcome
//! for the same bytes.

mod head;
mod replay;

use std::cmp::Ordering;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::time::{Sleep, timeout};

use self::head::{HeadReading, PlainHead};
use self::replay::Replay;
use crate::diagnosis;
use crate::http::{Connection, PooledConnection, Transport};
use crate::memory::{MemoryPermit, SMALL};
use crate::network::{BoxedStream, Protocol};
use paymaster_exchange::{Exchange, Failure, Response, Stage};

/// How much is read at once, in bytes. A response that fills it needs another system call to see its end.
const READ: usize = 8 * 1024;

/// A connection that is kept from one exchange to the next, and opened anew when the target closed it.
#[derive(Default)]
pub struct LeanConnection {
    open: Option<OpenStream>,
    /// For what needs a full client. It is used until its connection ends.
    full: PooledConnection,
    is_full: bool,
    /// The head of every request up to the value of `content-length`, and the request that is being sent.
    head: Vec<u8>,
    request: Vec<u8>,
    received: BytesMut,
    /// The last plain head, byte for byte, and what it says. Most responses of a target have the same.
    known: (Vec<u8>, PlainHead),
    timer: Option<Timer>,
}

struct OpenStream {
    stream: BoxedStream,
    /// Whether an exchange took place on it.
    is_reused: bool,
}

/// A timer that is set again when it ends only: most exchanges end long before.
struct Timer {
    sleep: Pin<Box<Sleep>>,
    ends: Instant,
    /// Whom it wakes.
    waker: Waker,
}

/// The end of an exchange.
#[derive(Debug)]
pub enum Reply<'a> {
    /// A response that was read as it stands in the buffer of the connection.
    Plain(PlainReply<'a>),
    /// Every other end.
    Other(Exchange),
}

/// A response with a body of a stated length.
#[derive(Clone, Copy, Debug)]
pub struct PlainReply<'a> {
    /// The HTTP status code.
    pub status: u16,
    /// The value of `content-type`; empty without one.
    pub content_type: &'a str,
    pub body: &'a [u8],
    /// From sending the request to the last byte of the response.
    pub took: Duration,
    head: &'a [u8],
    request: &'a [u8],
}

impl PlainReply<'_> {
    /// The whole exchange.
    pub fn to_exchange(self) -> Exchange {
        let response = Response {
            status: self.status,
            headers: head::lines(self.head),
            body: Bytes::copy_from_slice(self.body).into(),
        };
        Exchange {
            received: Some(std::time::SystemTime::now()),
            ..Exchange::new(Bytes::copy_from_slice(self.request), Ok(response), self.took)
        }
    }
}

/// How far a plain exchange came.
enum Step {
    /// The response is complete.
    Done(PlainHead),
    /// The connection ended before a byte of the response, and another exchange took place on it before.
    Closed,
    /// The bytes that came are not those of a plain response. False if the request was not sent as a whole.
    Unusual { is_sent: bool },
    /// The deadline passed.
    TimedOut,
}

impl std::fmt::Debug for LeanConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeanConnection").field("is_full", &self.is_full).finish_non_exhaustive()
    }
}

impl LeanConnection {
    /// Sends a body of `length` bytes, which `body` appends, and reads the response. `started` is when the exchange begins.
    pub async fn exchange(
        &mut self,
        transport: &Transport,
        started: Instant,
        length: usize,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Reply<'_> {
        if self.head.is_empty() && !self.is_full {
            match transport.plain_head() {
                Some(head) => self.head = head,
                None => self.is_full = true,
            }
        }
        let body_at = self.write(length, body);
        let step = if self.is_full {
            Ok(Step::Unusual { is_sent: true })
        } else {
            self.plain(transport, started).await
        };
        match step {
            Ok(Step::Done(plain)) => {
                let took = started.elapsed();
                Reply::Plain(PlainReply {
                    status: plain.status,
                    content_type: std::str::from_utf8(&self.received[plain.content_type]).unwrap_or_default(),
                    body: &self.received[plain.length..],
                    took,
                    head: &self.received[..plain.length],
                    request: &self.request[body_at..],
                })
            }
            Ok(Step::Unusual { is_sent }) => {
                let body = Bytes::copy_from_slice(&self.request[body_at..]);
                Reply::Other(self.full(transport, body, started, is_sent).await)
            }
            Ok(Step::TimedOut | Step::Closed) => {
                let failure = self.timed_out(transport.limits.timeout);
                self.open = None;
                Reply::Other(self.failed(body_at, failure, started))
            }
            Err(failure) => Reply::Other(self.failed(body_at, failure, started)),
        }
    }

    /// Writes the request into its buffer. Gives the place of the body.
    fn write(&mut self, length: usize, body: impl FnOnce(&mut Vec<u8>)) -> usize {
        let Self { head, request, .. } = self;
        request.clear();
        request.reserve(head.len() + length + 24);
        request.extend_from_slice(head);
        request.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
        request.extend_from_slice(b"\r\n\r\n");
        let body_at = request.len();
        body(request);
        debug_assert_eq!(request.len(), body_at + length, "the body has the stated length");
        body_at
    }

    fn failed(&self, body_at: usize, failure: Failure, started: Instant) -> Exchange {
        Exchange {
            received: Some(std::time::SystemTime::now()),
            ..Exchange::new(Bytes::copy_from_slice(&self.request[body_at..]), Err(failure), started.elapsed())
        }
    }

    fn timed_out(&self, after: Duration) -> Failure {
        let stage = match head::read(&self.received) {
            HeadReading::Plain(_) => Stage::Body,
            _ => diagnosis::waiting_for_head(&self.received),
        };
        Failure::Timeout { waiting_for: stage, after }
    }

    /// Leaves the exchange to the full client, with what was received so far.
    async fn full(
        &mut self,
        transport: &Transport,
        body: Bytes,
        started: Instant,
        is_sent: bool,
    ) -> Exchange {
        if let Some(open) = self.open.take() {
            let replay = Replay::new(open.stream, Bytes::copy_from_slice(&self.received));
            if let Ok(connection) = Connection::http1(Box::new(replay), false).await {
                self.full = PooledConnection::over(connection, u64::from(open.is_reused));
            }
        }
        let exchange =
            self.full.exchange_since(transport, body.into(), None, &MemoryPermit::default(), started).await;
        if !is_sent {
            // The full client takes the request for sent. What follows it would be taken for its rest.
            self.full = PooledConnection::default();
        }
        // A connection that stays open is used as it is. Another one is tried as a plain one first, unless the target speaks HTTP/2.
        self.is_full = self.full.is_open() || self.head.is_empty();
        exchange
    }

    /// A plain exchange. It is repeated on a new connection where the target closed an idle one (RFC 9112, section 9.3.1).
    async fn plain(&mut self, transport: &Transport, started: Instant) -> Result<Step, Failure> {
        let after = transport.limits.timeout;
        let due = started + after;
        loop {
            if self.open.as_mut().is_some_and(|open| !open.is_idle()) {
                self.open = None;
            }
            if self.open.is_none() {
                let mut stage = Stage::Connection;
                let left = due.saturating_duration_since(Instant::now());
                let connected = timeout(left, transport.connector().connect(&mut stage)).await;
                let connected = connected.map_err(|_| Failure::Timeout { waiting_for: stage, after })??;
                if connected.protocol == Protocol::Http2 {
                    self.is_full = true;
                    self.head.clear();
                    self.full = PooledConnection::over(Connection::over(connected, false).await?, 0);
                    return Ok(Step::Unusual { is_sent: true });
                }
                self.open = Some(OpenStream { stream: connected.stream, is_reused: false });
            }
            let Self { open: Some(open), request, received, known, timer, .. } = &mut *self else { continue };
            let was_reused = open.is_reused;
            received.clear();
            let mut is_first = true;
            let step = {
                let limit = transport.limits.body.min(SMALL);
                let mut conversation = pin!(converse(open, request, received, known, limit));
                poll_fn(|cx| match conversation.as_mut().poll(cx) {
                    Poll::Pending if Timer::has_ended(timer, cx, due, std::mem::take(&mut is_first)) => {
                        Poll::Ready(Step::TimedOut)
                    }
                    step => step,
                })
                .await
            };
            match step {
                Step::Closed => self.open = None,
                // As in the full client.
                Step::Done(plain) if plain.status == 408 && was_reused => self.open = None,
                step => return Ok(step),
            }
        }
    }
}

/// Sends the request and reads the response.
async fn converse(
    OpenStream { stream, is_reused }: &mut OpenStream,
    request: &[u8],
    received: &mut BytesMut,
    known: &mut (Vec<u8>, PlainHead),
    limit: usize,
) -> Step {
    // TLS keeps what it has encrypted until it is flushed.
    let is_sent = stream.write_all(request).await.is_ok() && stream.flush().await.is_ok();
    loop {
        received.reserve(READ);
        if !is_sent || !matches!(stream.read_buf(received).await, Ok(1..)) {
            let is_closed = *is_reused && received.is_empty();
            return if is_closed { Step::Closed } else { Step::Unusual { is_sent } };
        }
        let plain = match known_head(known, received) {
            HeadReading::Partial => continue,
            HeadReading::Plain(plain) if plain.content_length <= limit => plain,
            HeadReading::Plain(_) | HeadReading::Other => return Step::Unusual { is_sent },
        };
        match received.len().cmp(&(plain.length + plain.content_length)) {
            Ordering::Less => {}
            Ordering::Equal => {
                *is_reused = true;
                return Step::Done(plain);
            }
            Ordering::Greater => return Step::Unusual { is_sent },
        }
    }
}

/// Reads the head of a response, or recognizes the one before.
fn known_head(known: &mut (Vec<u8>, PlainHead), received: &[u8]) -> HeadReading {
    let (bytes, plain) = &*known;
    if !bytes.is_empty() && received.starts_with(bytes) {
        return HeadReading::Plain(plain.clone());
    }
    let reading = head::read(received);
    if let HeadReading::Plain(plain) = &reading {
        known.0.clear();
        known.0.extend_from_slice(&received[..plain.length]);
        known.1 = plain.clone();
    }
    reading
}

impl OpenStream {
    /// Whether the connection is open and nothing was received since the last response. It does not wait.
    fn is_idle(&mut self) -> bool {
        let mut byte = [0];
        let mut cx = Context::from_waker(Waker::noop());
        let read = Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte));
        read.is_pending()
    }
}

impl Timer {
    /// Whether `due` has passed. If not, the task will be woken then. `is_first` is false if the task was woken in this exchange,
    /// which the timer may have done.
    fn has_ended(timer: &mut Option<Self>, cx: &mut Context<'_>, due: Instant, is_first: bool) -> bool {
        if let Some(set) = timer
            && is_first
            && set.ends <= due
            && set.waker.will_wake(cx.waker())
            && !set.sleep.is_elapsed()
        {
            return false;
        }
        let timer = timer.get_or_insert_with(|| Self {
            sleep: Box::pin(tokio::time::sleep_until(due.into())),
            ends: due,
            waker: cx.waker().clone(),
        });
        timer.waker.clone_from(cx.waker());
        loop {
            if timer.ends > due || timer.sleep.is_elapsed() {
                timer.sleep.as_mut().reset(due.into());
                timer.ends = due;
            }
            if timer.sleep.as_mut().poll(cx).is_pending() {
                return false;
            }
            if Instant::now() >= due {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests;
