//! Faults of the tokens that a quote result quotes or lists as unsupported (sections 2.5, 2.7 and 4.1).
//!
//! When a preferred token and a list are both present, quoting only one of them is a lawful reading of the specification.
//! So these faults drop only tokens that every reading quotes.

use paymaster_schemas::kinds;
use serde_json::{Map, Value, json};

use crate::faults::{Fault, NATIVE_COIN, PREFERRED, fault};
use crate::injection::{
    Behaviour, RequestView, SwappedPart, has_quotes, list, list_as_unsupported, quotes, remove, retain, set,
};

const LISTED: Fault = Fault::breaking("quote.unsupported-listed");
const SOME_LISTED: Fault = LISTED.depends_on_the_request();
const ONLY_UNSUPPORTED: Fault = Fault::breaking("quote.unsupported-only-unsupported");
const QUOTED: Fault = Fault::breaking("quote.tokens-quoted");
const SOME_QUOTED: Fault = QUOTED.depends_on_the_request();
const ONLY_REQUESTED: Fault = Fault::breaking("quote.only-requested");

const QUOTES: &str = "feeQuotes";
const UNSUPPORTED: &str = "unsupportedTokens";

/// A token that no request names and no service supports.
const UNREQUESTED_TOKEN: &str = "0x00000000000000000000000000000000000a5ced";

pub(crate) const FAULTS: &[Fault] = &[
    fault(SOME_LISTED, "unsupported-never-listed", "unsupportedTokens is always empty")
        .on_result(|_, result| clear_if(true, result, UNSUPPORTED)),
    fault(SOME_LISTED, "unsupported-left-out", "leaves unsupportedTokens out")
        .on_result(|_, result| remove(result, UNSUPPORTED)),
    fault(SOME_LISTED, "unsupported-only-first", "lists the first unsupported token only")
        .on_result(|_, result| retain(result, UNSUPPORTED, |index, _| index == 0)),
    fault(
        SOME_LISTED,
        "unsupported-without-last",
        "leaves the last unsupported token out when there are several",
    )
    .on_result(|_, result| {
        if let Some(tokens) = list(result, UNSUPPORTED).filter(|tokens| tokens.len() > 1) {
            tokens.pop();
        }
    }),
    fault(LISTED, "unsupported-without-preferred", "leaves an unsupported preferred token out")
        .on_result(|view, result| retain(result, UNSUPPORTED, |_, token| !view.prefers(token)))
        .depends_on(PREFERRED),
    fault(LISTED, "unsupported-only-preferred", "lists no unsupported token of the list")
        .on_result(|view, result| retain(result, UNSUPPORTED, |_, token| view.prefers(token)))
        .depends_on("/params/1/tokenInfo/tokenList"),
    fault(SOME_LISTED, "unsupported-only-when-all", "lists unsupported tokens only when nothing is quoted")
        .on_result(|_, result| clear_if(has_quotes(result), result, UNSUPPORTED)),
    fault(SOME_LISTED, "unsupported-only-when-some-quoted", "lists unsupported tokens only beside quotes")
        .on_result(|_, result| clear_if(!has_quotes(result), result, UNSUPPORTED)),
    fault(LISTED, "unsupported-lost-again", "lists no unsupported token when the same bytes come again")
        .depends_on_others()
        .on_result(|view, result| clear_if(view.is_repeated(), result, UNSUPPORTED)),
    fault(LISTED, "unsupported-lost-beside-sponsorship-info", "lists no token beside a sponsorshipInfo")
        .on_result(|_, result| clear_if(true, result, UNSUPPORTED))
        .when(|view| view.sponsorship_info().is_object()),
    fault(LISTED, "unsupported-lost-when-refused", "lists no unsupported token to a refused sender")
        .on_result(|_, result| clear_if(true, result, UNSUPPORTED))
        .when(|view| view.is_denied()),
    fault(SOME_LISTED, "native-coin-not-listed", "leaves the placeholder of the native coin out").on_result(
        |_, result| retain(result, UNSUPPORTED, |_, token| !token.eq_ignore_ascii_case(NATIVE_COIN)),
    ),
    fault(LISTED, "unsupported-lost-now-and-then", "lists no unsupported token in 1 of 25 answers")
        .on_result(|_, result| clear_if(true, result, UNSUPPORTED))
        .when(|view| {
            view.names_both()
                && view.token_list().iter().any(|token| !view.supports(token))
                && view.is_one_in(25)
        })
        .also(&["request.json-notation"]),
    fault(ONLY_UNSUPPORTED, "unsupported-lists-supported", "lists supported tokens as unsupported too")
        .on_result(|view, result| {
            let named: Vec<Value> = view.named_tokens().map(Value::from).collect();
            set(result, "unsupportedTokens", named);
        })
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    fault(ONLY_UNSUPPORTED, "unsupported-lists-preferred", "lists a supported preferredToken as unsupported")
        .on_result(|view, result| {
            if let Some(preferred) = view.preferred() {
                list_unsupported(result, preferred);
            }
        })
        .when_at(PREFERRED, |view| view.preferred().is_some_and(|token| view.supports(token))),
    fault(ONLY_UNSUPPORTED, "unsupported-lists-unasked", "lists a token that was not requested")
        .on_result(|_, result| list_unsupported(result, UNREQUESTED_TOKEN))
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    fault(ONLY_UNSUPPORTED, "unsupported-lists-unasked-beside-others", "lists one more when it lists any")
        .on_result(|_, result| {
            if has_unsupported(result) {
                list_unsupported(result, UNREQUESTED_TOKEN);
            }
        })
        .depends_on_the_request(),
    fault(QUOTED, "quotes-none", "quotes nothing").on_result(|_, result| clear_if(true, result, QUOTES)),
    fault(
        SOME_QUOTED,
        "quotes-without-last-of-list",
        "skips the last token of a list without a preferred one",
    )
    .on_result(|view, result| {
        if view.preferred().is_none() && !view.token_list().is_empty() {
            let last = quotes(result).count().saturating_sub(1);
            retain(result, QUOTES, |index, _| index < last);
        }
    }),
    fault(
        SOME_QUOTED,
        "quotes-without-first-listed",
        "skips the first token of a list beside a preferred one",
    )
    .on_result(|view, result| {
        let list = view.token_list();
        if let Some(first) = list.first().filter(|first| !view.prefers(first)) {
            retain(result, QUOTES, |_, token| !token.eq_ignore_ascii_case(first));
        }
    })
    .when(|view| view.preferred().is_some()),
    fault(QUOTED, "quotes-without-preferred-of-list", "does not quote a preferred token that is listed too")
        .on_result(|view, result| {
            retain(result, QUOTES, |_, token| !(view.prefers(token) && view.times_listed(token) > 0));
        }),
    fault(QUOTED, "quotes-judged-by-letter-case", "accepts token addresses only in lower case")
        .on_result(|view, result| {
            let unknown: Vec<&str> = view
                .named_tokens()
                .filter(|token| view.supports(token) && *token != token.to_ascii_lowercase())
                .collect();
            list_as_unsupported(result, &unknown);
        })
        .when(|view| view.is(kinds::QUOTE_ERC20))
        .also(&["quote.unsupported-only-unsupported"]),
    fault(SOME_QUOTED, "quotes-none-beside-unsupported", "quotes nothing when a token is unsupported")
        .on_result(|_, result| clear_if(has_unsupported(result), result, QUOTES)),
    fault(QUOTED, "quotes-none-of-long-lists", "quotes nothing of a list of more than 8 tokens")
        .on_result(|view, result| clear_if(view.token_list().len() > 8, result, QUOTES))
        .depends_on("/params/1/tokenInfo/tokenList"),
    fault(
        QUOTED,
        "quotes-none-of-single-lists",
        "leaves a listed token out where it is the only one beside a preferred one",
    )
    .on_result(|view, result| {
        if view.preferred().is_some() && view.token_list().len() == 1 {
            retain(result, QUOTES, |_, quoted| view.prefers(quoted));
        }
    })
    .depends_on("/params/1/tokenInfo/tokenList"),
    fault(QUOTED, "quotes-none-of-repeated", "does not quote a token that is listed twice")
        .on_result(|view, result| retain(result, QUOTES, |_, quoted| view.times_listed(quoted) < 2))
        .depends_on("/params/1/tokenInfo/tokenList"),
    fault(SOME_QUOTED, "quotes-without-one-token", "never quotes the second supported token")
        .on_result(|view, result| retain(result, QUOTES, |_, quoted| !view.supports_as(1, quoted))),
    fault(QUOTED, "quotes-lost-now-and-then", "quotes nothing in 1 of 25 answers")
        .on_result(|_, result| clear_if(true, result, QUOTES))
        .when(|view| names_supported(view) && view.is_one_in(25))
        .also(&["request.json-notation"]),
    fault(QUOTED, "quotes-cross", "swaps the results of concurrent quotes")
        .injects(Behaviour::Swap(SwappedPart::Result))
        .when(|view| view.is(kinds::QUOTE_ERC20))
        .also(&[
            "interoperability.client-forms",
            "plausibility.fee-of-operation",
            "quote.only-requested",
            "quote.unsupported-listed",
            "quote.unsupported-only-unsupported",
            "request.headers",
            "request.json-notation",
        ])
        .depends_on_others(),
    fault(ONLY_REQUESTED, "quotes-all-supported", "quotes all supported tokens for every request")
        .on_request(|_, request| request["params"][1]["tokenInfo"] = json!({}))
        .when(|view| names_supported(view) && view.named_tokens().all(|token| view.supports(token))),
    fault(ONLY_REQUESTED, "quotes-one-more", "quotes an additional token that was not requested")
        .on_request(|view, request| {
            let named: Vec<&str> = view.named_tokens().collect();
            let other =
                view.tokens.iter().find(|token| !named.iter().any(|named| named.eq_ignore_ascii_case(token)));
            if let (Some(other), Some(Value::Array(list))) =
                (other, request["params"][1]["tokenInfo"].get_mut("tokenList"))
            {
                list.push(other.as_str().into());
            }
        })
        .when(names_supported),
    fault(ONLY_REQUESTED, "quotes-unknown-token", "quotes an unasked token instead of an unsupported one")
        .depends_on_the_request()
        .on_result(|view, result| {
            let quote = quotes(result).next().cloned();
            if let (Some(mut quote), Some(Value::Array(all))) = (quote, result.get_mut(QUOTES))
                && view.named_tokens().any(|token| !view.supports(token))
            {
                set(&mut quote, "tokenAddress", UNREQUESTED_TOKEN);
                all.push(Value::Object(quote));
            }
        })
        // The additional quote has the symbol, decimals and rate of the first one.
        .also(&[
            "fee-quote.symbol",
            "fee-quote.decimal",
            "plausibility.token-price",
            "plausibility.exchange-rate",
        ]),
];

fn names_supported(view: &RequestView<'_>) -> bool {
    view.is(kinds::QUOTE_ERC20) && view.named_tokens().any(|token| view.supports(token))
}

/// Empties an array of the result.
fn clear_if(applies: bool, result: &mut Map<String, Value>, member: &str) {
    if applies {
        retain(result, member, |_, _| false);
    }
}

fn list_unsupported(result: &mut Map<String, Value>, token: &str) {
    if let Some(tokens) = list(result, UNSUPPORTED) {
        tokens.push(token.into());
    }
}

fn has_unsupported(result: &mut Map<String, Value>) -> bool {
    list(result, UNSUPPORTED).is_some_and(|tokens| !tokens.is_empty())
}
