//! An HTTP response that behaviours may change, down to its framing.

use std::time::Duration;

/// An HTTP response before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireResponse {
    pub(crate) status: u16,
    /// Names and values of further headers; not the content type, and not those of the framing.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    /// None leaves the header out.
    pub(crate) content_type: Option<&'static str>,
    /// None for a response without content, as to a notification.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) framing: Framing,
    /// Wait before the response begins.
    pub(crate) delay: Duration,
    /// Whether the body holds a result.
    pub(crate) has_result: bool,
}

impl WireResponse {
    /// Gives a response with a body another content type; none leaves the header out.
    pub(crate) fn set_content_type(&mut self, content_type: Option<&'static str>) {
        if self.body.is_some() {
            self.content_type = content_type;
        }
    }

    /// Puts a refusal in the place of the status and the body: JSON, or a plain text.
    pub(crate) fn refuse(&mut self, status: u16, body: &str) {
        self.replace(status, if body.starts_with('{') { "application/json" } else { "text/plain" }, body);
    }

    /// Puts an answer without a result in the place of the status and the body.
    pub(crate) fn replace(&mut self, status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) {
        self.status = status;
        self.content_type = Some(content_type);
        self.body = Some(body.into());
        self.has_result = false;
    }
}

/// How the body of a response is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `content-length`; the connection stays open.
    Length,
    /// Chunks of this many bytes.
    Chunks(usize),
    /// `content-length`, in two writes with this much time between them.
    TwoParts(Duration),
    /// HTTP/1.0 without a length: the end of the connection ends the body.
    UntilClose,
    /// `content-length`; then the connection is closed.
    ThenClose,
    /// `content-length`; once the connection was idle for too long, an unsolicited response of status 408 precedes its end.
    ThenTimeout,
    /// A `content-length` that is this many bytes too large; then the connection is closed.
    TooLong(usize),
    /// Chunks without the last one; then the connection is closed.
    CutChunks,
    /// Half of the body with the `content-length` of all of it; then the connection is closed.
    Half,
    /// No response: the connection is closed.
    Nothing,
    /// Half of the body with the `content-length` of all of it; then the connection is reset.
    Reset,
}
