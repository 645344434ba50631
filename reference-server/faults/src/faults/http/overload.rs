//! Faults that refuse requests which are served at another time (section 4.2): some look like overload, and have nothing to do with other
//! requests in flight.

use std::time::Duration;

use paymaster_schemas::kinds;
use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::{WireResponse, refuse_result, text_of};

const SERVED: Fault = Fault::breaking("sponsor.sponsored-result").also(ALSO);

/// The other clauses that an error instead of a result breaks.
const ALSO: &[&str] = &["sponsor.*", "error.*", "request.*", "json-rpc.*"];

pub(in crate::faults) const FAULTS: &[Fault] = &[
    fault(SERVED, "busy-now-and-then", "answers 1 of 25 sponsor requests with the error `server busy`")
        .on_answer(|_, answer| refuse_result(answer, -32005, BUSY))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED) && view.is_one_in(25)),
    fault(SERVED, "unavailable-now-and-then", "answers 1 of 25 sponsor requests with 503 `overloaded`")
        .on_http(|_, response| refuse_with_status(response, 503, BUSY))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED) && view.is_one_in(25)),
    fault(SERVED, "replayed-operation-refused", "refuses a sender and nonce that it saw, with status 409")
        .on_http(|_, response| refuse_with_status(response, 409, "operation already known"))
        .when(|view| {
            let [sender, nonce] = ["sender", "nonce"].map(|member| text_of(&view.operation()[member]));
            view.is(kinds::SPONSOR_SPONSORED) && view.memory.count_of(&format!("{sender} {nonce}")) > 1
        }),
    fault(SERVED, "sender-lost-under-load", "finds no sender while other requests are in flight")
        .on_http(|view, response| {
            if view.arrival.in_flight > 1 {
                response.refuse(200, &view.error_answer(-32602, "invalid params: sender is missing"));
            }
            // Requests meet.
            response.delay = Duration::from_millis(1);
        })
        .when(|view| view.is(kinds::SPONSOR_SPONSORED))
        .depends_on_others(),
    fault(SERVED, "busy-for-large-calls", "answers calls of more than 64 bytes with the error `server busy`")
        .on_answer(|_, answer| refuse_result(answer, -32005, BUSY))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED) && view.byte_count("callData") > 64)
        .depends_on("/params/0/callData"),
];

const BUSY: &str = "server busy: overloaded";

fn refuse_with_status(response: &mut WireResponse, status: u16, message: &str) {
    if let Some(body) = &mut response.body
        && let Ok(mut answer) = serde_json::from_slice(body)
    {
        refuse_result(&mut answer, -32005, message);
        *body = Value::Object(answer).to_string().into_bytes();
        response.status = status;
        response.has_result = false;
    }
}
