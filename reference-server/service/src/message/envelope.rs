//! The JSON-RPC envelope (section 2.1): parses that of a request and writes that of a response.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::message::ErrorCode;
use crate::message::request::members::{Text, object};

/// The version that most clients send. A response carries it when that of the request cannot be read.
pub(crate) const DEFAULT_VERSION: &str = "2.0";

/// The version `text`, if it is one of the two of section 2.1.
pub(crate) fn known_version(text: &str) -> Option<&'static str> {
    match text {
        "2.0" => Some(DEFAULT_VERSION),
        "2.0.0" => Some("2.0.0"),
        _ => None,
    }
}

object! {
    /// The members of a request as raw JSON.
    pub(crate) struct RawMembers<'a> {
        "jsonrpc" => jsonrpc: &'a RawValue,
        "id" => id: &'a RawValue,
        "method" => method: &'a RawValue,
        "params" => params: &'a RawValue,
    }
}

/// The content of a string; none for any other value.
pub(crate) fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok().map(|Text(text)| text)
}

/// The JSON text of an id; none when it is neither a string nor a number.
pub(crate) fn id_text(raw: &RawValue) -> Option<&str> {
    let text = raw.get();
    matches!(text.as_bytes().first()?, b'"' | b'-' | b'0'..=b'9').then_some(text)
}

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// JSON pointer into the request; empty for the whole.
    pub(crate) pointer: String,
    /// A fragment that follows the pointer.
    pub(crate) reason: String,
}

impl Violation {
    pub(crate) fn new(pointer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), reason: reason.into() }
    }
}

/// Appends a response up to its result.
pub(crate) fn write_head(out: &mut Vec<u8>, version: &str, id: &str) {
    for part in [r#"{"jsonrpc":""#, version, r#"","id":"#, id, ","] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Appends an error response. `id` is JSON text; none when that of the request could not be read. The message includes the
/// first violation, because some clients show only the message.
pub(crate) fn write_error(
    out: &mut Vec<u8>,
    version: &str,
    id: Option<&str>,
    code: ErrorCode,
    violations: &[Violation],
) {
    let mut message = code.message().to_owned();
    if let Some(Violation { pointer, reason }) = violations.first() {
        message.push_str(": ");
        if !pointer.is_empty() {
            message.push_str(pointer);
            message.push(' ');
        }
        message.push_str(reason);
    }
    let data: Vec<_> = violations
        .iter()
        .map(|violation| serde_json::json!({ "pointer": violation.pointer, "reason": violation.reason }))
        .collect();
    let mut error = serde_json::json!({ "code": code.code(), "message": message });
    if !data.is_empty() {
        error["data"] = data.into();
    }
    write_head(out, version, id.unwrap_or("null"));
    out.extend_from_slice(br#""error":"#);
    out.extend_from_slice(error.to_string().as_bytes());
    out.push(b'}');
}
