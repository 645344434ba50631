//! Faults that look like a gateway, a limiter, an outage or a redirect, and answer every request with one value alone so. Others look
//! like overload.

use std::time::Duration;

use paymaster_schemas::kinds;
use paymaster_service::EntryPoint;
use serde_json::Value;

use crate::faults::{CALL_DATA, Fault, fault};
use crate::injection::{RequestView, WireResponse, refuse_result, text_of};

const TEXT: Fault = Fault::breaking("answer.json-text");

const SENDER: Fault = TEXT.when_at("/params/0/sender", |view| view.is_call() && view.is_denied());

/// Faults of both specifications.
pub(crate) const FAULTS: &[Fault] = &[
    fault(SENDER, "refused-sender-forbidden", "answers requests of the refused sender with status 403")
        .on_http(|_, response| status(response, 403)),
    fault(SENDER, "refused-sender-throttled", "answers requests of the refused sender with status 429")
        .on_http(|_, response| throttle(response, 429)),
];

pub(crate) const OF_FEE_QUOTE: &[Fault] = &[
    fault(TEXT, "token-mode-throttled", "answers requests in token mode with status 429")
        .on_http(|_, response| throttle(response, 429))
        .when_at("/params/1/mode", |view| view.is_token_mode()),
    fault(TEXT, "token-quotes-unavailable", "answers quotes in token mode with status 503 and Retry-After")
        .on_http(|_, response| throttle(response, 503))
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    fault(TEXT, "one-token-unavailable", "answers requests with its second token with status 503")
        .on_http(|_, response| status(response, 503))
        .when(|view| has_token(view, 1)),
    fault(TEXT, "one-token-too-large", "answers requests with its third token with status 413")
        .on_http(|_, response| status(response, 413))
        .when(|view| has_token(view, 2)),
    fault(TEXT, "call-data-too-large", "answers requests with call data above 2,500 bytes with status 413")
        .on_http(|_, response| status(response, 413))
        .when_at(CALL_DATA, |view| view.byte_count("callData") > 2_500),
    fault(TEXT, "one-fee-token-bad-gateway", "answers requests to pay in its first token with status 502")
        .on_http(|_, response| status(response, 502))
        .when(|view| view.fee_token().is_some_and(|token| view.tokens[0].eq_ignore_ascii_case(token))),
    fault(TEXT, "init-code-timeout", "answers requests with an initCode with status 504")
        .on_http(|_, response| status(response, 504))
        .when_at("/params/0/initCode", |view| view.has_init_code()),
    fault(TEXT, "sponsor-requests-redirected", "answers sponsor requests with a redirect")
        .on_http(|_, response| redirect(response))
        .when_at("/method", |view| view.is_sponsor()),
    fault(TEXT, "account-forbidden", "answers requests of the account BICONOMY with status 403")
        .on_http(|_, response| status(response, 403))
        .when(|view| view.sponsorship_info()["smartAccountInfo"]["name"] == "BICONOMY")
        .also(&["interoperability.client-forms"]),
    fault(TEXT, "absent-fee-token-forbidden", "answers requests to pay in no token with status 403")
        .on_http(|_, response| status(response, 403))
        .when(|view| view.omits_fee_token() && view.fee_token().is_none()),
    Fault::new("sponsor.erc20-result", "token-sponsor-limited", "limits the rate of paying in tokens")
        .on_answer(|_, answer| refuse_result(answer, -32005, "rate limit exceeded"))
        .when(|view| view.is(kinds::SPONSOR_ERC20))
        .also(&["sponsor.*", "error.*", "request.*", "interoperability.*"]),
];

pub(crate) const OF_ERC_7677: &[Fault] = &[
    fault(TEXT, "stubs-redirected", "answers requests for stubs with a redirect")
        .on_http(|_, response| redirect(response))
        .when_at("/method", |view| view.is_stub()),
    fault(TEXT, "one-entry-point-throttled", "answers requests for EntryPoint 0.7 with status 429")
        .on_http(|_, response| throttle(response, 429))
        .when(|view| view.is_for(EntryPoint::V07)),
    fault(TEXT, "new-account-timeout", "answers requests of accounts that are deployed with status 504")
        .on_http(|_, response| status(response, 504))
        .when(|view| view.is_call() && (view.has_init_code() || view.byte_count("factory") > 0))
        .also(&["operation.*"]),
];

/// Whether the request names the token at this index of the configuration.
fn has_token(view: &RequestView<'_>, index: usize) -> bool {
    let token = &view.tokens[index.min(view.tokens.len() - 1)];
    view.named_tokens().chain(view.fee_token()).any(|named| named.eq_ignore_ascii_case(token))
}

fn status(response: &mut WireResponse, status: u16) {
    response.replace(status, "text/html", "<html><body>no</body></html>");
}

fn redirect(response: &mut WireResponse) {
    status(response, 307);
    response.headers.push(("location", "/v2"));
}

fn throttle(response: &mut WireResponse, code: u16) {
    status(response, code);
    response.headers.push(("retry-after", "0"));
}

const SERVED: Fault = Fault::breaking("sponsor.sponsored-result").also(ALSO);

/// The other clauses that an error instead of a result breaks.
const ALSO: &[&str] = &["sponsor.*", "error.*", "request.*", "json-rpc.*"];

/// Requests are refused that are served at another time (section 4.2): some look like overload, and have nothing to do with other requests
/// in flight.
pub(crate) const OF_OVERLOAD: &[Fault] = &[
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
        })
        .depends_on_others(),
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
        .when_at(CALL_DATA, |view| view.is(kinds::SPONSOR_SPONSORED) && view.byte_count("callData") > 64),
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
