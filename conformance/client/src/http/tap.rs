//! A stream that counts the bytes that are read from it and keeps the first ones of each response.
//!
//! hyper shows no bytes of a response that it cannot parse. The count decides whether a request may be sent again, and the first bytes
//! show what was sent in place of HTTP, such as TLS.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::io::InspectReader;

use crate::network::BoxedStream;

/// A stream with a [`Tap`].
pub(crate) type TappedStream = InspectReader<BoxedStream, Box<dyn FnMut(&[u8]) + Send>>;

/// What was read from a stream.
#[derive(Debug, Default)]
pub(crate) struct Tap(Mutex<ReadBytes>);

#[derive(Debug, Default)]
struct ReadBytes {
    received: u64,
    /// How many bytes were received before the present response.
    before: u64,
    /// The first bytes of the present response; none before the first one.
    beginning: Option<Vec<u8>>,
    /// The last bytes that were read.
    end: Vec<u8>,
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
        self.0.lock().received
    }

    /// The bytes from here on belong to the next response.
    pub(crate) fn begin(&self) {
        let mut read = self.0.lock();
        (read.before, read.beginning) = (read.received, Some(Vec::new()));
    }

    /// Bytes received of the present response.
    pub(crate) fn of_response(&self) -> u64 {
        let read = self.0.lock();
        read.received - read.before
    }

    /// The first bytes of the present response, at most 16.
    pub(crate) fn beginning(&self) -> Vec<u8> {
        self.0.lock().beginning.clone().unwrap_or_default()
    }

    /// Whether the last bytes are a response of status 408.
    pub(crate) fn ends_with_timeout(&self) -> bool {
        let read = self.0.lock();
        let mut places = read.end.windows(b"HTTP/1.1 408 ".len());
        places.any(|text| matches!(text, b"HTTP/1.1 408 " | b"HTTP/1.0 408 "))
    }

    fn note(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut read = self.0.lock();
        read.received += bytes.len() as u64;
        read.end.clear();
        read.end.extend_from_slice(&bytes[bytes.len().saturating_sub(END)..]);
        if let Some(beginning) = &mut read.beginning {
            let missing = BEGINNING - beginning.len();
            beginning.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        }
    }
}
