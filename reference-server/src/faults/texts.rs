//! The text of an answer: not JSON, not UTF-8, or members that stand twice (section 1).

use super::Fault;
use crate::deviations::Act;

const JSON: &str = "answer.json-text";
const SINGLE_VALUED: &str = "answer.single-valued-members";
const UNIQUE: &str = "json-rpc.unique-members";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        JSON,
        "byte-order-mark",
        "begins with a byte order mark",
        Act::Text(|_, text| {
            insert(text, 0, b"\xef\xbb\xbf");
        }),
    ),
    Fault::of(
        JSON,
        "trailing-bytes",
        "ends with bytes that are no JSON",
        Act::Text(|_, text| {
            text.extend_from_slice(b";");
        }),
    ),
    Fault::of(
        JSON,
        "trailing-zero-byte",
        "ends with a zero byte",
        Act::Text(|_, text| text.push(0)),
    ),
    Fault::of(
        JSON,
        "two-documents",
        "says everything twice",
        Act::Text(|_, text| {
            let again = text.clone();
            text.push(b'\n');
            text.extend(again);
        }),
    ),
    Fault::of(
        JSON,
        "truncated-text",
        "ends before its last brace",
        Act::Text(|_, text| {
            text.pop();
        }),
    ),
    Fault::of(
        JSON,
        "truncated-text-now-and-then",
        "ends early in 1 of 25 answers",
        Act::Text(|_, text| {
            text.truncate(text.len() / 2);
        }),
    )
    .when(|asked| asked.now_and_then()),
    Fault::of(JSON, "empty-text", "is empty", Act::Text(|_, text| text.clear())),
    Fault::of(
        JSON,
        "invalid-utf-8",
        "has a string that is not UTF-8",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":\"\xff\xfe\"");
        }),
    ),
    Fault::of(
        JSON,
        "latin-1",
        "has a string in ISO 8859-1",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":\"caf\xe9\"");
        }),
    ),
    Fault::of(
        JSON,
        "utf-16",
        "is in UTF-16",
        Act::Text(|_, text| {
            *text = text.iter().flat_map(|byte| [*byte, 0]).collect();
        }),
    ),
    Fault::of(
        JSON,
        "nan",
        "has a member that is NaN",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":NaN");
        }),
    ),
    Fault::of(
        JSON,
        "infinity",
        "has a member that is -Infinity",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":-Infinity");
        }),
    ),
    Fault::of(
        JSON,
        "leading-zeros",
        "has a number with leading zeros",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":007");
        }),
    ),
    Fault::of(
        JSON,
        "trailing-comma",
        "has a comma behind the last member",
        Act::Text(|_, text| {
            insert_before_end(text, b",");
        }),
    ),
    Fault::of(
        JSON,
        "single-quotes",
        "has a string in single quotes",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":'text'");
        }),
    ),
    Fault::of(
        JSON,
        "comment",
        "has a comment",
        Act::Text(|_, text| {
            insert_before_end(text, b"/* served */");
        }),
    ),
    Fault::of(
        JSON,
        "control-character",
        "has a raw line break within a string",
        Act::Text(|_, text| {
            add_member(text, b"\"note\":\"two\nlines\"");
        }),
    ),
    Fault::of(
        JSON,
        "json-with-prefix",
        "begins as JSONP guards do",
        Act::Text(|_, text| {
            insert(text, 0, b")]}',\n");
        }),
    ),
    Fault::of(
        SINGLE_VALUED,
        "id-twice",
        "has two ids, the last one right",
        Act::Text(|_, text| {
            add_first_member(text, b"\"id\":\"first\"");
        }),
    ),
    Fault::of(
        SINGLE_VALUED,
        "jsonrpc-twice",
        "has two versions, the last one right",
        Act::Text(|_, text| {
            add_first_member(text, b"\"jsonrpc\":\"1.1\"");
        }),
    ),
    Fault::of(
        SINGLE_VALUED,
        "paymaster-and-data-twice",
        "has two values of paymasterAndData",
        Act::Text(|_, text| {
            repeat_within(text, b"\"paymasterAndData\":", b"\"0xdead\"");
        }),
    ),
    Fault::of(
        SINGLE_VALUED,
        "call-gas-limit-twice",
        "has two values of callGasLimit",
        Act::Text(|_, text| {
            repeat_within(text, b"\"callGasLimit\":", b"7");
        }),
    ),
    Fault::of(
        SINGLE_VALUED,
        "quote-member-twice",
        "has two values of decimal in a quote",
        Act::Text(|_, text| {
            repeat_within(text, b"\"decimal\":", b"77");
        }),
    ),
    Fault::of(
        UNIQUE,
        "id-repeated",
        "has its id twice, the same both times",
        Act::Text(|asked, text| {
            if asked.pair().is_some() {
                add_first_member(text, format!("\"id\":{}", asked.id()).as_bytes());
            }
        }),
    ),
    Fault::of(
        UNIQUE,
        "mode-repeated",
        "has MODE twice, the same both times",
        Act::Text(|asked, text| {
            let mode: &[u8] = if asked.is_token_mode() {
                b"\"ERC20\""
            } else {
                b"\"SPONSORED\""
            };
            repeat_within(text, b"\"MODE\":", mode);
        }),
    ),
];

fn insert(text: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    text.splice(at..at, bytes.iter().copied());
}

/// Before the bracket that ends the text.
fn insert_before_end(text: &mut Vec<u8>, bytes: &[u8]) {
    insert(text, text.len().saturating_sub(1), bytes);
}

/// A further member at the end of the answer, where the text is one object.
fn add_member(text: &mut Vec<u8>, member: &[u8]) {
    if text.starts_with(b"{") {
        insert_before_end(text, &[b",", member].concat());
    }
}

/// A further member at the start of the answer, where the text is one object.
fn add_first_member(text: &mut Vec<u8>, member: &[u8]) {
    if text.starts_with(b"{") {
        insert(text, 1, &[member, b","].concat());
    }
}

/// Puts the member that `name` opens before itself, with another value.
fn repeat_within(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    if let Some(at) = text.windows(name.len()).position(|window| window == name) {
        insert(text, at, &[name, value, b","].concat());
    }
}
