//! A JSON syntax tree that keeps the source text: duplicate members, the notation of numbers, and the position of each node.

use serde::de::IgnoredAny;

/// Parses a text; none where it is not JSON.
pub(super) fn read(text: &str) -> Option<Node<'_>> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    Reader { rest: text.trim() }.node()
}

/// The steps of a JSON pointer (RFC 6901).
pub(super) fn steps(pointer: &str) -> Vec<String> {
    let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(unescape).collect()
}

/// The name of a member without quotes and escapes.
pub(super) fn unquoted(name: &str) -> String {
    serde_json::from_str(name).unwrap_or_default()
}

/// A node of the tree.
pub(super) enum Node<'a> {
    /// A string, number, or literal, as written in the text.
    Scalar(&'a str),
    /// Members with their names as written in the text, quotes included.
    Object(Vec<(&'a str, Node<'a>)>),
    /// Items.
    Array(Vec<Node<'a>>),
}

/// Parses a text that is known to be valid JSON.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn node(&mut self) -> Option<Node<'a>> {
        match self.rest.bytes().next()? {
            b'{' => {
                let mut members = Vec::new();
                self.skip(1);
                while !self.rest.starts_with('}') {
                    let name = self.scalar();
                    self.skip(1);
                    members.push((name, self.node()?));
                    self.comma();
                }
                self.skip(1);
                Some(Node::Object(members))
            }
            b'[' => {
                let mut items = Vec::new();
                self.skip(1);
                while !self.rest.starts_with(']') {
                    items.push(self.node()?);
                    self.comma();
                }
                self.skip(1);
                Some(Node::Array(items))
            }
            _ => Some(Node::Scalar(self.scalar())),
        }
    }

    fn comma(&mut self) {
        if self.rest.starts_with(',') {
            self.skip(1);
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default().trim_start();
    }

    /// Reads a string with its quotes, or a number or literal.
    fn scalar(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut end = 1;
        if bytes[0] == b'"' {
            while bytes.get(end).is_some_and(|byte| *byte != b'"') {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end += 1;
        } else {
            let ends = |byte: &u8| b",:]} \t\r\n".contains(byte);
            end = bytes.iter().position(ends).unwrap_or(bytes.len());
        }
        let (scalar, _) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.skip(end);
        scalar
    }
}
