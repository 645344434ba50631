//! A stream that watches what is read from it: whether an answer had begun decides whether a request may be re-sent, and how it began
//! tells what answers there when it is no HTTP.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::stream::Stream;

#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    tap: Arc<Tap>,
}

impl Wire {
    pub(crate) fn new(stream: Stream, tap: Arc<Tap>) -> Self {
        Self { stream, tap }
    }
}

/// What came over a wire.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    received: AtomicU64,
    /// How many of them came before the answer.
    before: AtomicU64,
    /// Whether the next bytes are the first of an answer.
    fresh: AtomicBool,
    /// The first bytes of the answer, as many as came at once.
    beginning: Mutex<([u8; BEGINNING], usize)>,
}

/// Enough to tell TLS from HTTP, and to see the class of a status (`HTTP/1.1 1`).
const BEGINNING: usize = 16;

impl Tap {
    /// Bytes read so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// What comes from here on belongs to another answer.
    pub(crate) fn begin(&self) {
        self.before.store(self.received(), Ordering::Relaxed);
        self.fresh.store(true, Ordering::Relaxed);
    }

    /// Bytes read of the answer so far.
    pub(crate) fn of_answer(&self) -> u64 {
        self.received() - self.before.load(Ordering::Relaxed)
    }

    /// The first bytes of the answer; none when nothing came yet.
    pub(crate) fn beginning(&self) -> Vec<u8> {
        if self.fresh.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let (bytes, length) = *self.beginning.lock().unwrap_or_else(PoisonError::into_inner);
        bytes[..length].to_vec()
    }

    fn note(&self, bytes: &[u8]) {
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if self.fresh.swap(false, Ordering::Relaxed) {
            let length = bytes.len().min(BEGINNING);
            let mut beginning = self.beginning.lock().unwrap_or_else(PoisonError::into_inner);
            beginning.0[..length].copy_from_slice(&bytes[..length]);
            beginning.1 = length;
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let read = &buffer.filled()[before..];
        if !read.is_empty() {
            self.tap.note(read);
        }
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
