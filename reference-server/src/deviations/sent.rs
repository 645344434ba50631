//! An HTTP response, with the ways in which it can be put on the wire.

use std::time::Duration;

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) status: u16,
    /// Names and values, the content type and the framing apart.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    /// None leaves the header out.
    pub(crate) content_type: Option<&'static str>,
    /// None where nothing is said, as to a notification.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) framing: Framing,
    /// How long it takes to begin.
    pub(crate) delay: Duration,
    /// Whether the body answers with a result.
    pub(crate) has_result: bool,
}

/// How a response is put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// With its length, on a connection that stays open.
    Length,
    /// In chunks of so many bytes.
    Chunks(usize),
    /// With its length, in two parts with that much time between them.
    TwoParts(Duration),
    /// Without a length, as HTTP/1.0 does it: the connection's end is the body's.
    UntilClose,
    /// With its length, on a connection that is then closed.
    ThenClose,
    /// With a length that is so many bytes more than there are; then the connection is closed.
    TooLong(usize),
    /// In chunks, of which the last ones never come; then the connection is closed.
    CutChunks,
    /// Half of it, with the whole length; then the connection is closed.
    Half,
    /// Not at all: the connection is closed.
    Nothing,
    /// Half of it, with the whole length; then the connection is reset.
    Reset,
}
