//! Requests judged by how their JSON is written (section 1).

use serde_json::Value;

use super::Fault;

const NOTATION: &str = "request.json-notation";

pub(super) const FAULTS: &[Fault] = &[
    Fault::refusal(
        NOTATION,
        "member-order-judged",
        "wants params behind method",
        |asked| position(asked.request, "params") < position(asked.request, "method"),
    ),
    Fault::refusal(
        NOTATION,
        "id-last-refused",
        "refuses requests whose last member is the id",
        |asked| {
            let members = asked.request.as_object();
            members
                .and_then(|members| members.keys().next_back())
                .is_some_and(|last| last == "id")
        },
    ),
    Fault::refusal(
        NOTATION,
        "operation-order-judged",
        "wants sender before callData in the operation",
        |asked| position(asked.operation(), "callData") < position(asked.operation(), "sender"),
    ),
    Fault::refusal(
        NOTATION,
        "mode-first",
        "wants mode to be the first member of the mode object",
        |asked| position(asked.mode_object(), "mode").is_some_and(|place| place > 0),
    ),
    Fault::refusal(
        NOTATION,
        "line-breaks-refused",
        "refuses requests that are spread over several lines",
        |asked| asked.raw.contains(&b'\n'),
    ),
    Fault::refusal(
        NOTATION,
        "white-space-refused",
        "refuses white space behind a colon or a comma",
        |asked| {
            let mut pairs = asked.raw.windows(2);
            pairs.any(|pair| matches!(pair[0], b':' | b',') && pair[1].is_ascii_whitespace())
        },
    ),
    Fault::refusal(
        NOTATION,
        "outer-white-space-refused",
        "refuses white space before and behind the request",
        |asked| asked.raw.trim_ascii().len() < asked.raw.len(),
    ),
    Fault::refusal(
        NOTATION,
        "escapes-not-decoded",
        "does not know text that is written with \\u escapes",
        |asked| asked.raw.windows(2).any(|pair| pair == b"\\u"),
    )
    .also(&["request.id-string"]),
];

fn position(object: &Value, member: &str) -> Option<usize> {
    object.as_object()?.keys().position(|key| key == member)
}
