//! Content codings of responses, which the service itself never uses.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

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
        // Writing to a Vec cannot fail.
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                let _ = encoder.write_all(text);
                encoder.finish().unwrap_or_default()
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                let _ = encoder.write_all(text);
                encoder.finish().unwrap_or_default()
            }
            Self::Brotli => {
                let mut encoded = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(&mut encoded, BUFFER_BYTES, 1, WINDOW_BITS);
                let _ = encoder.write_all(text);
                drop(encoder);
                encoded
            }
        }
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
