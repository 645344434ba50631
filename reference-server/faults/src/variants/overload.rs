//! Variants of overload: requests are refused while more than four are in flight. Every answer takes a millisecond, so that requests
//! meet.

use std::time::Duration;

use super::{Variant, variant};
use crate::injection::{Framing, RequestView, WireResponse};

/// The most requests that are answered at a time.
const MOST: usize = 4;

pub(super) const VARIANTS: &[Variant] = &[
    variant("unavailable-above-four", "answers with status 503 while more than 4 requests are in flight")
        .on_http(|view, response| answer_above_four(view, response, 503, "no server is available")),
    variant("too-many-above-four", "answers with status 429 while more than 4 requests are in flight")
        .on_http(|view, response| answer_above_four(view, response, 429, "slow down")),
    variant("busy-above-four", "answers with a JSON-RPC error while more than 4 requests are in flight")
        .on_http(|view, response| {
            answer_above_four(view, response, 200, &view.error_answer(-32005, "server busy"));
        }),
    variant("own-words-above-four", "answers with an error of its own while more than 4 are in flight")
        .on_http(|view, response| {
            answer_above_four(view, response, 200, &view.error_answer(-32098, "no free simulator"));
        }),
    variant("closed-above-four", "closes the connection while more than 4 requests are in flight").on_http(
        |view, response| {
            if is_above_four(view, response) {
                response.framing = Framing::Nothing;
            }
        },
    ),
];

/// Whether more requests are in flight; if not, the answer waits.
fn is_above_four(view: &RequestView<'_>, response: &mut WireResponse) -> bool {
    let is_above = view.arrival.in_flight > MOST;
    if !is_above {
        response.delay = Duration::from_millis(1);
    }
    is_above
}

fn answer_above_four(view: &RequestView<'_>, response: &mut WireResponse, status: u16, body: &str) {
    if is_above_four(view, response) {
        response.refuse(status, body);
    }
}
