//! Faults that compare addresses as text, letter case included.

use paymaster_schemas::kinds;
use serde_json::{Map, Value};

use super::SERVE_FIRST_TOKEN;
use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, list, quotes, replace_refusal, retain, text_of};

const REFUSED: Fault =
    Fault::breaking("sponsor.refused-gets-0x").injects(SPONSOR).depends_on("/params/0/sender");
const SPONSORED: Fault = Fault::breaking("sponsor.sponsorable-is-sponsored");

pub(in crate::faults) const FAULTS: &[Fault] = &[
    fault(REFUSED, "refused-senders-by-letter-case", "sponsors refused senders that are not in lower case")
        .when(|view| view.is_sponsored_mode() && view.text("sender") != view.text("sender").to_lowercase()),
    fault(REFUSED, "refused-senders-in-capitals-sponsored", "sponsors refused senders in capital letters")
        .when(|view| view.is_sponsored_mode() && is_in_capitals(view.text("sender"))),
    fault(SPONSORED, "senders-in-capitals-not-sponsored", "sponsors no sender in capital letters")
        .injects(Behaviour::SPONSOR_NOTHING)
        .when(|view| view.is_sponsored_mode() && is_in_capitals(view.text("sender")))
        .depends_on("/params/0/sender"),
    Fault::new(
        "quote.tokens-quoted",
        "listed-tokens-in-capitals-unsupported",
        "finds no token of a list in capitals",
    )
    .on_result(|view, result| {
        let unknown: Vec<&str> =
            view.token_list().into_iter().filter(|token| is_in_capitals(token)).collect();
        list_as_unsupported(result, &unknown);
    })
    .when(|view| view.is(kinds::QUOTE_ERC20))
    .also(&["quote.unsupported-only-unsupported"])
    .depends_on("/params/1/tokenInfo/tokenList"),
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
    Fault::new(
        "error.token-unsupported",
        "unsupported-token-in-capitals-served",
        "serves unsupported tokens in capitals",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.pays_in(|token| is_in_capitals(token) && !view.supports(token)))
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new("sponsor.erc20-result", "checksum-fee-token-refused", "refuses fee tokens with capitals")
        .refuses(|view| view.pays_in(|token| view.supports(token) && token != token.to_lowercase()))
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
];

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

fn list_as_unsupported(result: &mut Map<String, Value>, unknown: &[&str]) {
    let is_unknown = |token: &str| unknown.iter().any(|other| other.eq_ignore_ascii_case(token));
    let quoted = quotes(result).map(|quote| quote["tokenAddress"].clone());
    let quoted: Vec<Value> = quoted.filter(|token| is_unknown(&text_of(token))).collect();
    retain(result, "feeQuotes", |_, token| !is_unknown(token));
    if let Some(tokens) = list(result, "unsupportedTokens") {
        tokens.extend(quoted);
    }
}
