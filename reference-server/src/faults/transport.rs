//! The HTTP message around an answer (section 1, and JSON-RPC over HTTP).

use paymaster_schemas::Pair;

use super::Fault;
use crate::deviations::{Act, Framing, Sent};

const MESSAGE: &str = "answer.http-message";
const STATUS: &str = "http.status-of-result";
const CONTENT_TYPE: &str = "http.content-type";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        MESSAGE,
        "length-too-long",
        "announces 10 bytes more than it sends, when sponsoring in token mode",
        Act::Http(|_, sent| sent.framing = Framing::TooLong(10)),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20)),
    Fault::of(
        MESSAGE,
        "half-of-message",
        "closes in the middle of the body, when sponsoring in token mode",
        Act::Http(|_, sent| sent.framing = Framing::Half),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20)),
    Fault::of(
        MESSAGE,
        "chunks-without-end",
        "closes without the last chunk, when sponsoring in token mode",
        Act::Http(|_, sent| sent.framing = Framing::CutChunks),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20)),
    Fault::of(
        MESSAGE,
        "reset-in-the-middle",
        "resets the connection in the middle of the body, when sponsoring in token mode",
        Act::Reset,
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20)),
    Fault::of(
        MESSAGE,
        "closed-without-answer",
        "closes instead of answering 1 of 25 requests",
        Act::Http(|_, sent| sent.framing = Framing::Nothing),
    )
    .when(|asked| asked.pair().is_some() && asked.now_and_then()),
    Fault::of(
        MESSAGE,
        "reset-now-and-then",
        "resets the connection in 1 of 25 answers",
        Act::Reset,
    )
    .when(|asked| asked.pair().is_some() && asked.now_and_then()),
    Fault::of(
        MESSAGE,
        "half-of-large-messages",
        "closes in the middle of an answer above 1024 bytes",
        Act::Http(|_, sent| {
            if sent.body.as_ref().is_some_and(|body| body.len() > 1024) {
                sent.framing = Framing::Half;
            }
        }),
    ),
    Fault::of(
        STATUS,
        "result-with-500",
        "sends results with status 500",
        Act::Http(|_, sent| set_status(sent, 500)),
    ),
    Fault::of(
        STATUS,
        "result-with-404",
        "sends results with status 404",
        Act::Http(|_, sent| {
            set_status(sent, 404);
        }),
    ),
    Fault::of(
        STATUS,
        "result-with-201",
        "sends results with status 201",
        Act::Http(|_, sent| {
            set_status(sent, 201);
        }),
    ),
    Fault::of(
        STATUS,
        "result-with-202-in-token-mode",
        "sends results with status 202 in token mode",
        Act::Http(|_, sent| {
            set_status(sent, 202);
        }),
    )
    .when(|asked| asked.is_token_mode()),
    Fault::of(
        CONTENT_TYPE,
        "content-type-html",
        "sends answers as text/html",
        Act::Http(|_, sent| {
            retype(sent, Some("text/html; charset=utf-8"));
        }),
    ),
    Fault::of(
        CONTENT_TYPE,
        "content-type-plain",
        "sends answers as text/plain",
        Act::Http(|_, sent| {
            retype(sent, Some("text/plain"));
        }),
    ),
    Fault::of(
        CONTENT_TYPE,
        "content-type-bytes",
        "sends answers as application/octet-stream",
        Act::Http(|_, sent| {
            retype(sent, Some("application/octet-stream"));
        }),
    ),
    Fault::of(
        CONTENT_TYPE,
        "content-type-missing",
        "sends answers without a content type",
        Act::Http(|_, sent| {
            retype(sent, None);
        }),
    ),
    Fault::of(
        CONTENT_TYPE,
        "content-type-html-of-results",
        "sends token-mode answers as text/html",
        Act::Http(|_, sent| {
            retype(sent, Some("text/html"));
        }),
    )
    .when(|asked| asked.is_token_mode()),
];

fn set_status(sent: &mut Sent, status: u16) {
    if sent.has_result {
        sent.status = status;
    }
}

fn retype(sent: &mut Sent, content_type: Option<&'static str>) {
    if sent.body.is_some() {
        sent.content_type = content_type;
    }
}
