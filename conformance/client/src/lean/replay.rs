//! A stream on which a request was sent already: a full HTTP client that sends it again gets the bytes that came back for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::network::BoxedStream;

/// A stream whose first request is not sent and whose first bytes are given.
pub(super) struct Replay {
    stream: BoxedStream,
    /// The bytes that are read first.
    first: Bytes,
    /// Whether the first request is still being written. Nothing is read before it is complete.
    in_request: bool,
    has_written: bool,
    /// Who waits for the first bytes.
    waiting: Option<Waker>,
}

impl Replay {
    pub(super) fn new(stream: BoxedStream, first: Bytes) -> Self {
        Self { stream, first, in_request: true, has_written: false, waiting: None }
    }
}

impl AsyncRead for Replay {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.in_request {
            self.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let length = self.first.len().min(buffer.remaining());
        buffer.put_slice(&self.first.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Replay {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.in_request {
            self.has_written = true;
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes when it has written a whole request.
        if self.in_request && self.has_written {
            self.in_request = false;
            if let Some(waiting) = self.waiting.take() {
                waiting.wake();
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
