//! Which tokens a quote holds and which it calls unsupported (sections 2.5, 2.7 and 4.1).
//!
//! With a preferred token and a list both present, quoting only one of them is a reading of the specification; so these
//! faults drop only tokens that every reading quotes.

use paymaster_schemas::Pair;
use serde_json::{Map, Value, json};

use super::Fault;
use crate::deviations::{Act, Asked, Part, quotes, text_of};

const LISTED: &str = "quote.unsupported-listed";
const ONLY_UNSUPPORTED: &str = "quote.unsupported-only-unsupported";
const QUOTED: &str = "quote.tokens-quoted";
const ONLY_REQUESTED: &str = "quote.only-requested";

/// No token of anybody.
const UNASKED_TOKEN: &str = "0x00000000000000000000000000000000000a5ced";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        LISTED,
        "unsupported-never-listed",
        "unsupportedTokens is always empty",
        Act::Result(|_, result| {
            retain_unsupported(result, |_, _| false);
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-left-out",
        "leaves unsupportedTokens out",
        Act::Result(|_, result| {
            result.shift_remove("unsupportedTokens");
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-only-first",
        "lists the first unsupported token only",
        Act::Result(|_, result| {
            retain_unsupported(result, |index, _| index == 0);
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-without-last",
        "leaves the last unsupported token out when there are several",
        Act::Result(|_, result| {
            if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens")
                && tokens.len() > 1
            {
                tokens.pop();
            }
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-without-preferred",
        "leaves an unsupported preferred token out",
        Act::Result(|asked, result| {
            let preferred = asked.preferred().unwrap_or_default();
            retain_unsupported(result, |_, token| !token.eq_ignore_ascii_case(preferred));
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-only-preferred",
        "lists no unsupported token of the list",
        Act::Result(|asked, result| {
            let preferred = asked.preferred().unwrap_or_default();
            retain_unsupported(result, |_, token| token.eq_ignore_ascii_case(preferred));
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-only-when-all",
        "lists unsupported tokens only when nothing is quoted",
        Act::Result(|_, result| {
            if quotes(result).next().is_some() {
                retain_unsupported(result, |_, _| false);
            }
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-only-when-some-quoted",
        "lists unsupported tokens only when something is quoted",
        Act::Result(|_, result| {
            if quotes(result).next().is_none() {
                retain_unsupported(result, |_, _| false);
            }
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-lost-again",
        "lists no unsupported token when the same bytes come again",
        Act::Result(|asked, result| {
            if asked
                .memory
                .knows(String::from_utf8_lossy(asked.raw).into_owned())
            {
                retain_unsupported(result, |_, _| false);
            }
        }),
    ),
    Fault::of(
        LISTED,
        "unsupported-lost-beside-sponsorship-info",
        "lists no unsupported token when there is a sponsorshipInfo",
        Act::Result(|_, result| {
            retain_unsupported(result, |_, _| false);
        }),
    )
    .when(|asked| asked.sponsorship_info().is_object()),
    Fault::of(
        LISTED,
        "unsupported-lost-now-and-then",
        "lists no unsupported token in 1 of 25 answers",
        Act::Result(|_, result| {
            retain_unsupported(result, |_, _| false);
        }),
    )
    .when(|asked| {
        names_both(asked)
            && asked.token_list().iter().any(|token| !asked.supports(token))
            && asked.now_and_then()
    })
    .also(&["request.json-notation"]),
    Fault::of(
        ONLY_UNSUPPORTED,
        "unsupported-lists-supported",
        "lists supported tokens as unsupported too",
        Act::Result(|asked, result| {
            let named: Vec<Value> = all_named(asked).map(Value::from).collect();
            result.insert("unsupportedTokens".to_owned(), named.into());
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20)),
    Fault::of(
        ONLY_UNSUPPORTED,
        "unsupported-lists-preferred",
        "lists a supported preferred token as unsupported",
        Act::Result(|asked, result| {
            if let Some(preferred) = asked.preferred() {
                list_unsupported(result, preferred);
            }
        }),
    )
    .when(|asked| asked.preferred().is_some_and(|token| asked.supports(token))),
    Fault::of(
        ONLY_UNSUPPORTED,
        "unsupported-lists-unasked",
        "lists a token that nobody asked for",
        Act::Result(|_, result| {
            list_unsupported(result, UNASKED_TOKEN);
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20)),
    Fault::of(
        ONLY_UNSUPPORTED,
        "unsupported-lists-unasked-beside-others",
        "lists a further token when it lists any",
        Act::Result(|_, result| {
            if result
                .get("unsupportedTokens")
                .and_then(Value::as_array)
                .is_some_and(|tokens| !tokens.is_empty())
            {
                list_unsupported(result, UNASKED_TOKEN);
            }
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-none",
        "quotes nothing",
        Act::Result(|_, result| {
            retain_quotes(result, |_, _| false);
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-without-last-of-list",
        "does not quote the last token of a list without a preferred one",
        Act::Result(|asked, result| {
            if asked.preferred().is_none() && !asked.token_list().is_empty() {
                let last = quotes(result).count().saturating_sub(1);
                retain_quotes(result, |index, _| index < last);
            }
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-without-first-listed",
        "does not quote the first token of a list beside a preferred one",
        Act::Result(|asked, result| {
            let preferred = asked.preferred().unwrap_or_default();
            let list = asked.token_list();
            if let Some(first) = list
                .first()
                .filter(|first| !first.eq_ignore_ascii_case(preferred))
            {
                retain_quotes(result, |_, token| !token.eq_ignore_ascii_case(first));
            }
        }),
    )
    .when(|asked| asked.preferred().is_some()),
    Fault::of(
        QUOTED,
        "quotes-without-preferred-of-list",
        "does not quote a preferred token that is in the list too",
        Act::Result(|asked, result| {
            let preferred = asked.preferred().unwrap_or_default();
            if asked
                .token_list()
                .iter()
                .any(|token| token.eq_ignore_ascii_case(preferred))
            {
                retain_quotes(result, |_, token| !token.eq_ignore_ascii_case(preferred));
            }
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-judged-by-letter-case",
        "knows token addresses only in lower case",
        Act::Result(|asked, result| {
            let unknown: Vec<&str> = all_named(asked)
                .filter(|token| asked.supports(token) && *token != token.to_ascii_lowercase())
                .collect();
            retain_quotes(result, |_, quoted| {
                !unknown.iter().any(|token| token.eq_ignore_ascii_case(quoted))
            });
            for token in unknown {
                list_unsupported(result, token);
            }
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(&["quote.unsupported-only-unsupported"]),
    Fault::of(
        QUOTED,
        "quotes-none-beside-unsupported",
        "quotes nothing when a token is unsupported",
        Act::Result(|_, result| {
            let unsupported = result.get("unsupportedTokens").and_then(Value::as_array);
            if unsupported.is_some_and(|tokens| !tokens.is_empty()) {
                retain_quotes(result, |_, _| false);
            }
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-none-of-long-lists",
        "quotes nothing of a list of more than 8 tokens",
        Act::Result(|asked, result| {
            if asked.token_list().len() > 8 {
                retain_quotes(result, |_, _| false);
            }
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-none-of-repeated",
        "does not quote a token that is listed twice",
        Act::Result(|asked, result| {
            let list = asked.token_list();
            retain_quotes(result, |_, quoted| {
                list.iter()
                    .filter(|token| token.eq_ignore_ascii_case(quoted))
                    .count()
                    < 2
            });
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-without-one-token",
        "never quotes the second supported token",
        Act::Result(|asked, result| {
            retain_quotes(result, |_, quoted| {
                asked
                    .tokens
                    .get(1)
                    .is_none_or(|second| !second.eq_ignore_ascii_case(quoted))
            });
        }),
    ),
    Fault::of(
        QUOTED,
        "quotes-lost-now-and-then",
        "quotes nothing in 1 of 25 answers",
        Act::Result(|_, result| {
            retain_quotes(result, |_, _| false);
        }),
    )
    .when(|asked| names_supported(asked) && asked.now_and_then())
    .also(&["request.json-notation"]),
    Fault::of(
        QUOTED,
        "quotes-cross",
        "gives concurrent quotes each other's results",
        Act::Cross(Part::Result),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(&[
        "quote.only-requested",
        "quote.unsupported-listed",
        "quote.unsupported-only-unsupported",
        "request.json-notation",
    ]),
    Fault::of(
        ONLY_REQUESTED,
        "quotes-all-supported",
        "quotes all supported tokens, whatever was asked",
        Act::Request(|_, request| {
            request["params"][1]["tokenInfo"] = json!({});
        }),
    )
    .when(|asked| names_supported(asked) && all_named(asked).all(|token| asked.supports(token))),
    Fault::of(
        ONLY_REQUESTED,
        "quotes-one-more",
        "quotes a further token beside those asked for",
        Act::Request(|asked, request| {
            let named: Vec<&str> = all_named(asked).collect();
            let other = asked
                .tokens
                .iter()
                .find(|token| !named.iter().any(|named| named.eq_ignore_ascii_case(token)));
            if let (Some(other), Some(Value::Array(list))) =
                (other, request["params"][1]["tokenInfo"].get_mut("tokenList"))
            {
                list.push(other.as_str().into());
            }
        }),
    )
    .when(names_supported),
    Fault::of(
        ONLY_REQUESTED,
        "quotes-unknown-token",
        "quotes a token that nobody asked for in place of an unsupported one",
        Act::Result(|asked, result| {
            let quote = quotes(result).next().cloned();
            if let (Some(mut quote), Some(Value::Array(all))) = (quote, result.get_mut("feeQuotes"))
                && all_named(asked).any(|token| !asked.supports(token))
            {
                quote.insert("tokenAddress".to_owned(), UNASKED_TOKEN.into());
                all.push(Value::Object(quote));
            }
        }),
    )
    // It has the symbol of whatever was quoted first.
    .also(&["fee-quote.symbol", "fee-quote.decimal"]),
];

fn names_both(asked: &Asked<'_>) -> bool {
    asked.is(Pair::QUOTE_ERC20) && asked.preferred().is_some() && !asked.token_list().is_empty()
}

/// Every token that a quote names, the preferred one first.
fn all_named<'a>(asked: &'a Asked<'_>) -> impl Iterator<Item = &'a str> {
    asked.preferred().into_iter().chain(asked.token_list())
}

fn names_supported(asked: &Asked<'_>) -> bool {
    asked.is(Pair::QUOTE_ERC20) && all_named(asked).any(|token| asked.supports(token))
}

fn retain_unsupported(result: &mut Map<String, Value>, keep: impl Fn(usize, &str) -> bool) {
    if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
        let mut index = 0;
        tokens.retain(|token| {
            index += 1;
            keep(index - 1, token.as_str().unwrap_or_default())
        });
    }
}

fn retain_quotes(result: &mut Map<String, Value>, keep: impl Fn(usize, &str) -> bool) {
    if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
        let mut index = 0;
        quotes.retain(|quote| {
            index += 1;
            keep(index - 1, &text_of(&quote["tokenAddress"]))
        });
    }
}

fn list_unsupported(result: &mut Map<String, Value>, token: &str) {
    if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
        tokens.push(token.into());
    }
}
