//! Reads the body of a request within its bounds.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};

/// Why a body cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is larger than the bound.
    TooLarge,
    /// It did not arrive in time.
    Late,
    /// It was cut off or is not well formed.
    Broken,
}

/// A body of up to this many times the bound is read and discarded, so that the client gets the error: closing the
/// connection while the client still writes would reset it.
const DISCARD_FACTOR: u64 = 8;

/// Reads all of `body`, of at most `limit` bytes, within `timeout`. With `expects_continue` the client waits for
/// `100 Continue`, so that a body too large is refused before it is sent.
pub(super) async fn read(
    body: Incoming,
    limit: usize,
    timeout: Duration,
    expects_continue: bool,
) -> Result<Bytes, BodyError> {
    tokio::time::timeout(timeout, read_all(body, limit, expects_continue))
        .await
        .unwrap_or(Err(BodyError::Late))
}

async fn read_all(mut body: Incoming, limit: usize, expects_continue: bool) -> Result<Bytes, BodyError> {
    let bound = limit as u64;
    let most = bound.saturating_mul(DISCARD_FACTOR);
    let announced = body.size_hint().lower();
    if announced > most || (expects_continue && announced > bound) {
        return Err(BodyError::TooLarge);
    }
    match Limited::new(&mut body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let mut discarded = bound;
            while let Some(Ok(frame)) = body.frame().await {
                discarded += frame.data_ref().map_or(0, Bytes::len) as u64;
                if discarded > most {
                    break;
                }
            }
            Err(BodyError::TooLarge)
        }
        Err(_) => Err(BodyError::Broken),
    }
}
