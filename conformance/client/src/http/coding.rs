//! Content codings of responses (RFC 9110, section 8.4): gzip, deflate, br and zstd are decoded, within the limit on the body.
//!
//! A body in a coding that the request did not permit, or in one that is not decoded here, stays as it was received.

use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status, bufread::MultiGzDecoder};
use ruzstd::decoding::StreamingDecoder;

use crate::memory::{MemoryPermit, SMALL};
use paymaster_exchange::{Failure, Part, Response};

/// How many codings may be applied to one body. More is an attack: each of them may enlarge the body a thousandfold.
const MOST_CODINGS: usize = 3;

/// The size of the buffers of a decoder, in bytes.
const BUFFER: usize = 4096;

/// Decodes the body of a response to a request with this `Accept-Encoding`. The decoded body is at most `limit` bytes long; for one
/// that is larger than [`SMALL`], the permit is acquired first.
pub(crate) async fn decoded(
    response: Response,
    accept_encoding: Option<&str>,
    limit: usize,
    permit: &MemoryPermit,
) -> Result<Response, Failure> {
    let codings = codings(&response);
    let is_readable = |coding: &String| decoder(coding).is_some() && permits(accept_encoding, coding);
    if codings.is_empty() || response.body.is_empty() || !codings.iter().all(is_readable) {
        return Ok(response);
    }
    if codings.len() > MOST_CODINGS {
        return Err(Failure::Cut(format!("the body has {} content codings", codings.len())));
    }
    let body = match decode_all(&codings, response.body.bytes(), limit.min(SMALL)) {
        Err(Failure::TooLarge { .. }) if limit > SMALL => {
            permit.acquire(limit).await;
            decode_all(&codings, response.body.bytes(), limit)?
        }
        decoded => decoded?,
    };
    Ok(Response { body: body.into(), ..response })
}

/// The codings of a body in the order in which they were applied, in lower case and without `identity`.
fn codings(response: &Response) -> Vec<String> {
    response
        .headers
        .iter()
        .filter(|(name, _)| name == "content-encoding")
        .flat_map(|(_, value)| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect()
}

/// Whether a request with this `Accept-Encoding` permits a coding. Without the header, every coding is acceptable (RFC 9110, section
/// 12.5.3).
fn permits(accept_encoding: Option<&str>, coding: &str) -> bool {
    let Some(accepted) = accept_encoding else { return true };
    let weight = |wanted: &str| {
        accepted.split(',').find_map(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let name = parts.next()?.to_ascii_lowercase();
            let is_refused = parts.any(|part| {
                let value = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
                value.is_some_and(|value| value.parse() == Ok(0.0))
            });
            (name.trim_start_matches("x-") == wanted).then_some(!is_refused)
        })
    };
    weight(coding.trim_start_matches("x-")).or_else(|| weight("*")).unwrap_or(false)
}

/// Decodes at most so many bytes of a body.
type Decoder = fn(&[u8], usize) -> io::Result<Vec<u8>>;

/// The decoder of a coding by its name; none for one that is not decoded here.
fn decoder(coding: &str) -> Option<Decoder> {
    Some(match coding {
        "gzip" | "x-gzip" => |body, most| all_of(MultiGzDecoder::new(body), most),
        "deflate" => inflated,
        "br" => |body, most| all_of(Decompressor::new(body, BUFFER), most),
        "zstd" => |body, most| all_of(StreamingDecoder::new(body).map_err(io::Error::other)?, most),
        _ => return None,
    })
}

fn all_of(decoder: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    decoder.take(most as u64).read_to_end(&mut decoded)?;
    Ok(decoded)
}

/// Decodes a zlib or deflate stream: RFC 9110 means the zlib format; some servers send the bare stream, which every client reads too.
/// Unlike the decoders of flate2, it fails where the stream has no end.
fn inflated(body: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let mut state = Decompress::new(is_zlib(body));
    let mut decoded = Vec::with_capacity(most);
    let status = state.decompress_vec(body, &mut decoded, FlushDecompress::None)?;
    match status {
        Status::StreamEnd if state.total_in() < body.len() as u64 => {
            Err(io::Error::other("bytes follow the compressed data"))
        }
        Status::Ok | Status::BufError if decoded.len() < most => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(decoded),
    }
}

/// Whether a body begins with the two bytes of a zlib header (RFC 1950).
fn is_zlib(body: &[u8]) -> bool {
    let header = body.first_chunk().map(|header| u16::from_be_bytes(*header));
    header.is_some_and(|header| header & 0x0f00 == 0x0800 && header.is_multiple_of(31))
}

fn decode_all(codings: &[String], body: &Bytes, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut decoded = body.to_vec();
    for name in codings.iter().rev() {
        let Some(decode) = decoder(name) else { continue };
        decoded = decode(&decoded, limit.saturating_add(1)).map_err(|cause| {
            let cause = match cause.kind() {
                io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
                _ => cause.to_string(),
            };
            Failure::Cut(format!("the body is not {name}, which its content-encoding announces: {cause}"))
        })?;
        if decoded.len() > limit {
            return Err(Failure::TooLarge { part: Part::Body, limit });
        }
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    const TEXT: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    /// A meta-block that is not compressed, and an empty last one (RFC 7932, section 9.2).
    fn brotli(text: &[u8]) -> Vec<u8> {
        let head = u32::try_from(text.len() - 1).unwrap() << 4 | 1 << 20;
        [&head.to_le_bytes()[..3], text, &[3]].concat()
    }

    /// A frame of one block that is not compressed (RFC 8878, section 3.1.1).
    fn zstd(text: &[u8]) -> Vec<u8> {
        let length = u8::try_from(text.len()).unwrap();
        let block = u32::from(length) << 3 | 1;
        [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length], &block.to_le_bytes()[..3], text].concat()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    async fn read(coding: &str, accepted: Option<&str>, body: Vec<u8>) -> Result<Bytes, Failure> {
        let response = Response {
            status: 200,
            headers: vec![("content-encoding".to_owned(), coding.to_owned())],
            body: body.into(),
        };
        let limit = 100_000;
        let decoded = decoded(response, accepted, limit, &MemoryPermit::default()).await;
        decoded.map(|response| response.body.bytes().clone())
    }

    #[tokio::test]
    async fn announced_codings_are_decoded() {
        for (coding, accepted, body) in [
            ("gzip", Some("gzip, deflate, br"), gzip(TEXT)),
            ("X-GZip", Some("gzip;q=1.0"), gzip(TEXT)),
            ("deflate", Some("*"), zlib(TEXT)),
            ("deflate", Some("gzip, deflate"), deflate(TEXT)),
            ("br", Some("gzip, deflate, br"), brotli(TEXT)),
            ("deflate, gzip", Some("gzip, deflate"), gzip(&zlib(TEXT))),
            ("gzip", None, gzip(TEXT)),
            ("zstd", Some("gzip, zstd"), zstd(TEXT)),
            ("identity", Some("identity"), TEXT.to_vec()),
        ] {
            let read = read(coding, accepted, body).await;
            assert_eq!(read.as_deref(), Ok(TEXT), "{coding} {accepted:?}");
        }
    }

    #[tokio::test]
    async fn other_codings_stay_as_they_are() {
        for (coding, accepted) in
            [("gzip", "identity"), ("gzip", "gzip;q=0, *"), ("gzip", "br"), ("compress", "gzip, compress")]
        {
            let body = gzip(TEXT);
            let read = read(coding, Some(accepted), body.clone()).await;
            assert_eq!(read.as_deref(), Ok(&body[..]), "{coding} {accepted:?}");
        }
    }

    #[tokio::test]
    async fn a_body_that_is_not_of_its_coding_fails() {
        let cut = |mut body: Vec<u8>, by| {
            body.truncate(body.len() - by);
            body
        };
        let wrong_length = |mut body: Vec<u8>| {
            *body.last_mut().unwrap() ^= 1;
            body
        };
        for (coding, body) in [
            ("gzip", TEXT.to_vec()),
            ("gzip", cut(gzip(TEXT), 1)),
            ("gzip", cut(gzip(TEXT), 12)),
            ("gzip", wrong_length(gzip(TEXT))),
            ("gzip", [gzip(TEXT), b"more".to_vec()].concat()),
            ("deflate", TEXT.to_vec()),
            ("deflate", cut(zlib(TEXT), 1)),
            ("deflate", wrong_length(zlib(TEXT))),
            ("deflate", cut(deflate(TEXT), 1)),
            ("deflate", [zlib(TEXT), b"more".to_vec()].concat()),
            ("zstd", TEXT.to_vec()),
            ("zstd", cut(zstd(TEXT), 1)),
            ("br", TEXT.to_vec()),
            ("br", cut(brotli(TEXT), 1)),
            ("br", cut(brotli(TEXT), 9)),
        ] {
            let failure = read(coding, Some("gzip, deflate, br, zstd"), body.clone()).await;
            assert!(
                matches!(&failure, Err(Failure::Cut(cause)) if cause.contains(coding)),
                "{coding} {body:?}: {failure:?}"
            );
        }
    }

    #[tokio::test]
    async fn the_limit_is_that_of_the_decoded_body() {
        for (size, fits) in [(100_000, true), (100_001, false), (50_000_000, false)] {
            for body in [gzip(&vec![b' '; size]), gzip(&gzip(&vec![b' '; size]))] {
                let coding = if body.len() < 1_000 && size > 1_000_000 { "gzip, gzip" } else { "gzip" };
                let decoded = read(coding, Some("gzip"), body).await;
                match decoded {
                    Err(Failure::TooLarge { limit: 100_000, .. }) => assert!(!fits, "{size}"),
                    decoded => assert!(decoded.is_ok_and(|body| fits || body.len() < 100_000), "{size}"),
                }
            }
        }
        let many = read("gzip, gzip, gzip, gzip", Some("gzip"), gzip(TEXT)).await;
        assert!(matches!(many, Err(Failure::Cut(_))), "{many:?}");
    }
}
