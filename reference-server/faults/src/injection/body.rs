//! Writes a [`WireResponse`] as hyper would not by itself: in pieces, cut off, or not at all.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame};
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode, Version};
use paymaster_service::AnnouncesTimeout;
use tokio::time::Sleep;

use super::response::{Framing, WireResponse};

/// A body that is sent in pieces and may end with an error, which closes the connection.
#[derive(Debug)]
pub struct PieceBody {
    pieces: VecDeque<Bytes>,
    /// Wait after each piece.
    pause: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    fails: bool,
}

/// Long enough for hyper to write a piece: it drops what is still buffered when the body fails.
const FLUSH_TIME: Duration = Duration::from_millis(1);

impl PieceBody {
    fn new(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        Self { pieces: pieces.into_iter().collect(), pause: Duration::ZERO, waiting: None, fails: false }
    }

    fn failing(piece: Bytes) -> Self {
        Self { pause: FLUSH_TIME, fails: true, ..Self::new([piece]) }
    }
}

impl Body for PieceBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(wait) = &mut self.waiting {
            ready!(wait.as_mut().poll(cx));
            self.waiting = None;
        }
        let piece = self.pieces.pop_front();
        if piece.is_some() && !self.pause.is_zero() {
            self.waiting = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        Poll::Ready(match piece {
            Some(piece) => Some(Ok(Frame::data(piece))),
            None if self.fails => Some(Err(io::Error::other("a fault ends the body early"))),
            None => None,
        })
    }
}

impl WireResponse {
    /// The HTTP response, after its delay. An error closes the connection without a response.
    pub(super) async fn into_http(self) -> io::Result<Response<Either<Full<Bytes>, PieceBody>>> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        // Without a body there is nothing to frame.
        let has_framing = self.body.is_some() || self.framing == Framing::Nothing;
        let framing = if has_framing { self.framing } else { Framing::Length };
        let body = Bytes::from(self.body.unwrap_or_default());
        let length = body.len();
        let half = body.slice(..length / 2);
        let (pieces, content_length) = match framing {
            Framing::Nothing => return Err(io::Error::other("a fault closes the connection")),
            Framing::Length | Framing::ThenTimeout | Framing::ThenClose => (None, None),
            Framing::Chunks(size) => (Some(PieceBody::new(chunks(&body, size))), None),
            Framing::TwoParts(pause) => {
                let pieces = PieceBody::new([half, body.slice(length / 2..)]);
                (Some(PieceBody { pause, ..pieces }), Some(length))
            }
            Framing::UntilClose => (Some(PieceBody::new([body.clone()])), None),
            Framing::TooLong(more) => (Some(PieceBody::failing(body.clone())), Some(length + more)),
            Framing::CutChunks => (Some(PieceBody::failing(half)), None),
            Framing::Half | Framing::Reset => (Some(PieceBody::failing(half)), Some(length)),
        };
        let mut response = Response::new(pieces.map_or_else(|| Either::Left(Full::new(body)), Either::Right));
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
