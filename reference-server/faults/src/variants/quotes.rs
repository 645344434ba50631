//! Variants of quotes: the tokens and values of a quote result that the specification leaves open.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::{Variant, variant};
use crate::injection::{RequestView, each_quote, remove, set, text_of};

pub(super) const VARIANTS: &[Variant] =
    &[
        variant("quotes-reversed", "quotes come in reverse order").on_result(|_, result| {
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                quotes.reverse();
            }
            if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
                tokens.reverse();
            }
        }),
        variant(
            "quotes-preferred-alone",
            "quotes only the preferred token when there are a preferred token and a list",
        )
        .on_result(|view, result| {
            let preferred = view.preferred().unwrap_or_default();
            if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                quotes.retain(|quote| text_of(&quote["tokenAddress"]).eq_ignore_ascii_case(preferred));
            }
        })
        .when(names_both),
        variant("quotes-list-alone", "quotes only the list when there are a preferred token and a list")
            .on_result(|view, result| {
                let list = view.token_list();
                if let Some(Value::Array(quotes)) = result.get_mut("feeQuotes") {
                    quotes.retain(|quote| {
                        let quoted = text_of(&quote["tokenAddress"]);
                        list.iter().any(|token| token.eq_ignore_ascii_case(&quoted))
                    });
                }
            })
            .when(names_both),
        variant("quotes-repeated", "quotes a token as often as it is listed")
            .warns(&["plausibility.one-quote-a-token"])
            .on_result(|view, result| {
                let list = view.token_list();
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
        variant("unsupported-repeated", "lists an unsupported token as often as the request names it")
            .on_result(|view, result| {
                let mut named = view.token_list();
                named.extend(view.preferred());
                if let Some(Value::Array(tokens)) = result.get_mut("unsupportedTokens") {
                    *tokens = tokens
                        .iter()
                        .flat_map(|token| {
                            std::iter::repeat_n(token.clone(), times_listed(&named, &text_of(token)))
                        })
                        .collect();
                }
            }),
        variant("unsupported-absent-when-none", "leaves unsupportedTokens out when there are none")
            .on_result(|_, result| {
                if result
                    .get("unsupportedTokens")
                    .is_some_and(|tokens| tokens.as_array().is_some_and(Vec::is_empty))
                {
                    remove(result, "unsupportedTokens");
                }
            }),
        variant(
            "unsupported-only-beside-both",
            "lists unsupported tokens only when there are a preferred token and a list",
        )
        .on_result(|view, result| {
            if !names_both(view) {
                remove(result, "unsupportedTokens");
            }
        })
        .when(|view| view.is(Pair::QUOTE_ERC20)),
        variant("unsupported-as-requested", "returns quoted tokens in the spelling of the request")
            .on_result(|view, result| {
                let mut named = view.token_list();
                named.extend(view.preferred());
                for quote in crate::injection::quotes(result) {
                    let quoted = text_of(&quote["tokenAddress"]);
                    if let Some(named) = named.iter().find(|named| named.eq_ignore_ascii_case(&quoted)) {
                        set(quote, "tokenAddress", *named);
                    }
                }
            }),
        variant("empty-token-list-quotes-none", "quotes nothing when no token is named")
            .on_result(|_, result| set(result, "feeQuotes", json!([])))
            .when(|view| {
                view.is(Pair::QUOTE_ERC20) && view.preferred().is_none() && view.token_list().is_empty()
            }),
        variant("logo-as-data", "logoUrl is a data URL").on_result(|_, result| {
            each_quote(result, "logoUrl", |_| "data:image/svg+xml;base64,PHN2Zy8+".into());
        }),
        variant("logo-on-ipfs", "logoUrl is an ipfs URL").on_result(|_, result| {
            each_quote(result, "logoUrl", |_| {
                "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi".into()
            });
        }),
    ];

fn names_both(view: &RequestView<'_>) -> bool {
    view.is(Pair::QUOTE_ERC20) && view.preferred().is_some() && !view.token_list().is_empty()
}

/// How often the list names the token; at least 1, for a token that is quoted without being listed.
fn times_listed(list: &[&str], token: &str) -> usize {
    let times = list.iter().filter(|listed| listed.eq_ignore_ascii_case(token)).count();
    times.max(1)
}
