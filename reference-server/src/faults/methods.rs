//! What the two methods answer with (sections 4, 4.1 and 4.2).

use paymaster_schemas::Pair;
use serde_json::{Map, Value, json};

use super::Fault;
use crate::deviations::Act;

const BOTH: &str = "endpoint.both-methods";
const QUOTE_SPONSORED: &str = "quote.sponsored-result";
const QUOTE_ERC20: &str = "quote.erc20-result";
const SPONSOR_SPONSORED: &str = "sponsor.sponsored-result";
const SPONSOR_ERC20: &str = "sponsor.erc20-result";
const MODE_SERVED: &str = "sponsor.mode-mandatory-served";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        BOTH,
        "quote-method-unknown",
        "does not know pm_getFeeQuoteOrData",
        unknown_method(),
    )
    .when(|asked| asked.is_quote())
    .also(&["error.refusal-is-none", "json-rpc.*"]),
    Fault::of(
        BOTH,
        "sponsor-method-unknown",
        "does not know pm_sponsorUserOperation",
        unknown_method(),
    )
    .when(|asked| asked.is_sponsor())
    .also(&["error.refusal-is-none", "json-rpc.*"]),
    Fault::refusal(
        QUOTE_SPONSORED,
        "sponsored-quote-refused",
        "refuses quotes in sponsored mode",
        |asked| asked.is(Pair::QUOTE_SPONSORED),
    )
    .also(&["error.refusal-is-none"]),
    Fault::of(
        QUOTE_SPONSORED,
        "sponsored-quote-empty",
        "answers quotes in sponsored mode with an empty object",
        empty(),
    )
    .when(|asked| asked.is(Pair::QUOTE_SPONSORED))
    .also(SPONSORED_ROWS),
    Fault::of(
        QUOTE_SPONSORED,
        "sponsored-quote-of-tokens",
        "answers quotes in sponsored mode with token quotes",
        to_tokens(),
    )
    .when(|asked| asked.is(Pair::QUOTE_SPONSORED))
    .also(SPONSORED_ROWS),
    Fault::refusal(
        QUOTE_ERC20,
        "token-quote-refused",
        "refuses quotes in token mode",
        |asked| asked.is(Pair::QUOTE_ERC20),
    ),
    Fault::refusal(
        QUOTE_ERC20,
        "token-quote-refused-now-and-then",
        "refuses 1 of 25 quotes in token mode",
        |asked| asked.is(Pair::QUOTE_ERC20) && asked.now_and_then(),
    )
    .also(&["error.unsupported-quote-is-none", "request.*"]),
    Fault::of(
        QUOTE_ERC20,
        "token-quote-sponsored",
        "answers quotes in token mode with a sponsorship",
        to_sponsored(),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_ROWS),
    Fault::of(
        QUOTE_ERC20,
        "token-quote-empty",
        "answers quotes in token mode with an empty object",
        empty(),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_ROWS),
    Fault::refusal(
        SPONSOR_SPONSORED,
        "sponsoring-refused",
        "refuses to sponsor in sponsored mode",
        |asked| asked.is(Pair::SPONSOR_SPONSORED),
    )
    .also(&["error.refusal-is-none"]),
    Fault::refusal(
        SPONSOR_SPONSORED,
        "sponsoring-refused-now-and-then",
        "refuses to sponsor 1 of 25 operations in sponsored mode",
        |asked| asked.is(Pair::SPONSOR_SPONSORED) && asked.now_and_then(),
    )
    .also(&["error.refusal-is-none", "request.*"]),
    Fault::of(
        SPONSOR_SPONSORED,
        "sponsoring-empty",
        "answers in sponsored mode with an empty object",
        empty(),
    )
    .when(|asked| asked.is(Pair::SPONSOR_SPONSORED))
    .also(SPONSORED_ROWS),
    Fault::refusal(
        SPONSOR_ERC20,
        "paying-in-tokens-refused",
        "refuses to sponsor in token mode",
        |asked| asked.is(Pair::SPONSOR_ERC20),
    ),
    Fault::refusal(
        SPONSOR_ERC20,
        "paying-in-one-token-refused",
        "refuses the second supported token",
        |asked| {
            asked.is(Pair::SPONSOR_ERC20)
                && asked
                    .fee_token()
                    .zip(asked.tokens.get(1))
                    .is_some_and(|(named, second)| named.eq_ignore_ascii_case(second))
        },
    ),
    Fault::refusal(
        SPONSOR_ERC20,
        "paying-in-tokens-judged-by-letter-case",
        "knows the address of a token to pay in only in lower case",
        |asked| {
            let token = asked.fee_token();
            asked.is(Pair::SPONSOR_ERC20)
                && token.is_some_and(|token| token.contains(|letter: char| letter.is_ascii_uppercase()))
        },
    ),
    Fault::of(
        SPONSOR_ERC20,
        "paying-in-tokens-quoted",
        "answers in token mode with quotes",
        Act::Request(|_, request| {
            request["method"] = "pm_getFeeQuoteOrData".into();
        }),
    )
    .when(|asked| {
        asked.is(Pair::SPONSOR_ERC20) && asked.fee_token().is_some_and(|token| asked.supports(token))
    })
    .also(TOKEN_ROWS),
    Fault::of(
        MODE_SERVED,
        "token-info-switches-mode",
        "serves token mode when there is a tokenInfo",
        to_tokens(),
    )
    .when(|asked| asked.is_sponsored_mode() && asked.token_info().is_object())
    .also(SPONSORED_ROWS),
    Fault::of(
        MODE_SERVED,
        "fee-token-switches-mode",
        "serves token mode when there is a token to pay in",
        to_tokens(),
    )
    .when(|asked| asked.is(Pair::SPONSOR_SPONSORED) && asked.fee_token().is_some())
    .also(SPONSORED_ROWS),
    Fault::of(
        MODE_SERVED,
        "sponsorship-info-switches-mode",
        "serves sponsored mode when there is a sponsorshipInfo",
        to_sponsored(),
    )
    .when(|asked| asked.is_token_mode() && asked.sponsorship_info().is_object())
    .also(TOKEN_MODE),
];

/// What an answer of another kind breaks.
const SPONSORED_ROWS: &[&str] = &[
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
const QUOTE_ROWS: &[&str] = &[
    "quote.erc20-result",
    "sponsor.mode-mandatory-served",
    "quote-result.MODE",
    "quote-result.paymasterAddress",
    "quote-result.feeQuotes",
    "quote.tokens-quoted",
    "quote.unsupported-listed",
    "token-sponsor-result.MODE",
];
/// What token mode as a whole breaks when it is served as sponsored mode.
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
    "error.token-absent",
    "error.token-unsupported",
];
const TOKEN_ROWS: &[&str] = &[
    "token-sponsor-result.paymasterAndData",
    "token-sponsor-result.preVerificationGas",
    "token-sponsor-result.verificationGasLimit",
    "token-sponsor-result.callGasLimit",
];

const fn unknown_method() -> Act {
    Act::Answer(|_, answer| {
        if answer.shift_remove("result").is_some() {
            answer.insert(
                "error".to_owned(),
                json!({ "code": -32601, "message": "method not found" }),
            );
        }
    })
}

const fn empty() -> Act {
    Act::Result(|_, result| *result = Map::new())
}

/// Serves token mode, with a token where the request names none.
const fn to_tokens() -> Act {
    Act::Request(|asked, request| {
        // Malformed requests stay as they are: there is nothing to put a mode into.
        let Some(mode) = request.pointer_mut("/params/1").filter(|mode| mode.is_object()) else {
            return;
        };
        mode["mode"] = "ERC20".into();
        if !mode["tokenInfo"].is_object() {
            mode["tokenInfo"] = json!({});
        }
        if asked.fee_token().is_none() {
            mode["tokenInfo"]["feeTokenAddress"] = asked.tokens.first().cloned().into();
        }
    })
}

/// Serves sponsored mode.
const fn to_sponsored() -> Act {
    Act::Request(|_, request| {
        let Some(mode) = request.pointer_mut("/params/1").filter(|mode| mode.is_object()) else {
            return;
        };
        mode["mode"] = "SPONSORED".into();
        if !mode["sponsorshipInfo"].is_object() {
            mode["sponsorshipInfo"] = Value::Object(Map::new());
        }
    })
}
