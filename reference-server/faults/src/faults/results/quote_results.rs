//! Faults of the members of a token-mode quote result (section 2.7), and of `mode`, which published clients read.

use paymaster_schemas::kinds;
use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{json, remove, set, text_of};

const MODE: Fault = Fault::breaking("quote-result.MODE");
const PAYMASTER: Fault = Fault::breaking("quote-result.paymasterAddress");
const QUOTES: Fault = Fault::breaking("quote-result.feeQuotes");
const NO_QUOTES: Fault = QUOTES.also(&["quote.tokens-quoted"]);
const UNSUPPORTED: Fault = Fault::breaking("quote-result.unsupportedTokens");
const ONLY_OWN: Fault = Fault::breaking("quote.unsupported-only-unsupported");
const MODE_MEMBER: Fault = Fault::breaking("interoperability.mode-member")
    .on_result(|_, result| remove(result, "mode"))
    .when(|view| view.is_quote());

pub(in crate::faults) const FAULTS: &[Fault] = &[
    fault(MODE, "quote-mode-null", "MODE is null").changes(Set("null")),
    fault(MODE, "quote-mode-lower-case", "MODE is in lower case").changes(Set(r#""erc20""#)),
    fault(MODE, "quote-mode-hyphen", "MODE is ERC-20").changes(Set(r#""ERC-20""#)),
    fault(MODE, "quote-mode-sponsored", "MODE is SPONSORED")
        .changes(Set(r#""SPONSORED""#))
        .also(&["sponsor.mode-mandatory-served"]),
    fault(PAYMASTER, "quote-paymaster-null", "paymasterAddress is null").changes(Set("null")),
    fault(PAYMASTER, "quote-paymaster-empty", "paymasterAddress is an empty string").changes(Set(r#""""#)),
    fault(PAYMASTER, "quote-paymaster-0x", "paymasterAddress is 0x").changes(Set(r#""0x""#)),
    fault(PAYMASTER, "quote-paymaster-without-prefix", "paymasterAddress has no 0x prefix")
        .changes(Map(|value| text_of(value).trim_start_matches("0x").into())),
    fault(PAYMASTER, "quote-paymaster-short", "paymasterAddress has 19 bytes").changes(Map(|value| {
        let text = text_of(value);
        text.get(..text.len().saturating_sub(2)).unwrap_or_default().into()
    })),
    fault(PAYMASTER, "quote-paymaster-word", "paymasterAddress is padded to 32 bytes")
        .changes(Map(|value| text_of(value).replacen("0x", "0x000000000000000000000000", 1).into())),
    fault(PAYMASTER, "quote-paymaster-missing-when-deploying", "leaves paymasterAddress out beside initCode")
        .changes(Remove)
        .when(|view| view.has_init_code())
        .depends_on("/params/0/initCode"),
    fault(NO_QUOTES, "quote-quotes-null", "feeQuotes is null").changes(Set("null")),
    fault(QUOTES, "quote-quotes-null-when-none", "feeQuotes is null when no token is quoted")
        .depends_on_the_request()
        .changes(Map(
            |value| {
                if value.as_array().is_some_and(Vec::is_empty) { Value::Null } else { value.clone() }
            },
        )),
    fault(NO_QUOTES, "quote-quotes-by-address", "feeQuotes is an object with a member for each token")
        .changes(Map(|value| {
            items(value).map(|quote| (text_of(&quote["tokenAddress"]), quote.clone())).collect()
        })),
    fault(NO_QUOTES, "quote-quotes-single-bare", "feeQuotes is the quote itself when there is one")
        .depends_on_the_request()
        .changes(Map(|value| match value.as_array().map(Vec::as_slice) {
            Some([quote]) => quote.clone(),
            _ => value.clone(),
        })),
    fault(QUOTES, "quote-quotes-with-null", "feeQuotes ends with null")
        .changes(Map(|value| with_last(value, Value::Null))),
    fault(NO_QUOTES, "quote-quotes-as-text", "feeQuotes is JSON in a string")
        .changes(Map(|value| value.to_string().into())),
    fault(ONLY_OWN, "quote-unsupported-of-earlier", "lists up to twenty unsupported tokens of all requests")
        .on_result(|view, result| {
            const LIST: &str = "list";
            let known = view.memory.previous(LIST, &Value::Null);
            let mut all = known.and_then(|known| known.as_array().cloned()).unwrap_or_default();
            let own = result.get("unsupportedTokens").and_then(Value::as_array).into_iter().flatten();
            for token in own {
                if !all.contains(token) {
                    all.push(token.clone());
                }
            }
            if all.len() > 20 {
                all.remove(0);
            }
            let all = Value::from(all);
            view.memory.previous(LIST, &all);
            set(result, "unsupportedTokens", all);
        })
        .when(|view| view.is(kinds::QUOTE_ERC20))
        .also(&["quote.unsupported-listed", "request.*"])
        .depends_on_others(),
    fault(UNSUPPORTED, "quote-unsupported-null", "unsupportedTokens is null").changes(Set("null")).when(
        |view| view.token_list().iter().copied().chain(view.preferred()).all(|token| view.supports(token)),
    ),
    fault(UNSUPPORTED, "quote-unsupported-joined", "unsupportedTokens is a string joined by commas")
        .changes(Map(|value| {
            let tokens: Vec<String> = items(value).map(text_of).collect();
            tokens.join(",").into()
        }))
        .also(&["quote.unsupported-listed"]),
    fault(UNSUPPORTED, "quote-unsupported-objects", "unsupportedTokens holds objects")
        .changes(Map(|value| {
            items(value).map(|token| serde_json::json!({ "tokenAddress": token })).collect()
        }))
        .depends_on_the_request()
        .also(&["quote.unsupported-listed"]),
    fault(UNSUPPORTED, "quote-unsupported-without-prefix", "addresses in unsupportedTokens have no 0x")
        .changes(Map(|value| {
            items(value).map(|token| Value::from(text_of(token).trim_start_matches("0x"))).collect()
        }))
        .depends_on_the_request()
        .also(&["quote.unsupported-listed", "quote.unsupported-only-unsupported"]),
    fault(UNSUPPORTED, "quote-unsupported-boolean", "unsupportedTokens is false when there are none")
        .depends_on_the_request()
        .changes(Map(|value| {
            if value.as_array().is_some_and(Vec::is_empty) { json("false") } else { value.clone() }
        })),
    fault(MODE_MEMBER, "mode-member-missing", "leaves mode, which clients read, out of quotes"),
    fault(MODE_MEMBER, "mode-member-missing-in-token-mode", "leaves mode out of token quotes")
        .when(|view| view.is(kinds::QUOTE_ERC20)),
    fault(MODE_MEMBER, "mode-member-differs", "mode differs from MODE")
        .on_result(|_, result| set(result, "mode", "PAYMASTER")),
];

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn with_last(array: &Value, last: Value) -> Value {
    let items = items(array).cloned();
    items.chain([last]).collect()
}
