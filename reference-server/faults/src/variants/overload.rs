//! Variants of overload: requests are refused while more than four are in flight. Every answer takes a millisecond, so that requests
//! meet.

use std::time::Duration;

use super::{Variant, variant};
use crate::injection::{Framing, RequestView, WireResponse};

/// The most requests that are answered at a time.
const MOST: usize = 4;

pub(super) const VARIANTS: &[Variant] = &[
    variant("unavailable-above-four", "answers with status 503 while more than 4 requests are in flight")
        .on_http(|view, response| {
            above_four(view, response, |_, response| {
                response.replace(503, "text/plain", "no server is available");
            });
        }),
    variant("too-many-above-four", "answers with status 429 while more than 4 requests are in flight")
        .on_http(|view, response| {
            above_four(view, response, |_, response| response.replace(429, "text/plain", "slow down"));
        }),
    variant("busy-above-four", "answers with a JSON-RPC error while more than 4 requests are in flight")
        .on_http(|view, response| {
            above_four(view, response, |view, response| {
                response.replace(200, "application/json", view.error_answer(-32005, "server busy"));
            });
        }),
    variant("own-words-above-four", "answers with an error of its own while more than 4 are in flight")
        .on_http(|view, response| {
            above_four(view, response, |view, response| {
                response.replace(200, "application/json", view.error_answer(-32098, "no free simulator"));
            });
        }),
    variant("closed-above-four", "closes the connection while more than 4 requests are in flight").on_http(
        |view, response| above_four(view, response, |_, response| response.framing = Framing::Nothing),
    ),
];

fn above_four(
    view: &RequestView<'_>,
    response: &mut WireResponse,
    refuse: fn(&RequestView<'_>, &mut WireResponse),
) {
    if view.arrival.in_flight > MOST {
        refuse(view, response);
    } else {
        response.delay = Duration::from_millis(1);
    }
}
