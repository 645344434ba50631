//! Writes a [`WireResponse`] as hyper would not by itself: in pieces, cut off, or not at all.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode, Version};
use paymaster_service::AnnouncesTimeout;
use tokio::time::sleep;

use super::response::{Framing, WireResponse};

/// A body that is sent in pieces and may end with an error, which closes the connection.
pub(super) type PieceBody = UnsyncBoxBody<Bytes, io::Error>;

/// Long enough for hyper to write a piece: it drops what is still buffered when the body fails.
const FLUSH_TIME: Duration = Duration::from_millis(1);

/// A body of these pieces, with a pause after each of them but the last. An error may follow, after a pause too.
fn pieces(pieces: impl IntoIterator<Item = Bytes>, pause: Duration, fails: bool) -> PieceBody {
    let error = fails.then(|| Err(io::Error::other("a fault ends the body early")));
    let frames: Vec<_> = pieces.into_iter().map(|piece| Ok(Frame::data(piece))).chain(error).collect();
    let frames = stream::iter(frames).enumerate().then(move |(place, frame)| async move {
        if place > 0 && !pause.is_zero() {
            sleep(pause).await;
        }
        frame
    });
    StreamBody::new(frames).boxed_unsync()
}

/// A body of one piece that is sent whole before the error.
fn failing(piece: Bytes) -> PieceBody {
    pieces([piece], FLUSH_TIME, true)
}

impl WireResponse {
    /// The HTTP response, after its delay. An error closes the connection without a response.
    pub(super) async fn into_http(self) -> io::Result<Response<Either<Full<Bytes>, PieceBody>>> {
        if !self.delay.is_zero() {
            sleep(self.delay).await;
        }
        // Without a body there is nothing to frame.
        let has_framing = self.body.is_some() || self.framing == Framing::Nothing;
        let framing = if has_framing { self.framing } else { Framing::Length };
        let body = Bytes::from(self.body.unwrap_or_default());
        let length = body.len();
        let half = body.slice(..length / 2);
        let (piece_body, content_length) = match framing {
            Framing::Nothing => return Err(io::Error::other("a fault closes the connection")),
            Framing::Length | Framing::ThenTimeout | Framing::ThenClose => (None, None),
            Framing::Chunks(size) => (Some(pieces(chunks(&body, size), Duration::ZERO, false)), None),
            Framing::TwoParts(pause) => {
                (Some(pieces([half, body.slice(length / 2..)], pause, false)), Some(length))
            }
            Framing::UntilClose => (Some(pieces([body.clone()], Duration::ZERO, false)), None),
            Framing::TooLong(more) => (Some(failing(body.clone())), Some(length + more)),
            Framing::CutChunks => (Some(failing(half)), None),
            Framing::Half | Framing::Reset => (Some(failing(half)), Some(length)),
        };
        let mut response =
            Response::new(piece_body.map_or_else(|| Either::Left(Full::new(body)), Either::Right));
        if framing == Framing::UntilClose {
            *response.version_mut() = Version::HTTP_10;
        }
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if self.framing == Framing::ThenTimeout {
            response.extensions_mut().insert(AnnouncesTimeout);
        }
        let headers = response.headers_mut();
        if let Some(content_type) = self.content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        for (name, value) in self.headers {
            headers.append(name, HeaderValue::from_static(value));
        }
        if let Some(content_length) = content_length {
            headers.insert(CONTENT_LENGTH, content_length.into());
        }
        if matches!(framing, Framing::ThenClose | Framing::UntilClose) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(response)
    }
}

fn chunks(body: &Bytes, size: usize) -> Vec<Bytes> {
    body.chunks(size.max(1)).map(|piece| body.slice_ref(piece)).collect()
}
