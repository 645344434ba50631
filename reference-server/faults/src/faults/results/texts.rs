//! Faults of the text of a response: not JSON, not UTF-8, or members that occur twice (section 1).

use crate::faults::Fault;
use crate::injection::Behaviour;

const JSON: &str = "answer.json-text";
const SINGLE_VALUED: &str = "answer.single-valued-members";
const UNIQUE: &str = "json-rpc.unique-members";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(JSON, "byte-order-mark", "begins with a byte order mark")
        .injects(Behaviour::Text(|_, text| insert(text, 0, b"\xef\xbb\xbf"))),
    Fault::new(JSON, "trailing-bytes", "ends with bytes that are not JSON")
        .injects(Behaviour::Text(|_, text| text.extend_from_slice(b";"))),
    Fault::new(JSON, "trailing-zero-byte", "ends with a zero byte")
        .injects(Behaviour::Text(|_, text| text.push(0))),
    Fault::new(JSON, "two-documents", "contains the JSON twice").injects(Behaviour::Text(|_, text| {
        let again = text.clone();
        text.push(b'\n');
        text.extend(again);
    })),
    Fault::new(JSON, "truncated-text", "ends before its last brace").injects(Behaviour::Text(|_, text| {
        text.pop();
    })),
    Fault::new(JSON, "truncated-text-now-and-then", "ends early in 1 of 25 answers")
        .injects(Behaviour::Text(|_, text| text.truncate(text.len() / 2)))
        .when(|view| view.is_one_in_25()),
    Fault::new(JSON, "empty-text", "is empty for quotes")
        .injects(Behaviour::Text(|_, text| text.clear()))
        .when(|view| view.is_quote())
        .of_fee_quote(),
    Fault::new(JSON, "invalid-utf-8", "has a string that is not UTF-8")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":\"\xff\xfe\""))),
    Fault::new(JSON, "latin-1", "has a string in ISO 8859-1")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":\"caf\xe9\""))),
    Fault::new(JSON, "utf-16", "is in UTF-16")
        .injects(Behaviour::Text(|_, text| *text = text.iter().flat_map(|byte| [*byte, 0]).collect())),
    Fault::new(JSON, "nan", "has a member that is NaN")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":NaN"))),
    Fault::new(JSON, "infinity", "has a member that is -Infinity")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":-Infinity"))),
    Fault::new(JSON, "leading-zeros", "has a number with leading zeros")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":007"))),
    Fault::new(JSON, "trailing-comma", "has a comma after the last member")
        .injects(Behaviour::Text(|_, text| insert_before_end(text, b","))),
    Fault::new(JSON, "single-quotes", "has a string in single quotes")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":'text'"))),
    Fault::new(JSON, "comment", "has a comment")
        .injects(Behaviour::Text(|_, text| insert_before_end(text, b"/* served */"))),
    Fault::new(JSON, "control-character", "has a raw line break within a string")
        .injects(Behaviour::Text(|_, text| add_member(text, b"\"note\":\"two\nlines\""))),
    Fault::new(JSON, "json-with-prefix", "begins with a guard against JSON hijacking")
        .injects(Behaviour::Text(|_, text| insert(text, 0, b")]}',\n"))),
    Fault::new(SINGLE_VALUED, "id-twice", "has two ids, the last one right")
        .injects(Behaviour::Text(|_, text| add_first_member(text, b"\"id\":\"first\""))),
    Fault::new(SINGLE_VALUED, "jsonrpc-twice", "has two versions, the last one right")
        .injects(Behaviour::Text(|_, text| add_first_member(text, b"\"jsonrpc\":\"1.1\""))),
    Fault::new(SINGLE_VALUED, "paymaster-and-data-twice", "has two values of paymasterAndData")
        .injects(Behaviour::Text(|_, text| repeat_within(text, b"\"paymasterAndData\":", b"\"0xdead\"")))
        .of_fee_quote(),
    Fault::new(SINGLE_VALUED, "call-gas-limit-twice", "has two values of callGasLimit")
        .injects(Behaviour::Text(|_, text| repeat_within(text, b"\"callGasLimit\":", b"7")))
        .of_fee_quote(),
    Fault::new(SINGLE_VALUED, "quote-member-twice", "has two values of decimal in a quote")
        .injects(Behaviour::Text(|_, text| repeat_within(text, b"\"decimal\":", b"77")))
        .of_fee_quote(),
    Fault::new(UNIQUE, "id-repeated", "has its id twice, the same both times").injects(Behaviour::Text(
        |view, text| {
            if view.is_call() {
                add_first_member(text, format!("\"id\":{}", view.id()).as_bytes());
            }
        },
    )),
    Fault::new(UNIQUE, "mode-repeated", "has MODE twice, the same both times")
        .injects(Behaviour::Text(|view, text| {
            let mode: &[u8] = if view.is_token_mode() { b"\"ERC20\"" } else { b"\"SPONSORED\"" };
            repeat_within(text, b"\"MODE\":", mode);
        }))
        .of_fee_quote(),
];

fn insert(text: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    text.splice(at..at, bytes.iter().copied());
}

/// Inserts bytes before the last bracket of the text.
fn insert_before_end(text: &mut Vec<u8>, bytes: &[u8]) {
    insert(text, text.len().saturating_sub(1), bytes);
}

/// Adds a last member, if the text is one object.
fn add_member(text: &mut Vec<u8>, member: &[u8]) {
    if text.starts_with(b"{") {
        insert_before_end(text, &[b",", member].concat());
    }
}

/// Adds a first member, if the text is one object.
fn add_first_member(text: &mut Vec<u8>, member: &[u8]) {
    if text.starts_with(b"{") {
        insert(text, 1, &[member, b","].concat());
    }
}

/// Inserts a second member `name` with this value before the first one. `name` includes its quotes and the colon.
fn repeat_within(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    if let Some(at) = text.windows(name.len()).position(|window| window == name) {
        insert(text, at, &[name, value, b","].concat());
    }
}
