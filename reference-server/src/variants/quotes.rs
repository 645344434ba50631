//! Which tokens a quote holds, where the specification leaves it open.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::Variant;
use crate::deviations::{Act, Asked, each_quote, text_of};

pub(super) const VARIANTS: &[Variant] = &[
    Variant::of(
        "quotes-reversed",
        "quotes come in reverse order",
        Act::Result(|_, result| {
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                quotes.reverse();
            }
            if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
                tokens.reverse();
            }
        }),
    ),
    Variant::of(
        "quotes-preferred-alone",
        "with a preferred token and a list, quotes the preferred token",
        Act::Result(|asked, result| {
            let preferred = asked.preferred().unwrap_or_default();
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                quotes.retain(|quote| text_of(&quote["tokenAddress"]).eq_ignore_ascii_case(preferred));
            }
        }),
    )
    .when(names_both),
    Variant::of(
        "quotes-list-alone",
        "with a preferred token and a list, quotes the list",
        Act::Result(|asked, result| {
            let list = asked.token_list();
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                quotes.retain(|quote| {
                    let quoted = text_of(&quote["tokenAddress"]);
                    list.iter().any(|token| token.eq_ignore_ascii_case(&quoted))
                });
            }
        }),
    )
    .when(names_both),
    Variant::of(
        "quotes-repeated",
        "quotes a token as often as it is listed",
        Act::Result(|asked, result| {
            let list = asked.token_list();
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                *quotes = quotes
                    .iter()
                    .flat_map(|quote| {
                        let times = times_listed(&list, &text_of(&quote["tokenAddress"]));
                        std::iter::repeat_n(quote.clone(), times)
                    })
                    .collect();
            }
        }),
    ),
    Variant::of(
        "unsupported-repeated",
        "lists an unsupported token as often as it is named",
        Act::Result(|asked, result| {
            let mut named = asked.token_list();
            named.extend(asked.preferred());
            if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
                *tokens = tokens
                    .iter()
                    .flat_map(|token| {
                        std::iter::repeat_n(token.clone(), times_listed(&named, &text_of(token)))
                    })
                    .collect();
            }
        }),
    ),
    Variant::of(
        "unsupported-absent-when-none",
        "leaves unsupportedTokens out when there are none",
        Act::Result(|_, result| {
            if result
                .get("unsupportedTokens")
                .is_some_and(|tokens| tokens.as_array().is_some_and(Vec::is_empty))
            {
                result.shift_remove("unsupportedTokens");
            }
        }),
    ),
    Variant::of(
        "unsupported-only-beside-both",
        "lists unsupported tokens only when there are a preferred token and a list",
        Act::Result(|asked, result| {
            if !names_both(asked) {
                result.shift_remove("unsupportedTokens");
            }
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20)),
    Variant::of(
        "unsupported-as-requested",
        "spells quoted tokens as the request does",
        Act::Result(|asked, result| {
            let mut named = asked.token_list();
            named.extend(asked.preferred());
            for quote in crate::deviations::quotes(result) {
                let quoted = text_of(&quote["tokenAddress"]);
                if let Some(named) = named.iter().find(|named| named.eq_ignore_ascii_case(&quoted)) {
                    quote.insert("tokenAddress".to_owned(), (*named).into());
                }
            }
        }),
    ),
    Variant::of(
        "empty-token-list-quotes-none",
        "quotes nothing when no token is named",
        Act::Result(|_, result| {
            result.insert("feeQuotes".to_owned(), json!([]));
        }),
    )
    .when(|asked| {
        asked.is(Pair::QUOTE_ERC20) && asked.preferred().is_none() && asked.token_list().is_empty()
    }),
    Variant::of(
        "logo-as-data",
        "logoUrl is a data URL",
        Act::Result(|_, result| {
            each_quote(result, "logoUrl", |_| "data:image/svg+xml;base64,PHN2Zy8+".into());
        }),
    ),
    Variant::of(
        "logo-on-ipfs",
        "logoUrl is an ipfs URL",
        Act::Result(|_, result| {
            each_quote(result, "logoUrl", |_| {
                "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi".into()
            });
        }),
    ),
];

fn names_both(asked: &Asked<'_>) -> bool {
    asked.is(Pair::QUOTE_ERC20) && asked.preferred().is_some() && !asked.token_list().is_empty()
}

/// At least once: who is not in the list is there for another reason.
fn times_listed(list: &[&str], token: &str) -> usize {
    let times = list
        .iter()
        .filter(|listed| listed.eq_ignore_ascii_case(token))
        .count();
    times.max(1)
}
