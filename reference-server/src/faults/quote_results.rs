//! The rows of the token-mode quote (section 2.7), and the member that published clients read.

use paymaster_schemas::Pair;
use serde_json::Value;

use super::Fault;
use crate::deviations::Damage::{By, Missing, To};
use crate::deviations::{Act, json, text_of};

const MODE: &str = "quote-result.MODE";
const PAYMASTER: &str = "quote-result.paymasterAddress";
const QUOTES: &str = "quote-result.feeQuotes";
const UNSUPPORTED: &str = "quote-result.unsupportedTokens";
const MODE_MEMBER: &str = "interoperability.mode-member";

pub(super) const FAULTS: &[Fault] = &[
    Fault::row(MODE, "quote-mode-missing", "leaves MODE out", Missing),
    Fault::row(MODE, "quote-mode-null", "MODE is null", To("null")),
    Fault::row(
        MODE,
        "quote-mode-lower-case",
        "MODE is in lower case",
        To(r#""erc20""#),
    ),
    Fault::row(MODE, "quote-mode-hyphen", "MODE is ERC-20", To(r#""ERC-20""#)),
    Fault::row(
        MODE,
        "quote-mode-sponsored",
        "MODE is SPONSORED",
        To(r#""SPONSORED""#),
    )
    .also(&["sponsor.mode-mandatory-served"]),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-missing",
        "leaves paymasterAddress out",
        Missing,
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-null",
        "paymasterAddress is null",
        To("null"),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-empty",
        "paymasterAddress is an empty string",
        To(r#""""#),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-0x",
        "paymasterAddress is 0x",
        To(r#""0x""#),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-without-prefix",
        "paymasterAddress lacks its 0x",
        By(|value| text_of(value).trim_start_matches("0x").into()),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-short",
        "paymasterAddress has 19 bytes",
        By(|value| {
            let text = text_of(value);
            text.get(..text.len().saturating_sub(2))
                .unwrap_or_default()
                .into()
        }),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-word",
        "paymasterAddress is padded to 32 bytes",
        By(|value| {
            text_of(value)
                .replacen("0x", "0x000000000000000000000000", 1)
                .into()
        }),
    ),
    Fault::row(
        PAYMASTER,
        "quote-paymaster-missing-when-deploying",
        "leaves paymasterAddress out when there is an initCode",
        Missing,
    )
    .when(|asked| asked.has_init_code()),
    Fault::row(QUOTES, "quote-quotes-missing", "leaves feeQuotes out", Missing)
        .also(&["quote.tokens-quoted"]),
    Fault::row(QUOTES, "quote-quotes-null", "feeQuotes is null", To("null")).also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-null-when-none",
        "feeQuotes is null when no token is quoted",
        By(|value| {
            if value.as_array().is_some_and(Vec::is_empty) {
                Value::Null
            } else {
                value.clone()
            }
        }),
    ),
    Fault::row(
        QUOTES,
        "quote-quotes-by-address",
        "feeQuotes is an object with a member for each token",
        By(|value| {
            let quotes = value.as_array().into_iter().flatten();
            quotes
                .map(|quote| (text_of(&quote["tokenAddress"]), quote.clone()))
                .collect()
        }),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-single-bare",
        "feeQuotes is the quote itself when there is one",
        By(|value| match value.as_array().map(Vec::as_slice) {
            Some([quote]) => quote.clone(),
            _ => value.clone(),
        }),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(
        QUOTES,
        "quote-quotes-with-null",
        "feeQuotes ends with null",
        By(|value| with_last(value, Value::Null)),
    ),
    Fault::row(
        QUOTES,
        "quote-quotes-as-text",
        "feeQuotes is JSON in a string",
        By(|value| value.to_string().into()),
    )
    .also(&["quote.tokens-quoted"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-null",
        "unsupportedTokens is null",
        To("null"),
    )
    .when(|asked| {
        asked
            .token_list()
            .iter()
            .copied()
            .chain(asked.preferred())
            .all(|token| asked.supports(token))
    }),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-joined",
        "unsupportedTokens is a string joined by commas",
        By(|value| {
            let tokens: Vec<String> = value.as_array().into_iter().flatten().map(text_of).collect();
            tokens.join(",").into()
        }),
    )
    .also(&["quote.unsupported-listed"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-objects",
        "unsupportedTokens holds objects",
        By(|value| {
            let tokens = value.as_array().into_iter().flatten();
            tokens
                .map(|token| serde_json::json!({ "tokenAddress": token }))
                .collect()
        }),
    )
    .also(&["quote.unsupported-listed"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-without-prefix",
        "the addresses in unsupportedTokens lack their 0x",
        By(|value| {
            let tokens = value.as_array().into_iter().flatten();
            tokens
                .map(|token| Value::from(text_of(token).trim_start_matches("0x")))
                .collect()
        }),
    )
    .also(&["quote.unsupported-listed", "quote.unsupported-only-unsupported"]),
    Fault::row(
        UNSUPPORTED,
        "quote-unsupported-boolean",
        "unsupportedTokens is false when there are none",
        By(|value| {
            if value.as_array().is_some_and(Vec::is_empty) {
                json("false")
            } else {
                value.clone()
            }
        }),
    ),
    Fault::of(
        MODE_MEMBER,
        "mode-member-missing",
        "leaves mode out of quotes, which clients read",
        Act::Result(|_, result| {
            result.shift_remove("mode");
        }),
    )
    .when(|asked| asked.is_quote()),
    Fault::of(
        MODE_MEMBER,
        "mode-member-missing-in-token-mode",
        "leaves mode out of token quotes",
        Act::Result(|_, result| {
            result.shift_remove("mode");
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20)),
    Fault::of(
        MODE_MEMBER,
        "mode-member-differs",
        "mode is not what MODE is",
        Act::Result(|_, result| {
            result.insert("mode".to_owned(), "PAYMASTER".into());
        }),
    )
    .when(|asked| asked.is_quote()),
];

fn with_last(array: &Value, last: Value) -> Value {
    let items = array.as_array().into_iter().flatten().cloned();
    items.chain([last]).collect()
}
