//! Faults that look like overload, and have nothing to do with other requests in flight (section 4.2).

use paymaster_schemas::Pair;
use serde_json::{Map, Value, json};

use crate::faults::Fault;
use crate::injection::Behaviour;

const SERVED: &str = "sponsor.sponsored-result";

/// The other clauses that an error instead of a result breaks.
const ALSO: &[&str] = &["sponsor.*", "error.*", "request.*", "json-rpc.*"];

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        SERVED,
        "busy-now-and-then",
        "answers 1 of 25 sponsor requests with the error `server busy`",
        Behaviour::Answer(|_, answer| refuse(answer)),
    )
    .when(|view| view.is(Pair::SPONSOR_SPONSORED) && view.is_one_in_25())
    .also(ALSO),
    Fault::new(
        SERVED,
        "unavailable-now-and-then",
        "answers 1 of 25 sponsor requests with the error `overloaded` and status 503",
        Behaviour::Http(|_, response| {
            if let Some(body) = &mut response.body
                && let Ok(mut answer) = serde_json::from_slice(body)
            {
                refuse(&mut answer);
                *body = Value::Object(answer).to_string().into_bytes();
                response.status = 503;
                response.has_result = false;
            }
        }),
    )
    .when(|view| view.is(Pair::SPONSOR_SPONSORED) && view.is_one_in_25())
    .also(ALSO),
    Fault::new(
        SERVED,
        "busy-for-large-calls",
        "answers sponsor requests with more than 64 bytes of call data with the error `server busy`",
        Behaviour::Answer(|_, answer| refuse(answer)),
    )
    .when(|view| view.is(Pair::SPONSOR_SPONSORED) && view.byte_count("callData") > 64)
    .also(ALSO)
    .depends_on("/params/0/callData"),
];

/// Replaces a result by the error of a server that has too much to do.
fn refuse(answer: &mut Map<String, Value>) {
    if answer.shift_remove("result").is_some() {
        let error = json!({ "code": -32005, "message": "server busy: overloaded" });
        answer.insert("error".to_owned(), error);
    }
}
