//! Content codings of responses, which the service itself never uses.

use std::io::Read;

use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};

use super::WireResponse;

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
}

impl Coding {
    /// The name in `Accept-Encoding` and `Content-Encoding`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
        }
    }

    fn encode(self, text: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        // Reading from memory does not fail.
        let _ = match self {
            Self::Gzip => GzEncoder::new(text, Compression::fast()).read_to_end(&mut encoded),
            Self::Deflate => ZlibEncoder::new(text, Compression::fast()).read_to_end(&mut encoded),
            Self::Brotli => {
                brotli::CompressorReader::new(text, BUFFER_BYTES, 1, WINDOW_BITS).read_to_end(&mut encoded)
            }
        };
        encoded
    }
}

const BUFFER_BYTES: usize = 4096;
const WINDOW_BITS: u32 = 16;

/// Encodes the body of a response, and announces the coding. A response without a body stays as it is.
pub(crate) fn compress(response: &mut WireResponse, coding: Coding) {
    if let Some(body) = &mut response.body {
        *body = coding.encode(body);
        response.headers.push(("content-encoding", coding.name()));
        response.headers.push(("vary", "accept-encoding"));
    }
}
