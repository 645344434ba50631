//! Faults of reading JSON: requests refused for their notation (section 1).

use serde_json::{Value, json};

use crate::faults::{Fault, fault};
use crate::injection::{remove, set};

const NOTATION: Fault = Fault::breaking("request.json-notation");

pub(in crate::faults) const FAULTS: &[Fault] = &[
    fault(NOTATION, "member-order-judged", "requires params after method")
        .refuses(|view| position(view.request, "params") < position(view.request, "method")),
    fault(NOTATION, "id-last-refused", "refuses requests whose last member is the id").refuses(|view| {
        let members = view.request.as_object();
        members.and_then(|members| members.keys().next_back()).is_some_and(|last| last == "id")
    }),
    fault(NOTATION, "decimal-point-refused", "refuses an expiryDuration of 300.0")
        .refuses(|view| view.mode_object()["expiryDuration"].to_string().ends_with(".0")),
    fault(NOTATION, "operation-order-judged", "requires sender before callData in the operation")
        .refuses(|view| position(view.operation(), "callData") < position(view.operation(), "sender")),
    fault(NOTATION, "mode-first", "requires mode to be the first member of the mode object")
        .refuses(|view| position(view.mode_object(), "mode").is_some_and(|place| place > 0)),
    Fault::new("sponsor.sponsored-result", "some-lengths-refused", "refuses 1 of 64 requests by length")
        .refuses(|view| view.raw.len().is_multiple_of(64))
        .also(&["request.*", "answer.*", "json-rpc.*", "interoperability.*", "quote.*", "sponsor.*"]),
    fault(NOTATION, "line-breaks-refused", "refuses requests that are spread over several lines")
        .refuses(|view| view.raw.contains(&b'\n')),
    fault(NOTATION, "white-space-refused", "refuses white space after a colon or a comma")
        .refuses(|view| {
            let mut pairs = view.raw.windows(2);
            pairs.any(|pair| matches!(pair[0], b':' | b',') && pair[1].is_ascii_whitespace())
        })
        .also(&["request.headers"]),
    fault(NOTATION, "outer-white-space-refused", "refuses white space before and after the request")
        .refuses(|view| view.raw.trim_ascii().len() < view.raw.len()),
    fault(NOTATION, "escapes-not-decoded", "does not decode \\u escapes")
        .refuses(|view| view.raw.windows(2).any(|pair| pair == b"\\u"))
        .also(&["request.id-string"]),
    fault(NOTATION, "escaped-method-unknown", "answers an escaped method name with an error and the id 1")
        .on_answer(|_, answer| {
            remove(answer, "result");
            set(answer, "id", 1);
            set(answer, "error", json!({ "code": -32601, "message": "unknown method" }));
        })
        .when(|view| {
            let has = |text: &[u8]| view.raw.windows(text.len()).any(|part| part == text);
            view.pair().is_some() && has(b"\\u00") && !has(b"\"pm_")
        })
        .also(&[
            "answer.id",
            "endpoint.both-methods",
            "error.*",
            "json-rpc.*",
            "quote.*",
            "request.*",
            "sponsor.*",
        ]),
];

fn position(object: &Value, member: &str) -> Option<usize> {
    object.as_object()?.keys().position(|key| key == member)
}
