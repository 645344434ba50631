//! Faults of the members of a token-mode quote result (section 2.7), and of `mode`, which published clients read.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::faults::Fault;
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{Behaviour, json, text_of};

const MODE: &str = "quote-result.MODE";
const PAYMASTER: &str = "quote-result.paymasterAddress";
const QUOTES: &str = "quote-result.feeQuotes";
const UNSUPPORTED: &str = "quote-result.unsupportedTokens";
const MODE_MEMBER: &str = "interoperability.mode-member";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::row(MODE, "quote-mode-missing", "leaves MODE out", Remove),
    Fault::row(MODE, "quote-mode-null", "MODE is null", Set("null")),
    Fault::row(MODE, "quote-mode-lower-case", "MODE is in lower case", Set(r#""erc20""#)),
    Fault::row(MODE, "quote-mode-hyphen", "MODE is ERC-20", Set(r#""ERC-20""#)),
    Fault::row(MODE, "quote-mode-sponsored", "MODE is SPONSORED", Set(r#""SPONSORED""#))
        .also(&["sponsor.mode-mandatory-served"]),
    Fault::row(PAYMASTER, "quote-paymaster-missing", "leaves paymasterAddress out", Remove),
    Fault::row(PAYMASTER, "quote-paymaster-null", "paymasterAddress is null", Set("null")),
    Fault::row(PAYMASTER, "quote-paymaster-empty", "paymasterAddress is an empty string", Set(r#""""#)),
    Fault::row(PAYMASTER, "quote-paymaster-0x", "paymasterAddress is 0x", Set(r#""0x""#)),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-without-prefix",
        "paymasterAddress has no 0x prefix",
        Map(|value| text_of(value).trim_start_matches("0x").into()),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-short",
        "paymasterAddress has 19 bytes",
        Map(|value| {
            let text = text_of(value);
            text.get(..text.len().saturating_sub(2)).unwrap_or_default().into()
        }),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-word",
        "paymasterAddress is padded to 32 bytes",
        Map(|value| text_of(value).replacen("0x", "0x000000000000000000000000", 1).into()),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-missing-when-deploying",
        "leaves paymasterAddress out when there is an initCode",
        Remove,
    )
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::row(QUOTES, "quote-quotes-missing", "leaves feeQuotes out", Remove).also(&["quote.tokens-quoted"]),
    Fault::row(QUOTES, "quote-quotes-null", "feeQuotes is null", Set("null")).also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-null-when-none",
        "feeQuotes is null when no token is quoted",
        Map(|value| if value.as_array().is_some_and(Vec::is_empty) { Value::Null } else { value.clone() }),
    ),
    Fault::row(
        QUOTES,
        "quote-quotes-by-address",
        "feeQuotes is an object with a member for each token",
        Map(|value| {
            let quotes = value.as_array().into_iter().flatten();
            quotes.map(|quote| (text_of(&quote["tokenAddress"]), quote.clone())).collect()
        }),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-single-bare",
        "feeQuotes is the quote itself when there is one",
        Map(|value| match value.as_array().map(Vec::as_slice) {
            Some([quote]) => quote.clone(),
            _ => value.clone(),
        }),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-with-null",
        "feeQuotes ends with null",
        Map(|value| with_last(value, Value::Null)),
    ),
    Fault::row(
        QUOTES,
        "quote-quotes-as-text",
        "feeQuotes is JSON in a string",
        Map(|value| value.to_string().into()),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(UNSUPPORTED, "quote-unsupported-null", "unsupportedTokens is null", Set("null")).when(
        |view| view.token_list().iter().copied().chain(view.preferred()).all(|token| view.supports(token)),
    ),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-joined",
        "unsupportedTokens is a string joined by commas",
        Map(|value| {
            let tokens: Vec<String> = value.as_array().into_iter().flatten().map(text_of).collect();
            tokens.join(",").into()
        }),
    )
    .also(&["quote.unsupported-listed"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-objects",
        "unsupportedTokens holds objects",
        Map(|value| {
            let tokens = value.as_array().into_iter().flatten();
            tokens.map(|token| serde_json::json!({ "tokenAddress": token })).collect()
        }),
    )
    .also(&["quote.unsupported-listed"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-without-prefix",
        "the addresses in unsupportedTokens have no 0x prefix",
        Map(|value| {
            let tokens = value.as_array().into_iter().flatten();
            tokens.map(|token| Value::from(text_of(token).trim_start_matches("0x"))).collect()
        }),
    )
    .also(&["quote.unsupported-listed", "quote.unsupported-only-unsupported"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-boolean",
        "unsupportedTokens is false when there are none",
        Map(|value| if value.as_array().is_some_and(Vec::is_empty) { json("false") } else { value.clone() }),
    ),
    Fault::new(
        MODE_MEMBER,
        "mode-member-missing",
        "leaves mode, which clients read, out of quotes",
        Behaviour::Result(|_, result| {
            result.shift_remove("mode");
        }),
    )
    .when(|view| view.is_quote()),
    Fault::new(
        MODE_MEMBER,
        "mode-member-missing-in-token-mode",
        "leaves mode out of token quotes",
        Behaviour::Result(|_, result| {
            result.shift_remove("mode");
        }),
    )
    .when(|view| view.is(Pair::QUOTE_ERC20)),
    Fault::new(
        MODE_MEMBER,
        "mode-member-differs",
        "mode differs from MODE",
        Behaviour::Result(|_, result| {
            result.insert("mode".to_owned(), "PAYMASTER".into());
        }),
    )
    .when(|view| view.is_quote()),
];

fn with_last(array: &Value, last: Value) -> Value {
    let items = array.as_array().into_iter().flatten().cloned();
    items.chain([last]).collect()
}
