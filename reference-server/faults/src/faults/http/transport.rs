//! Faults of the HTTP message (section 1, and JSON-RPC over HTTP).

use paymaster_schemas::Pair;

use crate::faults::Fault;
use crate::injection::{Behaviour, Framing, WireResponse};

const MESSAGE: &str = "answer.http-message";
const STATUS: &str = "http.status-of-result";
const CONTENT_TYPE: &str = "http.content-type";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        MESSAGE,
        "length-too-long",
        "announces 10 bytes more than it sends, when sponsoring in token mode",
    )
    .injects(Behaviour::Http(|_, response| response.framing = Framing::TooLong(10)))
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .of_fee_quote(),
    Fault::new(MESSAGE, "half-of-message", "closes in the middle of the body, when sponsoring in token mode")
        .injects(Behaviour::Http(|_, response| response.framing = Framing::Half))
        .when(|view| view.is(Pair::SPONSOR_ERC20))
        .of_fee_quote(),
    Fault::new(MESSAGE, "chunks-without-end", "closes without the last chunk, when sponsoring in token mode")
        .injects(Behaviour::Http(|_, response| response.framing = Framing::CutChunks))
        .when(|view| view.is(Pair::SPONSOR_ERC20))
        .of_fee_quote(),
    Fault::new(
        MESSAGE,
        "reset-in-the-middle",
        "resets the connection in the middle of the body, when sponsoring in token mode",
    )
    .injects(Behaviour::Reset)
    .when(|view| view.is(Pair::SPONSOR_ERC20))
    .of_fee_quote(),
    Fault::new(MESSAGE, "closed-without-answer", "closes instead of answering 1 of 25 requests")
        .injects(Behaviour::Http(|_, response| response.framing = Framing::Nothing))
        .when(|view| view.pair().is_some() && view.is_one_in_25())
        .of_fee_quote(),
    Fault::new(MESSAGE, "reset-now-and-then", "resets the connection in 1 of 25 answers")
        .injects(Behaviour::Reset)
        .when(|view| view.pair().is_some() && view.is_one_in_25())
        .of_fee_quote(),
    Fault::new(MESSAGE, "half-of-large-messages", "closes in the middle of an answer above 1024 bytes")
        .depends_on_the_request()
        .injects(Behaviour::Http(|_, response| {
            if response.body.as_ref().is_some_and(|body| body.len() > 1024) {
                response.framing = Framing::Half;
            }
        }))
        .of_fee_quote(),
    Fault::new(
        "answer.json-text",
        "first-answers-fail",
        "answers its first 25 requests with status 500 and a page",
    )
    .injects(Behaviour::Http(|view, response| {
        if view.memory.count() <= 25 {
            response.replace(500, "text/html", "<html><body>starting</body></html>");
        }
    })),
    Fault::new(STATUS, "result-with-500", "sends results with status 500")
        .injects(Behaviour::Http(|_, response| set_status(response, 500))),
    Fault::new(STATUS, "result-with-404", "sends results with status 404")
        .injects(Behaviour::Http(|_, response| set_status(response, 404))),
    Fault::new(STATUS, "result-with-201", "sends results with status 201")
        .injects(Behaviour::Http(|_, response| set_status(response, 201))),
    Fault::new(STATUS, "result-with-202-in-token-mode", "sends results with status 202 in token mode")
        .injects(Behaviour::Http(|_, response| set_status(response, 202)))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
    Fault::new(CONTENT_TYPE, "content-type-html", "sends answers as text/html")
        .injects(Behaviour::Http(|_, response| set_content_type(response, Some("text/html; charset=utf-8")))),
    Fault::new(CONTENT_TYPE, "content-type-plain", "sends answers as text/plain")
        .injects(Behaviour::Http(|_, response| set_content_type(response, Some("text/plain")))),
    Fault::new(CONTENT_TYPE, "content-type-bytes", "sends answers as application/octet-stream")
        .injects(Behaviour::Http(|_, response| set_content_type(response, Some("application/octet-stream")))),
    Fault::new(CONTENT_TYPE, "content-type-missing", "sends answers without a content type")
        .injects(Behaviour::Http(|_, response| set_content_type(response, None))),
    Fault::new(CONTENT_TYPE, "content-type-html-of-results", "sends token-mode answers as text/html")
        .injects(Behaviour::Http(|_, response| set_content_type(response, Some("text/html"))))
        .when(|view| view.is_token_mode())
        .of_fee_quote(),
];

fn set_status(response: &mut WireResponse, status: u16) {
    if response.has_result {
        response.status = status;
    }
}

fn set_content_type(response: &mut WireResponse, content_type: Option<&'static str>) {
    if response.body.is_some() {
        response.content_type = content_type;
    }
}
