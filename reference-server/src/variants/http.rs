//! HTTP: rare forms of a response, and requests that are put off.

use std::time::Duration;

use super::Variant;
use crate::deviations::{Act, Framing, Sent};

pub(super) const VARIANTS: &[Variant] = &[
    Variant::of(
        "chunked",
        "sends bodies in chunks",
        Act::Http(|_, sent| sent.framing = Framing::Chunks(64)),
    ),
    Variant::of(
        "chunked-by-byte",
        "sends bodies in chunks of one byte",
        Act::Http(|_, sent| sent.framing = Framing::Chunks(1)),
    ),
    Variant::of(
        "close-delimited",
        "sends bodies without a length and closes the connection, as HTTP/1.0 does",
        Act::Http(|_, sent| {
            sent.framing = Framing::UntilClose;
        }),
    ),
    Variant::of(
        "closed-after-answer",
        "closes the connection after each answer",
        Act::Http(|_, sent| {
            sent.framing = Framing::ThenClose;
        }),
    ),
    Variant::of(
        "closed-now-and-then",
        "closes the connection after 1 of 25 answers",
        Act::Http(|_, sent| {
            sent.framing = Framing::ThenClose;
        }),
    )
    .when(|asked| asked.now_and_then()),
    Variant::of(
        "slow",
        "takes 20 ms to answer",
        Act::Http(|_, sent| {
            sent.delay = Duration::from_millis(20);
        }),
    ),
    Variant::of(
        "slow-now-and-then",
        "takes 50 ms to answer 1 of 25 requests",
        Act::Http(|_, sent| {
            sent.delay = Duration::from_millis(50);
        }),
    )
    .when(|asked| asked.now_and_then()),
    Variant::of(
        "body-in-two-parts",
        "sends the second half of a body 5 ms after the first",
        Act::Http(|_, sent| {
            sent.framing = Framing::TwoParts(Duration::from_millis(5));
        }),
    ),
    Variant::of(
        "content-type-with-charset",
        "content types name a charset",
        Act::Http(|_, sent| {
            retype(sent, "application/json; charset=utf-8");
        }),
    ),
    Variant::of(
        "content-type-upper-case",
        "content types are in other letters",
        Act::Http(|_, sent| {
            retype(sent, "Application/JSON;Charset=\"UTF-8\"");
        }),
    ),
    Variant::of(
        "extra-headers",
        "sends further headers",
        Act::Http(|_, sent| {
            sent.headers.extend([
                ("server", "paymaster"),
                ("x-request-id", "c0ffee"),
                ("set-cookie", "a=1; Path=/"),
                ("set-cookie", "b=2; Secure; HttpOnly"),
                ("access-control-allow-origin", "*"),
                ("vary", "origin, accept-encoding"),
                ("keep-alive", "timeout=5"),
            ]);
        }),
    ),
    Variant::of(
        "too-many-requests",
        "puts 1 of 50 requests off with status 429",
        Act::Http(|_, sent| {
            put_off(sent, 429, "0", "");
        }),
    )
    .when(|asked| asked.is_one_in(50)),
    Variant::of(
        "too-many-requests-answered",
        "puts 1 of 50 requests off with status 429 and a JSON-RPC error",
        Act::Http(|_, sent| {
            put_off(
                sent,
                429,
                "0",
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32005,\"message\":\"slow down\"}}",
            );
            sent.content_type = Some("application/json");
        }),
    )
    .when(|asked| asked.is_one_in(50)),
    Variant::of(
        "unavailable",
        "puts 1 of 200 requests off with status 503, for a second",
        Act::Http(|_, sent| {
            put_off(sent, 503, "1", "<html><body>come back</body></html>");
            sent.content_type = Some("text/html");
        }),
    )
    .when(|asked| asked.is_one_in(200)),
];

fn retype(sent: &mut Sent, content_type: &'static str) {
    if sent.body.is_some() {
        sent.content_type = Some(content_type);
    }
}

/// What is put off is not answered.
fn put_off(sent: &mut Sent, status: u16, seconds: &'static str, body: &str) {
    sent.status = status;
    sent.headers.push(("retry-after", seconds));
    sent.content_type = None;
    sent.body = (!body.is_empty()).then(|| body.as_bytes().to_vec());
    sent.has_result = false;
}
