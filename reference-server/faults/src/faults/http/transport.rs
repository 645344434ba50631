//! Faults of the HTTP message (section 1, and JSON-RPC over HTTP).

use std::time::Duration;

use paymaster_schemas::kinds;

use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, Framing, RequestView, WireResponse};

const MESSAGE: Fault = Fault::breaking("answer.http-message").of_fee_quote();
const TEXT: Fault = Fault::breaking("answer.json-text");
const TOKENS: Fault = MESSAGE.when(|view| view.is(kinds::SPONSOR_ERC20));
const STATUS: Fault = Fault::breaking("http.status-of-result");
const CONTENT_TYPE: Fault = Fault::breaking("http.content-type");
const IDLE: Fault = Fault::breaking("http.idle-connection").when(was_idle).depends_on_others();

/// After this time without a request, a connection was idle.
const IDLE_FOR: Duration = Duration::from_millis(100);

pub(crate) const FAULTS: &[Fault] = &[
    fault(TOKENS, "length-too-long", "announces 10 bytes too many, when sponsoring in token mode")
        .on_http(|_, response| response.framing = Framing::TooLong(10)),
    fault(TOKENS, "half-of-message", "closes in the middle of the body, when sponsoring in token mode")
        .on_http(|_, response| response.framing = Framing::Half),
    fault(TOKENS, "chunks-without-end", "closes without the last chunk, when sponsoring in token mode")
        .on_http(|_, response| response.framing = Framing::CutChunks),
    fault(TOKENS, "reset-in-the-middle", "resets in the middle of the body, when sponsoring in token mode")
        .injects(Behaviour::Reset),
    fault(MESSAGE, "closed-without-answer", "closes instead of answering 1 of 25 requests")
        .on_http(|_, response| response.framing = Framing::Nothing)
        .when(|view| view.pair().is_some() && view.is_one_in(25)),
    fault(MESSAGE, "reset-now-and-then", "resets the connection in 1 of 25 answers")
        .injects(Behaviour::Reset)
        .when(|view| view.pair().is_some() && view.is_one_in(25)),
    fault(MESSAGE, "half-where-it-shall-close", "sends half of the answer where connection: close is asked")
        .on_http(|_, response| response.framing = Framing::Half)
        .when(|view| view.header("connection") == "close"),
    Fault::new("json-rpc.any-answer", "incomplete-operation-unanswered", "answers no incomplete operation")
        .on_http(|_, response| response.delay = Duration::from_hours(1))
        .when(|view| {
            let is_missing = |member: &str| view.lacks(member);
            view.is_call() && ["sender", "nonce", "callData"].into_iter().any(is_missing)
        }),
    fault(TEXT, "nul-after-some-lengths", "adds a NUL to answers of a length that 8 divides")
        .depends_on_the_request()
        .on_http(|_, response| {
            if let Some(body) = response.body.as_mut().filter(|body| body.len() % 8 == 0) {
                body.push(0);
            }
        })
        .also(&["json-rpc.batch"]),
    fault(MESSAGE, "half-of-large-messages", "closes in the middle of an answer above 1024 bytes")
        .depends_on_the_request()
        .on_http(|_, response| {
            if response.body.as_ref().is_some_and(|body| body.len() > 1024) {
                response.framing = Framing::Half;
            }
        }),
    fault(TEXT, "first-answers-fail", "answers its first 25 requests with status 500 and a page").on_http(
        |view, response| {
            if view.memory.count() <= 25 {
                response.replace(500, "text/html", "<html><body>starting</body></html>");
            }
        },
    ),
    fault(STATUS, "result-with-500", "sends results with status 500")
        .on_http(|_, response| set_status(response, 500)),
    fault(STATUS, "result-with-404", "sends results with status 404")
        .on_http(|_, response| set_status(response, 404)),
    fault(STATUS, "result-with-201", "sends results with status 201")
        .on_http(|_, response| set_status(response, 201)),
    fault(STATUS, "result-with-202-in-token-mode", "sends results with status 202 in token mode")
        .on_http(|_, response| set_status(response, 202))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
    fault(CONTENT_TYPE, "content-type-html", "sends answers as text/html")
        .on_http(|_, response| response.set_content_type(Some("text/html; charset=utf-8"))),
    fault(CONTENT_TYPE, "content-type-plain", "sends answers as text/plain")
        .on_http(|_, response| response.set_content_type(Some("text/plain"))),
    fault(CONTENT_TYPE, "content-type-bytes", "sends answers as application/octet-stream")
        .on_http(|_, response| response.set_content_type(Some("application/octet-stream"))),
    fault(CONTENT_TYPE, "content-type-missing", "sends answers without a content type")
        .on_http(|_, response| response.set_content_type(None)),
    fault(CONTENT_TYPE, "content-type-html-of-results", "sends token-mode answers as text/html")
        .on_http(|_, response| response.set_content_type(Some("text/html")))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
    fault(IDLE, "half-after-idle", "closes in the middle of the first answer after 100 ms of idleness")
        .on_http(|_, response| response.framing = Framing::Half)
        .also(&["answer.http-message"]),
    fault(IDLE, "page-after-idle", "answers the first request after 100 ms of idleness with a page")
        .on_http(|_, response| {
            response.replace(500, "text/html", "<html><body>the database is gone</body></html>");
        })
        .also(&["answer.json-text"]),
    // Any request may come on such a connection, so that every clause about results may be broken.
    fault(IDLE, "error-after-idle", "refuses the first request after 100 ms of idleness")
        .injects(Behaviour::Refuse)
        .also(&["*"]),
];

fn was_idle(view: &RequestView<'_>) -> bool {
    view.arrival.idle >= IDLE_FOR
}

fn set_status(response: &mut WireResponse, status: u16) {
    if response.has_result {
        response.status = status;
    }
}
