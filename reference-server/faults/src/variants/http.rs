//! Variants of HTTP: rare forms of a response, and requests that must be retried.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{Statement, Variant, variant};
use crate::injection::{Coding, Framing, RequestView, WireResponse, compress};

/// The most requests that are answered at a time, by a server that is overloaded with more.
const MOST: usize = 4;

pub(super) const VARIANTS: &[Variant] = &[
    variant("chunked", "sends bodies in chunks")
        .on_http(|_, response| response.framing = Framing::Chunks(64)),
    variant("chunked-by-byte", "sends bodies in chunks of one byte")
        .on_http(|_, response| response.framing = Framing::Chunks(1)),
    variant("close-delimited", "sends bodies without a length and closes the connection, as HTTP/1.0 does")
        .on_http(|_, response| response.framing = Framing::UntilClose),
    variant("closed-after-answer", "closes the connection after each answer")
        .on_http(|_, response| response.framing = Framing::ThenClose),
    variant("closed-now-and-then", "closes the connection after 1 of 25 answers")
        .on_http(|_, response| response.framing = Framing::ThenClose)
        .when(|view| view.is_one_in(25)),
    variant("slow", "takes 20 ms to answer")
        .on_http(|_, response| response.delay = Duration::from_millis(20)),
    variant("slow-now-and-then", "takes 50 ms to answer 1 of 25 requests")
        .on_http(|_, response| response.delay = Duration::from_millis(50))
        .when(|view| view.is_one_in(25)),
    variant("body-in-two-parts", "sends the second half of a body 5 ms after the first")
        .on_http(|_, response| response.framing = Framing::TwoParts(Duration::from_millis(5))),
    variant("content-type-with-charset", "the content type names a charset")
        .on_http(|_, response| response.set_content_type(Some("application/json; charset=utf-8"))),
    variant("content-type-upper-case", "the content type is in another letter case")
        .on_http(|_, response| response.set_content_type(Some("Application/JSON;Charset=\"UTF-8\""))),
    variant("compressed-when-permitted", "compresses answers in the best coding that the request permits")
        .on_http(|view, response| {
            let best = [Coding::Brotli, Coding::Deflate, Coding::Gzip];
            let coding = best.into_iter().find(|coding| view.accepts_coding(coding.name()));
            if let Some(coding) = coding {
                compress(response, coding);
            }
        }),
    variant("gzip-unless-refused", "sends gzip to every request that permits it or has no Accept-Encoding")
        .on_http(|_, response| compress(response, Coding::Gzip))
        .when(|view| view.permits_coding("gzip")),
    variant("extra-headers", "sends additional headers").on_http(|_, response| {
        response.headers.extend([
            ("server", "paymaster"),
            ("x-request-id", "c0ffee"),
            ("set-cookie", "a=1; Path=/"),
            ("set-cookie", "b=2; Secure; HttpOnly"),
            ("access-control-allow-origin", "*"),
            ("vary", "origin, accept-encoding"),
            ("keep-alive", "timeout=5"),
        ]);
    }),
    variant("too-many-requests", "answers 1 of 50 requests with status 429")
        .on_http(|_, response| ask_to_retry(response, 429, "0", ""))
        .when(|view| view.is_one_in(50)),
    variant("too-many-requests-answered", "answers 1 of 50 requests with status 429 and a JSON-RPC error")
        .on_http(|_, response| ask_to_retry(response, 429, "0", BUSY))
        .when(|view| view.is_one_in(50)),
    variant("token-bucket", "takes 2,000 requests a second, 200 at once, and answers 429 to more").on_http(
        |view, response| {
            response.headers.push(("x-ratelimit-limit", "2000"));
            if is_bucket_empty(view, 500, 200) {
                ask_to_retry(response, 429, "0", "");
            }
        },
    ),
    variant("token-bucket-in-own-words", "answers more than 500 requests a second with an error of its own")
        .on_http(|view, response| {
            if response.body.is_some() && is_bucket_empty(view, 2000, 150) {
                let answer = view.error_answer(-32097, "compute units of your plan are used up");
                response.replace(200, "application/json", answer);
            }
        }),
    variant("unavailable-answered", "answers 1 of 200 requests with status 503 and a JSON-RPC error")
        .on_http(|_, response| ask_to_retry(response, 503, "0", BUSY))
        .when(|view| view.is_one_in(200)),
    variant("slow-at-first", "takes 100 ms for its first answer, as while it connects to its node")
        .on_http(|_, response| response.delay = Duration::from_millis(100))
        .when(|view| view.memory.count() == 1),
    variant("unavailable", "answers 1 of 200 requests with status 503 and retry-after 1")
        .on_http(|_, response| ask_to_retry(response, 503, "1", "<html><body>come back</body></html>"))
        .when(|view| view.is_one_in(200)),
    variant("service-starting", "answers the first 3 requests with status 503, as while it starts")
        .on_http(|_, response| ask_to_retry(response, 503, "0", ""))
        .when(|view| view.memory.count() <= 3),
    variant("service-restarting", "answers requests 100 to 103 with status 503, as while it restarts")
        .on_http(|_, response| {
            response.replace(503, "text/html", "<html><body>no server is available</body></html>");
        })
        .when(|view| (100..104).contains(&view.memory.count())),
    quota("sender-quota", "answers requests of one sender with status 429 after its first 3")
        .on_http(|_, response| ask_to_retry(response, 429, "0", ""))
        .when(|view| exceeds_quota(view, view.operation()["sender"].as_str(), 3)),
    quota("sender-quota-forbidden", "answers requests of one sender with status 403 after its first 3")
        .on_http(|_, response| response.replace(403, "text/html", "<html>quota</html>"))
        .when(|view| exceeds_quota(view, view.operation()["sender"].as_str(), 3)),
    quota("method-quota", "answers requests of one method with status 403 after its first 100")
        .on_http(|_, response| response.replace(403, "text/html", "<html>quota</html>"))
        .when(|view| exceeds_quota(view, view.request["method"].as_str(), 100)),
    quota("forbidden-for-a-while", "answers requests 300 to 340 with status 403, as a firewall does")
        .on_http(|_, response| response.replace(403, "text/html", "<html>blocked</html>"))
        .when(|view| (300..340).contains(&view.memory.count())),
    quota("forbidden-now-and-then", "answers 1 of 50 requests with status 403")
        .on_http(|_, response| response.replace(403, "text/html", "<html>blocked</html>"))
        .when(|view| view.is_one_in(50)),
    quota("redirected-now-and-then", "answers 1 of 50 requests with a redirect")
        .on_http(|_, response| response.replace(302, "text/html", ""))
        .when(|view| view.is_one_in(50)),
    variant("origins-listed", "answers requests of other origins with a JSON-RPC error")
        .on_http(|view, response| refuse_origin(view, response, 200))
        .when(|view| !view.header("origin").is_empty())
        .warns(&["request.headers"]),
    variant("origins-listed-by-http", "answers other origins with a JSON-RPC error and status 403")
        .on_http(|view, response| refuse_origin(view, response, 403))
        .when(|view| !view.header("origin").is_empty())
        .warns(&["request.headers"]),
    variant("idle-connections-timed-out", "closes connections idle for 40 ms with an unsolicited status 408")
        .on_http(|_, response| response.framing = Framing::ThenTimeout)
        .configured(|config| config.bounds.idle_timeout_ms = 40),
    variant("idle-connections-closed", "closes connections that are idle for 40 ms, and announces it")
        .on_http(|_, response| response.headers.push(("keep-alive", "timeout=1")))
        .configured(|config| config.bounds.idle_timeout_ms = 40),
    // Overload: requests are refused while more than four are in flight. Every answer takes a millisecond, so that requests meet.
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

/// The error of a server that takes no further request now.
const BUSY: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down"}}"#;

/// Whether more requests came than a token bucket takes: one more after each interval, in microseconds, and so many at once. It remembers
/// when it is full again.
fn is_bucket_empty(view: &RequestView<'_>, interval: u64, burst: u64) -> bool {
    let since_epoch = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let now = u64::try_from(since_epoch.as_micros()).unwrap_or_default();
    let full =
        view.memory.previous("full", &json!(now)).and_then(|full| full.as_u64()).unwrap_or(now).max(now);
    let is_empty = full - now > burst * interval;
    view.memory.previous("full", &json!(if is_empty { full } else { full + interval }));
    is_empty
}

/// A run against a server with a quota may be incomplete.
const fn quota(name: &'static str, about: &'static str) -> Variant {
    variant(name, about).untrue(&[Statement::SponsorsAny])
}

/// Whether more requests than this many had that value.
pub(super) fn exceeds_quota(view: &RequestView<'_>, value: Option<&str>, most: u64) -> bool {
    value.filter(|_| view.is_call()).is_some_and(|value| view.memory.count_of(value) > most)
}

/// Replaces the response by the error for an origin that is not listed.
fn refuse_origin(view: &RequestView<'_>, response: &mut WireResponse, status: u16) {
    response.replace(status, "application/json", view.error_answer(-32003, "origin not allowed"));
}

/// Replaces the response by a request to retry after this many seconds: without a body, with JSON or with a page.
fn ask_to_retry(response: &mut WireResponse, status: u16, seconds: &'static str, body: &str) {
    response.status = status;
    response.headers.push(("retry-after", seconds));
    response.content_type = match body.as_bytes() {
        [] => None,
        [b'{', ..] => Some("application/json"),
        _ => Some("text/html"),
    };
    response.body = (!body.is_empty()).then(|| body.as_bytes().to_vec());
    response.has_result = false;
}

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
