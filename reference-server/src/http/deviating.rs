//! Responses that are put on the wire otherwise than hyper would: in pieces, cut off, or not at all.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame};
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode, Version};
use tokio::time::Sleep;

use crate::deviations::{Framing, Sent};

/// The connection is closed in place of an answer.
#[derive(Debug)]
pub(super) struct HungUp;

impl fmt::Display for HungUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a fault hung up")
    }
}

impl std::error::Error for HungUp {}

/// A body that comes in pieces and may break off.
pub(super) struct Pieces {
    left: VecDeque<Bytes>,
    /// Between two pieces.
    pause: Duration,
    waits: Option<Pin<Box<Sleep>>>,
    breaks_off: bool,
}

impl Pieces {
    fn new(left: impl IntoIterator<Item = Bytes>) -> Self {
        Self {
            left: left.into_iter().collect(),
            pause: Duration::ZERO,
            waits: None,
            breaks_off: false,
        }
    }

    fn breaking_off(mut self) -> Self {
        self.breaks_off = true;
        // What was written before must have left: hyper drops it when the body fails.
        self.pause = FLUSH_TIME;
        self
    }
}

/// Long enough for hyper to write what it has.
const FLUSH_TIME: Duration = Duration::from_millis(1);

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(wait) = &mut self.waits {
            ready!(wait.as_mut().poll(cx));
            self.waits = None;
        }
        let piece = self.left.pop_front();
        if piece.is_some() && !self.pause.is_zero() {
            self.waits = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        Poll::Ready(match piece {
            Some(piece) => Some(Ok(Frame::data(piece))),
            None if self.breaks_off => Some(Err(io::Error::other("a fault broke off"))),
            None => None,
        })
    }
}

/// The response, after its delay.
pub(super) async fn into_response(sent: Sent) -> Result<Response<Either<Full<Bytes>, Pieces>>, HungUp> {
    if !sent.delay.is_zero() {
        tokio::time::sleep(sent.delay).await;
    }
    let has_body = sent.body.is_some();
    let body = Bytes::from(sent.body.unwrap_or_default());
    let length = body.len();
    let half = body.slice(..length / 2);
    let mut announced = None;
    let mut closes = false;
    let mut version = Version::HTTP_11;
    let framed = match sent.framing {
        Framing::Nothing => return Err(HungUp),
        // A notification's answer has no body that could be framed.
        _ if !has_body => Either::Left(Full::new(body)),
        Framing::Length => Either::Left(Full::new(body)),
        Framing::ThenClose => {
            closes = true;
            Either::Left(Full::new(body))
        }
        Framing::Chunks(size) => Either::Right(Pieces::new(chunks(&body, size))),
        Framing::TwoParts(pause) => {
            announced = Some(length);
            let mut pieces = Pieces::new([half.clone(), body.slice(half.len()..)]);
            pieces.pause = pause;
            Either::Right(pieces)
        }
        Framing::UntilClose => {
            version = Version::HTTP_10;
            closes = true;
            Either::Right(Pieces::new([body]))
        }
        Framing::TooLong(more) => {
            announced = Some(length + more);
            Either::Right(Pieces::new([body]).breaking_off())
        }
        Framing::CutChunks => Either::Right(Pieces::new([half]).breaking_off()),
        Framing::Half | Framing::Reset => {
            announced = Some(length);
            Either::Right(Pieces::new([half]).breaking_off())
        }
    };
    let mut response = Response::new(framed);
    *response.status_mut() = StatusCode::from_u16(sent.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.version_mut() = version;
    let headers = response.headers_mut();
    if let Some(content_type) = sent.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in sent.headers {
        headers.append(name, HeaderValue::from_static(value));
    }
    if let Some(announced) = announced {
        headers.insert(CONTENT_LENGTH, announced.into());
    }
    if closes {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

fn chunks(body: &Bytes, size: usize) -> Vec<Bytes> {
    (0..body.len())
        .step_by(size.max(1))
        .map(|start| body.slice(start..body.len().min(start + size.max(1))))
        .collect()
}
