//! A stream that counts the bytes that are read from it and keeps the first ones of each response.
//!
//! hyper shows no bytes of a response that it cannot parse. The count decides whether a request may be sent again, and the first bytes
//! show what was sent in place of HTTP, such as TLS.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio_util::io::InspectReader;

use crate::network::stream::BoxedStream;

/// A stream with a [`Tap`].
pub(crate) type TappedStream = InspectReader<BoxedStream, Box<dyn FnMut(&[u8]) + Send>>;

/// What was read from a stream.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    received: AtomicU64,
    /// How many bytes were received before the present response.
    before: AtomicU64,
    /// Whether `beginning` may still grow.
    collects: AtomicBool,
    /// The first bytes of the present response.
    beginning: Mutex<Vec<u8>>,
    /// The last bytes that were read.
    end: Mutex<Vec<u8>>,
}

/// Enough to tell TLS from HTTP, and to read a status (`HTTP/1.1 407`).
const BEGINNING: usize = 16;

/// Enough for the response of a server that closes an idle connection.
const END: usize = 512;

impl Tap {
    /// A stream whose reads are noted here.
    pub(crate) fn on(self: &Arc<Self>, stream: BoxedStream) -> TappedStream {
        let tap = Arc::clone(self);
        InspectReader::new(stream, Box::new(move |read| tap.note(read)))
    }

    /// Bytes received so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The bytes from here on belong to the next response.
    pub(crate) fn begin(&self) {
        self.before.store(self.received(), Ordering::Relaxed);
        self.collected(Vec::clear);
        self.collects.store(true, Ordering::Relaxed);
    }

    /// Bytes received of the present response.
    pub(crate) fn of_response(&self) -> u64 {
        self.received() - self.before.load(Ordering::Relaxed)
    }

    /// The first bytes of the present response, at most 16.
    pub(crate) fn beginning(&self) -> Vec<u8> {
        self.collected(|beginning| beginning.clone())
    }

    /// Whether the last bytes are a response of status 408.
    pub(crate) fn ends_with_timeout(&self) -> bool {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = end.windows(b"HTTP/1.1 408 ".len());
        places.any(|text| matches!(text, b"HTTP/1.1 408 " | b"HTTP/1.0 408 "))
    }

    fn note(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.clear();
        end.extend_from_slice(&bytes[bytes.len().saturating_sub(END)..]);
        drop(end);
        if self.collects.load(Ordering::Relaxed) {
            let length = self.collected(|beginning| {
                let missing = BEGINNING - beginning.len();
                beginning.extend_from_slice(&bytes[..bytes.len().min(missing)]);
                beginning.len()
            });
            self.collects.store(length < BEGINNING, Ordering::Relaxed);
        }
    }

    fn collected<T>(&self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        change(&mut self.beginning.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
