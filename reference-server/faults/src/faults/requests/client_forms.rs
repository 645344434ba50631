//! Faults of requests as published clients write them: refused, or decided otherwise than plain ones. Some compare addresses as text,
//! letter case included.

use paymaster_schemas::kinds;
use serde_json::json;

use super::SERVE_FIRST_TOKEN;
use crate::faults::{CALCULATE, FEE_TOKEN, Fault, fault};
use crate::injection::{Behaviour, RequestView, each_quote, list_as_unsupported, replace_refusal, retain};

const FORMS: Fault = Fault::breaking("interoperability.client-forms");

const TOKEN_QUOTE: Fault = Fault::breaking("request.token-quote-row").depends_on(CALCULATE);
const REFUSED: Fault =
    Fault::breaking("sponsor.refused-gets-0x").injects(SPONSOR).depends_on("/params/0/sender");
const SPONSORED: Fault =
    Fault::breaking("sponsor.sponsorable-is-sponsored").injects(Behaviour::SPONSOR_NOTHING);
const QUOTED: Fault = Fault::breaking("quote.tokens-quoted");
const UNSUPPORTED: Fault =
    Fault::breaking("error.token-unsupported").injects(SERVE_FIRST_TOKEN).depends_on(FEE_TOKEN);

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("request.sponsored-name", "sponsored-refused", "accepts the mode SPONSORSHIP, not SPONSORED")
        .refuses_at("/params/1/mode", |view| view.mode_object()["mode"] == "SPONSORED"),
    fault(TOKEN_QUOTE, "gas-calculation-required-in-token-quotes", "token quotes need calculateGasLimits")
        .refuses(|view| view.is_quote() && view.is_token_mode() && view.omits("calculateGasLimits")),
    fault(UNSUPPORTED, "token-word-served", "reads a word as the first supported token")
        .when(|view| view.pays_in(|token| !token.is_empty() && !token.starts_with("0x"))),
    Fault::new("error.token-absent", "token-of-another-type-served", "serves a token that is no string")
        .injects(SERVE_FIRST_TOKEN)
        .when_at(FEE_TOKEN, |view| {
            let token = &view.token_info()["feeTokenAddress"];
            view.is(kinds::SPONSOR_ERC20) && !token.is_null() && !token.is_string()
        }),
    fault(FORMS, "client-forms-refused", "refuses operations with a signature or with paymasterAndData")
        .refuses(has_placeholder),
    fault(FORMS, "hex-nonce-refused", "refuses nonces in hex")
        .refuses_at("/params/0/nonce", |view| view.text("nonce").starts_with("0x")),
    fault(FORMS, "decimal-fees-read-as-hex", "reads a fee in decimal digits as hex digits")
        .on_request(|view, request| {
            request["params"][0]["maxFeePerGas"] = format!("0x{}", view.text("maxFeePerGas")).into();
        })
        .when_at("/params/0/maxFeePerGas", |view| {
            let fee = view.operation()["maxFeePerGas"].as_str();
            view.is_quote() && fee.is_some_and(|fee| !fee.starts_with("0x"))
        }),
    fault(FORMS, "hex-fees-read-as-zero", "quotes fees of 0 where maxFeePerGas is in hex")
        .on_result(|_, result| each_quote(result, "maxGasFee", |_| json!(0)))
        .when_at("/params/0/maxFeePerGas", |view| {
            view.is_quote() && view.text("maxFeePerGas").starts_with("0x")
        })
        .also(&["plausibility.*", "interoperability.*"]),
    fault(FORMS, "both-infos-refused", "refuses requests with both info objects")
        .refuses(|view| !view.omits("tokenInfo") && !view.omits("sponsorshipInfo")),
    fault(FORMS, "quote-expiry-refused", "refuses an expiryDuration in a quote")
        .refuses_at("/params/1/expiryDuration", |view| view.is_quote() && !view.omits("expiryDuration")),
    Fault::new("sponsor.decision-inputs", "client-forms-not-sponsored", "sponsors nothing with placeholders")
        .injects(Behaviour::SPONSOR_NOTHING)
        .when(|view| view.is_sponsored_mode() && has_placeholder(view))
        .also(&["sponsor.sponsorable-is-sponsored"]),
    Fault::new("sponsor.refused-gets-0x", "hex-nonces-always-sponsored", "sponsors whatever has a hex nonce")
        .on_result(|_, result| replace_refusal(result, &format!("0x{}", "ab".repeat(40))))
        .when(|view| view.is_sponsored_mode() && view.text("nonce").starts_with("0x"))
        .also(&["sponsor.decision-inputs"]),
    fault(REFUSED, "refused-senders-by-letter-case", "sponsors refused senders that are not in lower case")
        .when(|view| view.is_sponsored_mode() && view.text("sender") != view.text("sender").to_lowercase()),
    fault(REFUSED, "refused-senders-in-capitals-sponsored", "sponsors refused senders in capital letters")
        .when(|view| view.is_sponsored_mode() && is_in_capitals(view.text("sender"))),
    fault(SPONSORED, "senders-in-capitals-not-sponsored", "sponsors no sender in capital letters")
        .when_at("/params/0/sender", |view| view.is_sponsored_mode() && is_in_capitals(view.text("sender"))),
    fault(QUOTED, "listed-tokens-in-capitals-unsupported", "finds no token of a list in capitals")
        .on_result(|view, result| {
            let mut unknown = view.token_list();
            unknown.retain(|token| is_in_capitals(token) && view.supports(token));
            list_as_unsupported(result, &unknown);
        })
        .when_at("/params/1/tokenInfo/tokenList", |view| view.is(kinds::QUOTE_ERC20))
        .also(&["quote.unsupported-only-unsupported"]),
    Fault::new("quote.unsupported-listed", "unsupported-in-capitals-left-out", "lists no token in capitals")
        .depends_on_the_request()
        .on_result(|view, result| {
            let named: Vec<&str> = view.named_tokens().collect();
            let is_in_capitals = |token: &str| {
                let mut spelled = named.iter().filter(|named| named.eq_ignore_ascii_case(token));
                spelled.any(|named| is_in_capitals(named))
            };
            retain(result, "unsupportedTokens", |_, token| !is_in_capitals(token));
        }),
    fault(UNSUPPORTED, "unsupported-token-in-capitals-served", "serves unsupported tokens in capitals")
        .when(|view| view.pays_in(|token| is_in_capitals(token) && !view.supports(token))),
    Fault::new("sponsor.erc20-result", "checksum-fee-token-refused", "refuses fee tokens with capitals")
        .refuses(|view| view.pays_in(|token| view.supports(token) && token != token.to_lowercase()))
        .depends_on(FEE_TOKEN),
];

fn has_placeholder(view: &RequestView<'_>) -> bool {
    ["signature", "paymasterAndData"].iter().any(|name| !view.lacks(name))
}

/// Sponsors what the service does not sponsor.
const SPONSOR: Behaviour = Behaviour::Result(|_, result| {
    replace_refusal(result, &format!("0x{}", "6d".repeat(40)));
});

/// Whether an address has capital letters and no others.
fn is_in_capitals(address: &str) -> bool {
    let digits = address.strip_prefix("0x").unwrap_or_default();
    digits.bytes().any(|digit| digit.is_ascii_uppercase())
        && !digits.bytes().any(|digit| digit.is_ascii_lowercase())
}
