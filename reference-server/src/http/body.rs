//! Reading a request's body within its bounds.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Incoming};

use super::progress::Progress;

/// Why there is no body to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyError {
    /// Larger than the bound.
    TooLarge,
    /// Not whole in time.
    Late,
    /// Cut off, or garbled.
    Broken,
}

/// How many times the bound a client may send before it is cut off: up to there its bytes are thrown away and it gets an
/// answer, which it would not see if the connection were reset under its writing.
const PATIENCE: u64 = 8;

/// Reads all of `body`, of at most `limit` bytes. `announced_only` says that the client waits for a go-ahead
/// (`Expect: 100-continue`), so that too large a body is refused before it is sent.
pub(super) async fn read(
    mut body: Incoming,
    limit: usize,
    announced_only: bool,
    progress: &Progress,
) -> Result<Bytes, BodyError> {
    let limit = limit as u64;
    let announced = body.size_hint().lower();
    if announced > limit.saturating_mul(PATIENCE) || (announced_only && announced > limit) {
        return Err(BodyError::TooLarge);
    }
    let mut read = 0_u64;
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    loop {
        if body.is_end_stream() {
            break;
        }
        let frame = poll_fn(|cx| {
            if progress.is_body_late() {
                return Poll::Ready(Err(BodyError::Late));
            }
            Pin::new(&mut body)
                .poll_frame(cx)
                .map(|frame| frame.transpose().map_err(|_| BodyError::Broken))
        });
        let Some(frame) = frame.await? else {
            break;
        };
        let Ok(data) = frame.into_data() else {
            // Trailers: nothing that we read.
            continue;
        };
        read += data.len() as u64;
        if read > limit {
            if read > limit.saturating_mul(PATIENCE) {
                return Err(BodyError::TooLarge);
            }
            rest = BytesMut::new();
        } else if first.is_empty() && rest.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
    }
    if read > limit {
        return Err(BodyError::TooLarge);
    }
    // A body that came in one piece, as small ones do, was not copied.
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}
