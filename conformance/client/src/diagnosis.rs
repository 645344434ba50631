//! Names what is wrong with a target that answers badly.

use std::{error::Error, iter::successors};

use crate::http::{MAX_HEAD, MAX_HEADERS, Tap};
use paymaster_exchange::{Failure, Part, Stage};

/// What an exchange waits for, refined by the bytes of the response that came.
pub(crate) fn waiting_for(stage: Stage, tap: &Tap) -> Stage {
    if stage == Stage::Head { waiting_for_head(&tap.beginning()) } else { stage }
}

/// What an exchange waits for after these first bytes of a response head.
pub(crate) fn waiting_for_head(beginning: &[u8]) -> Stage {
    match beginning {
        [] => Stage::Head,
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', _, b' ', b'1', ..] => Stage::FinalHead,
        beginning if is_tls(beginning) => Stage::HeadInsteadOfTls,
        _ => Stage::HeadEnd,
    }
}

/// Why there is no response.
pub(crate) fn failure(cause: &hyper::Error, tap: &Tap) -> Failure {
    if cause.is_parse_too_large() {
        let (part, limit) = if tap.of_response() < MAX_HEAD as u64 {
            (Part::HeadLines, MAX_HEADERS)
        } else {
            (Part::Head, MAX_HEAD)
        };
        return Failure::TooLarge { part, limit };
    }
    let beginning = tap.beginning();
    if is_tls(&beginning) {
        return Failure::Broken("what came is TLS: is it an https:// URL?".to_owned());
    }
    if cause.is_canceled() && !beginning.is_empty() {
        // The bytes themselves may have a secret of the request before, cut so that it is not recognised.
        let status = beginning.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
        let what = match status.filter(|status| status.iter().all(u8::is_ascii_digit)) {
            Some(status) => format!("an HTTP response with status {}", status.escape_ascii()),
            None => "bytes".to_owned(),
        };
        return Failure::Broken(format!("{what} came before the request was sent"));
    }
    if cause.is_canceled() || cause.is_closed() || cause.is_incomplete_message() {
        let when =
            if beginning.is_empty() { "before an answer came" } else { "in the middle of the response head" };
        return Failure::Broken(format!("the connection was closed {when}"));
    }
    Failure::Broken(with_causes(cause))
}

/// Why the body of a response, whose head came, is not complete.
pub(crate) fn incomplete_body(cause: &hyper::Error) -> Failure {
    let text = with_causes(cause);
    // hyper reports this by its text alone.
    if text.contains("chunk extensions over limit") {
        return Failure::TooLarge { part: Part::ChunkExtensions, limit: CHUNK_EXTENSIONS };
    }
    Failure::Cut(text)
}

/// How many bytes of chunk extensions hyper reads in one response.
const CHUNK_EXTENSIONS: usize = 16 * 1024;

/// A failure where bytes follow the end of a response (a Content-Length that is too small): they would be taken for the next response.
/// A response of status 408 is the announcement that the idle connection ends (RFC 9110, section 15.5.9).
pub(crate) fn surplus(cause: Option<&hyper::Error>, tap: &Tap) -> Result<(), Failure> {
    match cause {
        // hyper reports this by its text alone.
        Some(cause) if cause.to_string().contains("unexpected message") && !tap.ends_with_timeout() => {
            Err(Failure::Cut("bytes behind the end of the response: is Content-Length too small?".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Whether bytes are the head of a TLS record: an alert, or a handshake message (RFC 8446, section 5.1).
fn is_tls(beginning: &[u8]) -> bool {
    matches!(beginning, [0x15 | 0x16, 3, 0..=4, ..])
}

/// An error and its causes, the first one last.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
}

/// An error and its causes on one line; a cause that is part of the text already is not repeated.
pub fn with_causes(cause: &(dyn Error + 'static)) -> String {
    let causes = causes(cause).skip(1).map(ToString::to_string);
    let joined = |text: String, cause: String| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    };
    causes.fold(cause.to_string(), joined)
}
