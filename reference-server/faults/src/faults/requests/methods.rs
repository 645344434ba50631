//! Faults of the kind of result of the two methods (sections 4, 4.1 and 4.2).

use paymaster_schemas::kinds;
use serde_json::{Map, Value, json};

use crate::faults::{FEE_TOKEN, Fault, fault};
use crate::injection::{Behaviour, refuse_result};

const BOTH: Fault = Fault::breaking("endpoint.both-methods")
    .injects(UNKNOWN_METHOD)
    .also(&["error.refusal-is-none", "json-rpc.*"]);
const QUOTE_SPONSORED: Fault = Fault::breaking("quote.sponsored-result")
    .when(|view| view.is(kinds::QUOTE_SPONSORED))
    .also(SPONSORED_ROWS);
const QUOTE_ERC20: Fault =
    Fault::breaking("quote.erc20-result").when(|view| view.is(kinds::QUOTE_ERC20)).also(QUOTE_ROWS);
const SPONSORING: Fault = Fault::breaking("sponsor.sponsored-result");
const SPONSOR_ERC20: Fault = Fault::breaking("sponsor.erc20-result");
const MODE_SERVED: Fault =
    Fault::breaking("sponsor.mode-mandatory-served").injects(TO_TOKENS).also(SPONSORED_ROWS);

pub(crate) const FAULTS: &[Fault] = &[
    fault(BOTH, "quote-method-unknown", "does not support pm_getFeeQuoteOrData").when(|view| view.is_quote()),
    fault(BOTH, "sponsor-method-unknown", "does not support pm_sponsorUserOperation")
        .when(|view| view.is_sponsor()),
    fault(QUOTE_SPONSORED, "sponsored-quote-refused", "refuses quotes in sponsored mode")
        .refuses(|view| view.is(kinds::QUOTE_SPONSORED))
        .also(&["error.refusal-is-none"]),
    fault(QUOTE_SPONSORED, "sponsored-quote-empty", "answers quotes in sponsored mode with an empty object")
        .injects(EMPTY),
    fault(QUOTE_SPONSORED, "sponsored-quote-of-tokens", "answers quotes in sponsored mode with token quotes")
        .injects(TO_TOKENS),
    fault(QUOTE_ERC20, "token-quote-refused", "refuses quotes in token mode")
        .refuses(|view| view.is(kinds::QUOTE_ERC20)),
    fault(QUOTE_ERC20, "token-quote-refused-now-and-then", "refuses 1 of 25 quotes in token mode")
        .refuses(|view| view.is(kinds::QUOTE_ERC20) && view.is_one_in(25))
        .also(&["error.unsupported-quote-is-none", "request.*"]),
    fault(QUOTE_ERC20, "token-quote-sponsored", "answers quotes in token mode with a sponsorship")
        .injects(TO_SPONSORED),
    fault(QUOTE_ERC20, "token-quote-empty", "answers quotes in token mode with an empty object")
        .injects(EMPTY),
    fault(SPONSORING, "sponsoring-refused", "refuses to sponsor in sponsored mode")
        .refuses(|view| view.is(kinds::SPONSOR_SPONSORED))
        .also(&["error.refusal-is-none"]),
    fault(SPONSORING, "sponsoring-refused-now-and-then", "refuses 1 of 25 operations in sponsored mode")
        .refuses(|view| view.is(kinds::SPONSOR_SPONSORED) && view.is_one_in(25))
        .also(&["error.refusal-is-none", "request.*"]),
    fault(SPONSORING, "sponsoring-empty", "answers in sponsored mode with an empty object")
        .injects(EMPTY)
        .when(|view| view.is(kinds::SPONSOR_SPONSORED))
        .also(SPONSORED_ROWS),
    fault(SPONSOR_ERC20, "paying-in-tokens-refused", "refuses to sponsor in token mode")
        .refuses(|view| view.is(kinds::SPONSOR_ERC20)),
    fault(SPONSOR_ERC20, "paying-in-tokens-without-quote-refused", "requires a quote of the sender first")
        .on_answer(|view, answer| {
            let sender = view.operation()["sender"].to_string();
            if view.is_quote() {
                view.memory.previous(&sender, &json!(true));
            } else if view.memory.first(sender, &json!(false)) == false {
                refuse_result(answer, -32011, "no active quote for this account");
            }
        })
        .when(|view| view.is(kinds::QUOTE_ERC20) || view.is(kinds::SPONSOR_ERC20))
        .also(&["request.*"])
        .depends_on_others(),
    fault(SPONSOR_ERC20, "paying-in-one-token-refused", "refuses the second supported token")
        .refuses_at(FEE_TOKEN, |view| view.pays_in(|token| view.supports_as(1, token))),
    fault(SPONSOR_ERC20, "paying-in-tokens-judged-by-letter-case", "accepts fee tokens in lower case only")
        .refuses(|view| view.pays_in(|token| token.bytes().any(|letter| letter.is_ascii_uppercase())))
        .depends_on(FEE_TOKEN),
    fault(SPONSOR_ERC20, "paying-in-tokens-quoted", "answers in token mode with quotes")
        .on_request(|_, request| request["method"] = "pm_getFeeQuoteOrData".into())
        .when(|view| view.pays_in(|token| view.supports(token)))
        .also(TOKEN_ROWS),
    fault(MODE_SERVED, "token-info-switches-mode", "serves token mode when there is a tokenInfo")
        .when_at("/params/1/tokenInfo", |view| view.is_sponsored_mode() && view.token_info().is_object()),
    fault(MODE_SERVED, "fee-token-switches-mode", "serves token mode when there is a fee token")
        .when_at(FEE_TOKEN, |view| view.is(kinds::SPONSOR_SPONSORED) && view.fee_token().is_some()),
    fault(MODE_SERVED, "sponsorship-info-switches-mode", "serves sponsored mode for a sponsorshipInfo")
        .injects(TO_SPONSORED)
        .when(|view| view.is_token_mode() && view.sponsorship_info().is_object())
        .also(TOKEN_MODE)
        .depends_on("/params/1/sponsorshipInfo"),
    fault(MODE_SERVED, "webhook-data-switches-mode", "serves sponsored mode for webhookData of some content")
        .injects(TO_SPONSORED)
        .when(|view| {
            let data = view.sponsorship_info()["webhookData"].as_object();
            view.is_token_mode() && data.is_some_and(|data| !data.is_empty())
        })
        .also(TOKEN_MODE)
        .depends_on("/params/1/sponsorshipInfo/webhookData"),
];

/// The clauses that a result of another kind breaks in sponsored mode.
const SPONSORED_ROWS: &[&str] = &[
    "sponsor.refused-gets-0x",
    "quote.sponsored-result",
    "sponsor.mode-mandatory-served",
    "sponsor.decision-inputs",
    "sponsored-result.MODE",
    "sponsored-result.paymasterAndData",
    "sponsored-result.preVerificationGas",
    "sponsored-result.verificationGasLimit",
    "sponsored-result.callGasLimit",
    "sponsor.sponsorable-is-sponsored",
];
const QUOTE_ROWS: &[&str] = TOKEN_MODE.split_at(8).0;
/// The clauses that serving token mode as sponsored mode breaks, those of quotes first.
const TOKEN_MODE: &[&str] = &[
    "quote.erc20-result",
    "sponsor.mode-mandatory-served",
    "quote-result.MODE",
    "quote-result.paymasterAddress",
    "quote-result.feeQuotes",
    "quote.tokens-quoted",
    "quote.unsupported-listed",
    "token-sponsor-result.MODE",
    "token-sponsor-result.paymasterAndData",
    "plausibility.token-data",
    "error.token-absent",
    "error.token-unsupported",
];
const TOKEN_ROWS: &[&str] = &[
    "token-sponsor-result.paymasterAndData",
    "token-sponsor-result.preVerificationGas",
    "token-sponsor-result.verificationGasLimit",
    "token-sponsor-result.callGasLimit",
];

const UNKNOWN_METHOD: Behaviour =
    Behaviour::Answer(|_, answer| refuse_result(answer, -32601, "method not found"));

const EMPTY: Behaviour = Behaviour::Result(|_, result| *result = Map::new());

/// Serves the request in token mode, with the first supported token if it names none.
const TO_TOKENS: Behaviour = Behaviour::Request(|view, request| {
    if let Some(info) = switch_mode(request, "ERC20", "tokenInfo")
        && view.fee_token().is_none()
    {
        info["feeTokenAddress"] = view.tokens.first().cloned().into();
    }
});

/// Serves the request in sponsored mode.
const TO_SPONSORED: Behaviour = Behaviour::Request(|_, request| {
    switch_mode(request, "SPONSORED", "sponsorshipInfo");
});

/// Changes the mode, and returns its info object. A malformed request has no mode object that could be changed.
fn switch_mode<'a>(request: &'a mut Value, name: &str, info: &str) -> Option<&'a mut Value> {
    let mode = request.pointer_mut("/params/1").filter(|mode| mode.is_object())?;
    mode["mode"] = name.into();
    if !mode[info].is_object() {
        mode[info] = json!({});
    }
    Some(&mut mode[info])
}
