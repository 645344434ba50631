//! What is wrong with a target that answers badly, named for what it is.

use std::error::Error;

use crate::{
    connection::{MAX_HEAD, MAX_HEADERS},
    dial::stage,
    wire::Tap,
};
use paymaster_exchange::Failure;

/// What an exchange waited for when its time was over: more exactly than its stage, by what had come.
pub(crate) fn waiting_for(stage: &'static str, tap: &Tap) -> &'static str {
    match &tap.beginning()[..] {
        _ if stage != stage::HEAD => stage,
        [] => stage,
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', _, b' ', b'1', ..] => {
            "final response head: only interim responses (1xx) came"
        }
        beginning if is_tls(beginning) => "response head: what came is TLS: is it an https:// URL?",
        _ => "end of the response head",
    }
}

/// Why no response came.
pub(crate) fn failure(cause: &hyper::Error, tap: &Tap) -> Failure {
    if cause.is_parse_too_large() {
        return if tap.of_answer() < MAX_HEAD as u64 {
            Failure::TooLarge {
                what: Failure::HEAD_LINES,
                limit: MAX_HEADERS,
            }
        } else {
            Failure::TooLarge {
                what: "head",
                limit: MAX_HEAD,
            }
        };
    }
    if is_tls(&tap.beginning()) {
        return Failure::Broken("what came is TLS: is it an https:// URL?".to_owned());
    }
    if cause.is_canceled() || cause.is_closed() || cause.is_incomplete_message() {
        return Failure::Broken(if tap.beginning().is_empty() {
            "the connection was closed before an answer came".to_owned()
        } else {
            "the connection was closed in the middle of the response head".to_owned()
        });
    }
    Failure::Broken(told(cause))
}

/// Why a response whose head was there did not come to its end.
pub(crate) fn behind_the_head(cause: &hyper::Error) -> Failure {
    let told = told(cause);
    // hyper has no other sign of it.
    if told.contains("chunk extensions over limit") {
        return Failure::TooLarge {
            what: "chunk extensions",
            limit: CHUNK_EXTENSIONS,
        };
    }
    Failure::Cut(told)
}

/// How many bytes of chunk extensions hyper reads in one response.
const CHUNK_EXTENSIONS: usize = 16 * 1024;

/// Bytes behind the end of a response (a Content-Length that is too small) would be taken for the next answer.
pub(crate) fn surplus(fault: Option<&hyper::Error>) -> Result<(), Failure> {
    match fault {
        Some(fault) if fault.to_string().contains("unexpected message") => Err(Failure::Cut(
            "bytes behind the end of the response: is Content-Length too small?".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Whether bytes are the head of a TLS record: an alert, or a handshake message (RFC 8446, section 5.1).
fn is_tls(beginning: &[u8]) -> bool {
    matches!(beginning, [0x15 | 0x16, 3, 0..=4, ..])
}

/// A cause with its own causes.
pub fn told(cause: &(dyn Error + 'static)) -> String {
    let mut text = cause.to_string();
    let mut source = cause.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    text
}
