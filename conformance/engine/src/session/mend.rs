//! Answers with the listed failures mended: a right value stands in the place of each wrong one. A rule that judges the mended answer, and
//! not the one that came, waits for the listed failure alone.

use paymaster_exchange::{Exchange, Response};
use serde_json::Value;
use std::time::UNIX_EPOCH;

use crate::json::with_indices;
use crate::message::ParsedRequest;
use crate::specification::Specification;

/// The exchange with right values at these places of the answer; none for a request that is no valid call.
pub(super) fn mended(
    exchange: &Exchange,
    pointers: &[&str],
    specification: &Specification,
) -> Option<Exchange> {
    let request = ParsedRequest::of(&exchange.request, specification);
    let call = request.valid_call()?;
    let now = exchange.received.and_then(|now| now.duration_since(UNIX_EPOCH).ok());
    let right = (specification.right_answer)(call, now.unwrap_or_default());
    let response = exchange.outcome.as_ref().ok();
    let body = response.and_then(|response| serde_json::from_slice(&response.body).ok());
    let mut answer: Value = body.unwrap_or_else(|| right.clone());
    for pointer in pointers {
        mend(&mut answer, pointer, &right);
    }
    Some(Exchange {
        outcome: Ok(Response {
            status: 200,
            headers: response.map_or_else(Vec::new, |response| response.headers.clone()),
            body: answer.to_string().into(),
        }),
        ..exchange.clone()
    })
}

/// Mends one place. An answer that is wrong as a whole, or an error in the place of a result, becomes the right answer.
fn mend(answer: &mut Value, pointer: &str, right: &Value) {
    let value = right.pointer(&with_indices(pointer, "0"));
    let parent = pointer.rsplit_once('/').map(|(parent, name)| (answer.pointer_mut(parent), name));
    match (value, parent) {
        (Some(value), Some((Some(Value::Object(object)), name))) if name != "result" => {
            object.insert(name.to_owned(), value.clone());
        }
        // The form of an error.
        (None, Some(_)) if pointer.starts_with("/error/") => {}
        _ => answer.clone_from(right),
    }
}
