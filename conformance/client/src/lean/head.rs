//! The heads of responses that need no full HTTP client.

use std::ops::Range;

/// Most header lines of such a head.
const MOST_LINES: usize = 24;
/// The longest such head, in bytes.
const LONGEST: usize = 4 * 1024;

/// A response head after which `content_length` bytes of body follow and the connection stays open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlainHead {
    /// The HTTP status code.
    pub(super) status: u16,
    /// The length of the head in bytes, with its empty line.
    pub(super) length: usize,
    /// The length of the body in bytes.
    pub(super) content_length: usize,
    /// Where the value of `content-type` stands; an empty range without one.
    pub(super) content_type: Range<usize>,
}

/// What the first bytes of a response are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeadReading {
    /// The head is not complete.
    Partial,
    Plain(PlainHead),
    /// Something else: chunks, another HTTP version, an interim response, no HTTP, and so on.
    Other,
}

/// Reads the head of a response.
pub(super) fn read(bytes: &[u8]) -> HeadReading {
    let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
    let mut response = httparse::Response::new(&mut lines);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() <= LONGEST => return HeadReading::Partial,
        Ok(httparse::Status::Partial) | Err(_) => return HeadReading::Other,
    };
    match plain(&response, length, bytes) {
        Some(head) if length <= LONGEST => HeadReading::Plain(head),
        _ => HeadReading::Other,
    }
}

fn plain(response: &httparse::Response<'_, '_>, length: usize, bytes: &[u8]) -> Option<PlainHead> {
    let status = response.code.filter(|code| *code >= 200 && !matches!(code, 204 | 304))?;
    (response.version == Some(1)).then_some(())?;
    let (mut content_length, mut content_type) = (None, 0..0);
    for (place, line) in response.headers.iter().enumerate() {
        let is = |name: &str| line.name.eq_ignore_ascii_case(name);
        let earlier = &response.headers[..place];
        let is_repeated = earlier.iter().any(|other| other.name.eq_ignore_ascii_case(line.name));
        let value = std::str::from_utf8(line.value).ok()?;
        if is("content-length") {
            let is_number =
                !value.is_empty() && value.len() < 10 && value.bytes().all(|byte| byte.is_ascii_digit());
            content_length = Some(is_number.then(|| value.parse().ok())??);
        } else if is("content-type") {
            let start = value.as_ptr().addr() - bytes.as_ptr().addr();
            content_type = start..start + value.len();
        }
        let changes_the_body = is("transfer-encoding") || is("content-encoding") || is("upgrade");
        let ends_the_connection = is("connection") && !value.eq_ignore_ascii_case("keep-alive");
        (!is_repeated && !changes_the_body && !ends_the_connection).then_some(())?;
    }
    Some(PlainHead { status, length, content_length: content_length?, content_type })
}

/// The header lines of a plain head, as hyper gives them: names in lower case.
pub(super) fn lines(bytes: &[u8]) -> Vec<(String, String)> {
    let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
    let mut response = httparse::Response::new(&mut lines);
    // A plain head was parsed before.
    let _ = response.parse(bytes);
    let value = |line: &httparse::Header<'_>| String::from_utf8_lossy(line.value).into_owned();
    response.headers.iter().map(|line| (line.name.to_ascii_lowercase(), value(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_with_a_length_is_plain() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 12\r\nConnection: keep-alive\r\n\r\n{}";
        let HeadReading::Plain(head) = read(text) else {
            panic!("{:?}", read(text));
        };
        assert_eq!((head.status, head.length, head.content_length), (200, text.len() - 2, 12));
        assert_eq!(&text[head.content_type.clone()], b"application/json");
        assert_eq!(lines(text)[1], ("content-length".to_owned(), "12".to_owned()));
        for end in 0..head.length {
            assert_eq!(read(&text[..end]), HeadReading::Partial, "{end}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_full_client() {
        let ok = "HTTP/1.1 200 OK\r\n";
        for text in [
            &format!("{ok}\r\n"),
            &format!("{ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n"),
            &format!("{ok}transfer-encoding: chunked\r\n\r\n"),
            &format!("{ok}content-length: 2\r\ncontent-length: 2\r\n\r\n"),
            &format!("{ok}content-length: 2, 2\r\n\r\n"),
            &format!("{ok}content-length: +2\r\n\r\n"),
            &format!("{ok}content-length: 12345678901\r\n\r\n"),
            &format!("{ok}content-length: 2\r\nconnection: close\r\n\r\n"),
            &format!("{ok}content-length: 2\r\ncontent-encoding: gzip\r\n\r\n"),
            &format!("{ok}content-length: 2\r\nx: 1\r\nX: 2\r\n\r\n"),
            &format!("{ok}content-length: 2\r\n{}\r\n", "x: y\r\n".repeat(30)),
            &format!("{ok}content-length: 2\r\nx: {}\r\n\r\n", "y".repeat(5_000)),
            "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
            "\u{15}\u{3}\u{1}",
            "SSH-2.0-x\r\n",
        ] {
            assert_eq!(read(text.as_bytes()), HeadReading::Other, "{text}");
        }
    }
}
