//! Faults of the text of a response: not JSON, not UTF-8, or members that occur twice (section 1).

use crate::faults::{Fault, fault};

const JSON: Fault = Fault::breaking("answer.json-text");
const SINGLE_VALUED: Fault = Fault::breaking("answer.single-valued-members");
const TWO_VALUES: Fault = SINGLE_VALUED.of_fee_quote();
const UNIQUE: Fault = Fault::breaking("json-rpc.unique-members");

pub(crate) const FAULTS: &[Fault] = &[
    fault(JSON, "byte-order-mark", "begins with a byte order mark")
        .on_text(|_, text| insert(text, 0, b"\xef\xbb\xbf")),
    fault(JSON, "trailing-bytes", "ends with bytes that are not JSON")
        .on_text(|_, text| text.extend_from_slice(b";")),
    fault(JSON, "trailing-zero-byte", "ends with a zero byte").on_text(|_, text| text.push(0)),
    fault(JSON, "two-documents", "contains the JSON twice").on_text(|_, text| {
        let again = text.clone();
        text.push(b'\n');
        text.extend(again);
    }),
    fault(JSON, "truncated-text", "ends before its last brace")
        .on_text(|_, text| text.truncate(text.len().saturating_sub(1))),
    fault(JSON, "truncated-text-now-and-then", "ends early in 1 of 25 answers")
        .on_text(|_, text| text.truncate(text.len() / 2))
        .when(|view| view.is_one_in(25)),
    fault(JSON, "empty-text", "is empty for quotes")
        .on_text(|_, text| text.clear())
        .when(|view| view.is_quote())
        .of_fee_quote(),
    fault(JSON, "invalid-utf-8", "has a string that is not UTF-8")
        .on_text(|_, text| add_member(text, b"\"note\":\"\xff\xfe\"")),
    fault(JSON, "latin-1", "has a string in ISO 8859-1")
        .on_text(|_, text| add_member(text, b"\"note\":\"caf\xe9\"")),
    fault(JSON, "utf-16", "is in UTF-16")
        .on_text(|_, text| *text = text.iter().flat_map(|byte| [*byte, 0]).collect()),
    fault(JSON, "nan", "has a member that is NaN").on_text(|_, text| add_member(text, b"\"note\":NaN")),
    fault(JSON, "infinity", "has a member that is -Infinity")
        .on_text(|_, text| add_member(text, b"\"note\":-Infinity")),
    fault(JSON, "leading-zeros", "has a number with leading zeros")
        .on_text(|_, text| add_member(text, b"\"note\":007")),
    fault(JSON, "trailing-comma", "has a comma after the last member")
        .on_text(|_, text| insert_before_end(text, b",")),
    fault(JSON, "single-quotes", "has a string in single quotes")
        .on_text(|_, text| add_member(text, b"\"note\":'text'")),
    fault(JSON, "comment", "has a comment").on_text(|_, text| insert_before_end(text, b"/* served */")),
    fault(JSON, "control-character", "has a raw line break within a string")
        .on_text(|_, text| add_member(text, b"\"note\":\"two\nlines\"")),
    fault(JSON, "json-with-prefix", "begins with a guard against JSON hijacking")
        .on_text(|_, text| insert(text, 0, b")]}',\n")),
    fault(SINGLE_VALUED, "id-twice", "has two ids, the last one right")
        .on_text(|_, text| add_first_member(text, b"\"id\":\"first\"")),
    fault(SINGLE_VALUED, "jsonrpc-twice", "has two versions, the last one right")
        .on_text(|_, text| add_first_member(text, b"\"jsonrpc\":\"1.1\"")),
    fault(TWO_VALUES, "paymaster-and-data-twice", "has two values of paymasterAndData")
        .on_text(|_, text| repeat_within(text, b"\"paymasterAndData\":", b"\"0xdead\"")),
    fault(TWO_VALUES, "call-gas-limit-twice", "has two values of callGasLimit")
        .on_text(|_, text| repeat_within(text, b"\"callGasLimit\":", b"7")),
    fault(TWO_VALUES, "quote-member-twice", "has two values of decimal in a quote")
        // A request without a supported token gets no quote.
        .depends_on_the_request()
        .on_text(|_, text| repeat_within(text, b"\"decimal\":", b"77")),
    fault(UNIQUE, "id-repeated", "has its id twice, the same both times").on_text(|view, text| {
        if view.is_call() {
            add_first_member(text, format!("\"id\":{}", view.id()).as_bytes());
        }
    }),
    fault(UNIQUE, "mode-repeated", "has MODE twice, the same both times")
        .on_text(|view, text| {
            let mode: &[u8] = if view.is_token_mode() { b"\"ERC20\"" } else { b"\"SPONSORED\"" };
            repeat_within(text, b"\"MODE\":", mode);
        })
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
