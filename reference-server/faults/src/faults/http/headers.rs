//! Faults of request headers and content codings (section 1).

use paymaster_schemas::kinds;

use crate::faults::{Fault, fault};
use crate::injection::{Coding, Framing, WireResponse, compress, replace};

const HEADERS: Fault = Fault::breaking("request.headers");
const MESSAGE: Fault = Fault::breaking("answer.http-message");
const TEXT: Fault = Fault::breaking("answer.json-text");

pub(crate) const FAULTS: &[Fault] = &[
    fault(HEADERS, "charset-refused", "refuses a content type with a charset with status 415")
        .on_http(|_, response| response.refuse(415, "unsupported media type"))
        .when(|view| view.header("content-type").contains("charset")),
    fault(HEADERS, "charset-in-capitals-refused", "refuses the charset UTF-8 in capitals with status 415")
        .on_http(|_, response| response.refuse(415, "unsupported media type"))
        .when(|view| view.header("content-type").contains("UTF-8")),
    fault(HEADERS, "origin-of-extension-fails", "fails for an Origin that is neither http nor https")
        .on_http(|_, response| response.refuse(500, "TypeError: null is not an object"))
        .when(|view| view.header("origin").starts_with("chrome-extension:")),
    fault(HEADERS, "origin-refused", "refuses requests with an Origin with status 403")
        .on_http(|_, response| response.refuse(403, "{\"message\":\"Forbidden\"}"))
        .when(|view| !view.header("origin").is_empty()),
    fault(HEADERS, "accept-required", "refuses requests without an Accept with status 406")
        .on_http(|_, response| response.refuse(406, "not acceptable"))
        .when(|view| view.header("accept").is_empty()),
    fault(HEADERS, "accept-any-refused", "refuses Accept: */* with status 406 and a JSON-RPC error")
        .on_http(|_, response| response.refuse(406, NOT_ACCEPTABLE))
        .when(|view| view.header("accept") == "*/*" || view.header("accept").is_empty()),
    fault(HEADERS, "user-agent-refused", "refuses the user agent of Go with status 403")
        .on_http(|_, response| response.refuse(403, "<html>blocked</html>"))
        .when(|view| view.header("user-agent").is_empty() || view.header("user-agent").starts_with("Go-")),
    fault(HEADERS, "chunked-refused", "refuses a body that is sent in chunks with status 415")
        .on_http(|_, response| response.refuse(415, "a content-length is needed"))
        .when(|view| !view.header("transfer-encoding").is_empty()),
    fault(HEADERS, "traceparent-refused", "refuses requests with a traceparent with status 400")
        .on_http(|_, response| response.refuse(400, "bad request header"))
        .when(|view| !view.header("traceparent").is_empty()),
    fault(HEADERS, "two-forwarded-addresses-refused", "reads X-Forwarded-For as one address, or fails")
        .on_http(|_, response| response.refuse(400, "not an address"))
        .when(|view| view.header("x-forwarded-for").contains(',')),
    fault(HEADERS, "other-languages-refused", "refuses an Accept-Language without English with status 406")
        .on_http(|_, response| response.refuse(406, "no such language"))
        .when(|view| {
            let languages = view.header("accept-language");
            !languages.is_empty() && languages != "*" && !languages.contains("en")
        }),
    fault(HEADERS, "language-gets-error", "answers requests with an Accept-Language with an error")
        .refuses(|view| !view.header("accept-language").is_empty())
        .also(&["quote.*", "sponsor.*", "error.*", "request.*", "json-rpc.*"]),
    fault(HEADERS, "origin-not-sponsored", "sponsors nothing for requests with an Origin")
        .on_result(|_, result| replace(result, "paymasterAndData", "0x"))
        .when(|view| view.is_sponsored_mode() && !view.header("origin").is_empty())
        .of_fee_quote()
        .also(&["sponsor.sponsorable-is-sponsored", "sponsor.decision-inputs"]),
    fault(MESSAGE, "gzip-cut-short", "leaves out the last bytes of a gzip body")
        .on_http(|_, response| {
            compress(response, Coding::Gzip);
            change(response, |body| body.truncate(body.len().saturating_sub(6)));
        })
        .when(|view| view.accepts_coding("gzip")),
    fault(MESSAGE, "gzip-that-is-none", "announces gzip and sends the text as it is")
        .on_http(|_, response| response.headers.push(("content-encoding", "gzip")))
        .when(|view| view.accepts_coding("gzip")),
    fault(MESSAGE, "gzip-with-length-of-text", "sends a gzip body with the length of the text")
        .on_http(|_, response| {
            let length = |response: &WireResponse| response.body.as_ref().map_or(0, Vec::len);
            let before = length(response);
            compress(response, Coding::Gzip);
            response.framing = Framing::TooLong(before.saturating_sub(length(response)).max(1));
        })
        .when(|view| view.accepts_coding("gzip") && view.is(kinds::QUOTE_ERC20))
        .of_fee_quote(),
    fault(MESSAGE, "deflate-cut-short", "leaves out the last bytes of a deflate body")
        .on_http(|_, response| {
            compress(response, Coding::Deflate);
            change(response, |body| body.truncate(body.len().saturating_sub(2)));
        })
        .when(|view| view.accepts_coding("deflate")),
    fault(MESSAGE, "brotli-broken", "sends br bodies with a wrong first byte")
        .on_http(|_, response| {
            compress(response, Coding::Brotli);
            change(response, |body| {
                if let Some(first) = body.first_mut() {
                    *first = 0xff;
                }
            });
        })
        .when(|view| view.accepts_coding("br")),
    fault(MESSAGE, "zstd-that-is-none", "announces zstd and sends the text as it is")
        .on_http(|_, response| response.headers.push(("content-encoding", "zstd")))
        .when(|view| view.accepts_coding("zstd")),
    fault(TEXT, "gzip-unannounced", "sends gzip to requests that do not permit it")
        .on_http(|_, response| compress(response, Coding::Gzip))
        .when(|view| !view.permits_coding("gzip")),
    fault(TEXT, "brotli-for-gzip", "sends br to requests that permit gzip only")
        .on_http(|_, response| compress(response, Coding::Brotli))
        .when(|view| view.accepts_coding("gzip") && !view.permits_coding("br")),
];

const NOT_ACCEPTABLE: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not acceptable"}}"#;

fn change(response: &mut WireResponse, change: fn(&mut Vec<u8>)) {
    if let Some(body) = &mut response.body {
        change(body);
    }
}
