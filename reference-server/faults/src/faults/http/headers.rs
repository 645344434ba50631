//! Faults of request headers and content codings (section 1).

use paymaster_schemas::Pair;

use crate::faults::Fault;
use crate::injection::{Behaviour, Coding, Framing, RequestView, WireResponse, compress, replace};

const HEADERS: &str = "request.headers";
const MESSAGE: &str = "answer.http-message";
const TEXT: &str = "answer.json-text";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(HEADERS, "charset-refused", "refuses a content type with a charset with status 415")
        .injects(Behaviour::Http(|_, response| refuse(response, 415, "unsupported media type")))
        .when(|view| view.header("content-type").contains("charset")),
    Fault::new(HEADERS, "origin-refused", "refuses requests with an Origin with status 403")
        .injects(Behaviour::Http(|_, response| refuse(response, 403, "{\"message\":\"Forbidden\"}")))
        .when(|view| !view.header("origin").is_empty()),
    Fault::new(HEADERS, "accept-required", "refuses requests without an Accept with status 406")
        .injects(Behaviour::Http(|_, response| refuse(response, 406, "not acceptable")))
        .when(|view| view.header("accept").is_empty()),
    Fault::new(HEADERS, "accept-any-refused", "refuses Accept: */* with status 406 and a JSON-RPC error")
        .injects(Behaviour::Http(|_, response| {
            refuse(
                response,
                406,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not acceptable"}}"#,
            );
        }))
        .when(|view| view.header("accept") == "*/*" || view.header("accept").is_empty()),
    Fault::new(HEADERS, "user-agent-refused", "refuses the user agent of Go with status 403")
        .injects(Behaviour::Http(|_, response| refuse(response, 403, "<html>blocked</html>")))
        .when(|view| view.header("user-agent").is_empty() || view.header("user-agent").starts_with("Go-")),
    Fault::new(HEADERS, "chunked-refused", "refuses a body that is sent in chunks with status 415")
        .injects(Behaviour::Http(|_, response| refuse(response, 415, "a content-length is needed")))
        .when(|view| !view.header("transfer-encoding").is_empty()),
    Fault::new(HEADERS, "traceparent-refused", "refuses requests with a traceparent with status 400")
        .injects(Behaviour::Http(|_, response| refuse(response, 400, "bad request header")))
        .when(|view| !view.header("traceparent").is_empty()),
    Fault::new(HEADERS, "two-forwarded-addresses-refused", "reads X-Forwarded-For as one address, or fails")
        .injects(Behaviour::Http(|_, response| refuse(response, 400, "not an address")))
        .when(|view| view.header("x-forwarded-for").contains(',')),
    Fault::new(
        HEADERS,
        "other-languages-refused",
        "refuses an Accept-Language without English with status 406",
    )
    .injects(Behaviour::Http(|_, response| refuse(response, 406, "no such language")))
    .when(|view| {
        let languages = view.header("accept-language");
        !languages.is_empty() && languages != "*" && !languages.contains("en")
    }),
    Fault::new(HEADERS, "language-gets-error", "answers requests with an Accept-Language with an error")
        .refuses(|view| !view.header("accept-language").is_empty())
        .also(&["quote.*", "sponsor.*", "error.*", "request.*", "json-rpc.*"]),
    Fault::new(HEADERS, "origin-not-sponsored", "sponsors nothing for requests with an Origin")
        .injects(Behaviour::Result(|_, result| replace(result, "paymasterAndData", "0x")))
        .when(|view| view.is_sponsored_mode() && !view.header("origin").is_empty())
        .of_fee_quote()
        .also(&["sponsor.sponsorable-is-sponsored", "sponsor.decision-inputs"]),
    Fault::new(MESSAGE, "gzip-cut-short", "leaves out the last bytes of a gzip body")
        .injects(Behaviour::Http(|_, response| {
            compress(response, Coding::Gzip);
            change(response, |body| body.truncate(body.len().saturating_sub(6)));
        }))
        .when(|view| view.accepts_coding("gzip")),
    Fault::new(MESSAGE, "gzip-that-is-none", "announces gzip and sends the text as it is")
        .injects(Behaviour::Http(|_, response| response.headers.push(("content-encoding", "gzip"))))
        .when(|view| view.accepts_coding("gzip")),
    Fault::new(MESSAGE, "gzip-with-length-of-text", "sends a gzip body with the length of the text")
        .injects(Behaviour::Http(|_, response| {
            let length = |response: &WireResponse| response.body.as_ref().map_or(0, Vec::len);
            let before = length(response);
            compress(response, Coding::Gzip);
            response.framing = Framing::TooLong(before.saturating_sub(length(response)).max(1));
        }))
        .when(|view| view.accepts_coding("gzip") && view.is(Pair::QUOTE_ERC20))
        .of_fee_quote(),
    Fault::new(MESSAGE, "deflate-cut-short", "leaves out the last bytes of a deflate body")
        .injects(Behaviour::Http(|_, response| {
            compress(response, Coding::Deflate);
            change(response, |body| body.truncate(body.len().saturating_sub(2)));
        }))
        .when(|view| view.accepts_coding("deflate")),
    Fault::new(MESSAGE, "brotli-broken", "sends br bodies with a wrong first byte")
        .injects(Behaviour::Http(|_, response| {
            compress(response, Coding::Brotli);
            change(response, |body| {
                if let Some(first) = body.first_mut() {
                    *first = 0xff;
                }
            });
        }))
        .when(|view| view.accepts_coding("br")),
    Fault::new(MESSAGE, "zstd-that-is-none", "announces zstd and sends the text as it is")
        .injects(Behaviour::Http(|_, response| response.headers.push(("content-encoding", "zstd"))))
        .when(|view| view.accepts_coding("zstd")),
    Fault::new(TEXT, "gzip-unannounced", "sends gzip to requests that do not permit it")
        .injects(Behaviour::Http(|_, response| compress(response, Coding::Gzip)))
        .when(|view| is_refused(view, "gzip")),
    Fault::new(TEXT, "brotli-for-gzip", "sends br to requests that permit gzip only")
        .injects(Behaviour::Http(|_, response| compress(response, Coding::Brotli)))
        .when(|view| view.accepts_coding("gzip") && is_refused(view, "br")),
];

/// Whether the request does not permit a coding. One without `Accept-Encoding` permits all of them.
fn is_refused(view: &RequestView<'_>, coding: &str) -> bool {
    !view.header("accept-encoding").is_empty() && !view.accepts_coding(coding)
}

/// Replaces the response by a refusal with this status and body.
fn refuse(response: &mut WireResponse, status: u16, body: &str) {
    let content_type = if body.starts_with('{') { "application/json" } else { "text/plain" };
    response.replace(status, content_type, body);
}

fn change(response: &mut WireResponse, change: fn(&mut Vec<u8>)) {
    if let Some(body) = &mut response.body {
        change(body);
    }
}
