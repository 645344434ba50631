//! Variants of quotes: the tokens and values of a quote result that the specification leaves open.

use paymaster_schemas::kinds;
use serde_json::{Map, Value, json};

use super::{Variant, variant};
use crate::injection::{each_quote, list, remove, retain, set, text_of};

pub(super) const VARIANTS: &[Variant] = &[
    variant("quotes-reversed", "quotes come in reverse order").on_result(|_, result| {
        for member in ["feeQuotes", "unsupportedTokens"] {
            if let Some(items) = list(result, member) {
                items.reverse();
            }
        }
    }),
    variant("quotes-preferred-alone", "quotes only the preferred token when there is a list too")
        .on_result(|view, result| retain(result, "feeQuotes", |_, token| view.prefers(token)))
        .when(|view| view.names_both()),
    variant("quotes-list-alone", "quotes only the list when there are a preferred token and a list")
        .on_result(|view, result| retain(result, "feeQuotes", |_, quoted| view.times_listed(quoted) > 0))
        .when(|view| view.names_both()),
    variant("quotes-repeated", "quotes a token as often as it is listed")
        .warns(&["plausibility.one-quote-a-token"])
        .on_result(|view, result| repeat_as_named(result, "feeQuotes", &view.token_list())),
    variant("unsupported-repeated", "lists an unsupported token as often as the request names it").on_result(
        |view, result| repeat_as_named(result, "unsupportedTokens", &view.named_tokens().collect::<Vec<_>>()),
    ),
    variant("unsupported-absent-when-none", "leaves unsupportedTokens out when there are none").on_result(
        |_, result| {
            if list(result, "unsupportedTokens").is_some_and(|tokens| tokens.is_empty()) {
                remove(result, "unsupportedTokens");
            }
        },
    ),
    variant("unsupported-only-beside-both", "lists unsupported tokens only for a preferred one and a list")
        .on_result(|view, result| {
            if !view.names_both() {
                remove(result, "unsupportedTokens");
            }
        })
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    variant("unsupported-as-requested", "returns quoted tokens in the spelling of the request").on_result(
        |view, result| {
            for quote in crate::injection::quotes(result) {
                let quoted = text_of(&quote["tokenAddress"]);
                if let Some(named) = view.named_tokens().find(|named| named.eq_ignore_ascii_case(&quoted)) {
                    set(quote, "tokenAddress", named);
                }
            }
        },
    ),
    variant("empty-token-list-quotes-none", "quotes nothing when no token is named")
        .on_result(|_, result| set(result, "feeQuotes", json!([])))
        .when(|view| {
            view.is(kinds::QUOTE_ERC20) && view.preferred().is_none() && view.token_list().is_empty()
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

/// Repeats each quote or token as often as `named` has its address, and keeps one of those that it has not.
fn repeat_as_named(result: &mut Map<String, Value>, member: &str, named: &[&str]) {
    if let Some(items) = list(result, member) {
        let times = |item: &Value| {
            let address = text_of(item.get("tokenAddress").unwrap_or(item));
            named.iter().filter(|named| named.eq_ignore_ascii_case(&address)).count().max(1)
        };
        *items = items.iter().flat_map(|item| std::iter::repeat_n(item.clone(), times(item))).collect();
    }
}
