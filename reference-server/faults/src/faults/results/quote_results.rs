//! Faults of the members of a token-mode quote result (section 2.7), of its fee quotes (section 2.8), and of `mode`, which published
//! clients read.

use paymaster_schemas::kinds;
use serde_json::Value;

use crate::faults::{CALCULATE, Fault, fault};
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{RequestView, change, decimal_text, json, quotes, remove, set, text_of};

type Object = serde_json::Map<String, Value>;

const MODE: Fault = Fault::breaking("quote-result.MODE");
const PAYMASTER: Fault = Fault::breaking("quote-result.paymasterAddress");
const QUOTES: Fault = Fault::breaking("quote-result.feeQuotes");
const NO_QUOTES: Fault = QUOTES.also(&["quote.tokens-quoted"]);
const UNSUPPORTED: Fault = Fault::breaking("quote-result.unsupportedTokens");
const ONLY_OWN: Fault = Fault::breaking("quote.unsupported-only-unsupported");
const MODE_MEMBER: Fault = Fault::breaking("interoperability.mode-member")
    .on_result(|_, result| remove(result, "mode"))
    .when(|view| view.is_quote());
const SYMBOL: Fault = Fault::breaking("fee-quote.symbol");
const DECIMAL: Fault = Fault::breaking("fee-quote.decimal");
const ADDRESS: Fault = Fault::breaking("fee-quote.tokenAddress").also(QUOTED);
const FEE: Fault = Fault::breaking("fee-quote.maxGasFee");
const USD: Fault = Fault::breaking("fee-quote.maxGasFeeUSD");
const RATE: Fault = Fault::breaking("fee-quote.exchangeRate");
const PREMIUM: Fault = Fault::breaking("fee-quote.premiumPercentage");
const UNTIL: Fault = Fault::breaking("fee-quote.validUntil");
const LOGO: Fault = Fault::breaking("fee-quote.logoUrl");
/// The clauses that a quote without a valid address breaks.
const QUOTED: &[&str] = &["quote.tokens-quoted", "quote.only-requested"];

pub(crate) const FAULTS: &[Fault] = &[
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
        .when_at("/params/0/initCode", |view| view.has_init_code()),
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
    fault(SYMBOL, "fee-symbol-null", "symbol is null").changes(Set("null")),
    fault(SYMBOL, "fee-symbol-empty", "symbol is an empty string")
        .changes(Set(r#""""#))
        .of("plausibility.symbol")
        .also(&["fee-quote.symbol"]),
    fault(SYMBOL, "fee-symbol-bytes", "symbol is an array of character codes").changes(Set("[85,83,68,67]")),
    fault(SYMBOL, "fee-symbol-of-another", "every quote has the symbol of the first")
        .depends_on_the_request()
        .on_result(|_, result| same_as_first(result, "symbol"))
        .also(&["plausibility.token-price"]),
    fault(SYMBOL, "fee-symbol-missing-in-second", "leaves symbol out of the second quote")
        .depends_on_the_request()
        .on_result(|_, result| remove_in_second(result, "symbol")),
    fault(DECIMAL, "fee-decimal-negative", "decimal is negative").changes(Set("-6")),
    fault(DECIMAL, "fee-decimal-fraction", "decimal has a fraction").changes(Set("6.5")),
    fault(DECIMAL, "fee-decimal-of-another", "every quote has the decimals of the first")
        .depends_on_the_request()
        .on_result(|_, result| same_as_first(result, "decimal")),
    fault(DECIMAL, "fee-decimal-of-previous", "has the decimals of the previous quote")
        .on_result(|view, result| {
            for quote in quotes(result) {
                if let Some(own) = quote.get_mut("decimal")
                    && let Some(previous) = view.memory.previous("decimal", own)
                {
                    *own = previous;
                }
            }
        })
        .depends_on_others(),
    fault(DECIMAL, "fee-decimal-unit", "decimal is 10 to the power of the decimals")
        .changes(Map(|value| {
            json(&format!("1{}", "0".repeat(value.as_u64().unwrap_or_default().try_into().unwrap_or(0))))
        }))
        // For some tokens, the number is one that fits.
        .depends_on_the_request(),
    fault(ADDRESS, "fee-address-null", "tokenAddress is null").changes(Set("null")),
    fault(ADDRESS, "fee-address-without-prefix", "tokenAddress has no 0x prefix")
        .changes(Map(|value| text_of(value).trim_start_matches("0x").into())),
    fault(ADDRESS, "fee-address-cut", "tokenAddress is shortened as for display").changes(Map(|value| {
        let text = text_of(value);
        format!("{}...", text.get(..6).unwrap_or_default()).into()
    })),
    fault(ADDRESS, "fee-address-missing-in-second", "leaves tokenAddress out of the second quote")
        .depends_on_the_request()
        .on_result(|_, result| remove_in_second(result, "tokenAddress")),
    fault(FEE, "fee-max-string-when-large", "maxGasFee is a string for a maxFeePerGas above 64 bits")
        .changes(Map(decimal_text))
        .when(|view| view.amount("maxFeePerGas").is_some_and(|fee| fee.bit_len() > 64))
        .depends_on("/params/0/maxFeePerGas"),
    fault(FEE, "fee-max-negative", "maxGasFee is negative").changes(Set("-0.5")),
    fault(FEE, "fee-max-null", "maxGasFee is null").changes(Set("null")),
    fault(FEE, "fee-max-string-for-one-token", "maxGasFee is a string for the second supported token")
        .depends_on_the_request()
        .on_result(|view, result| {
            quotes_of(view, result, 1).for_each(|quote| change(quote, "maxGasFee", decimal_text));
        }),
    fault(USD, "fee-usd-dollar-sign", "maxGasFeeUSD has a dollar sign")
        .changes(Map(|value| format!("${}", text_of(value)).into())),
    fault(USD, "fee-usd-negative", "maxGasFeeUSD is negative").changes(Set("-1")),
    fault(USD, "fee-usd-missing-when-deploying", "leaves maxGasFeeUSD out when there is an initCode")
        .changes(Remove)
        .when_at("/params/0/initCode", |view| view.has_init_code()),
    fault(RATE, "fee-rate-hex", "exchangeRate is in hex").changes(Set(r#""0xc9f2c9cd04674edea40000000""#)),
    fault(RATE, "fee-rate-fraction", "exchangeRate is not scaled to an integer").changes(Set("232.8088")),
    fault(RATE, "fee-rate-negative", "exchangeRate is negative")
        .changes(Map(|value| json(&format!("-{}", text_of(value))))),
    fault(PREMIUM, "fee-premium-number", "premiumPercentage is a number")
        .changes(Map(|value| json(&text_of(value)))),
    fault(PREMIUM, "fee-premium-percent-sign", "premiumPercentage has a percent sign")
        .changes(Map(|value| format!("{}%", text_of(value)).into())),
    fault(PREMIUM, "fee-premium-factor", "premiumPercentage is a factor").changes(Set(r#""1.12""#)),
    fault(PREMIUM, "fee-premium-empty", "premiumPercentage is an empty string").changes(Set(r#""""#)),
    fault(UNTIL, "fee-until-date", "validUntil is a date as text").changes(Set(r#""2030-01-01T00:00:00Z""#)),
    fault(UNTIL, "fee-until-fraction", "validUntil has a fraction")
        .changes(Map(|value| json(&format!("{}.125", text_of(value))))),
    fault(UNTIL, "fee-until-null-when-not-calculated", "validUntil is null when calculateGasLimits is false")
        .changes(Set("null"))
        .when_at(CALCULATE, |view| view.calculates(false)),
    fault(LOGO, "fee-logo-null", "logoUrl is null").changes(Set("null")),
    fault(LOGO, "fee-logo-relative", "logoUrl is a path without a host")
        .changes(Set(r#""/logos/usdc.png""#))
        .of("plausibility.logo-url"),
    fault(LOGO, "fee-logo-empty", "logoUrl is an empty string")
        .changes(Set(r#""""#))
        .of("plausibility.logo-url"),
    fault(LOGO, "fee-logo-missing-for-one-token", "leaves logoUrl out for the third supported token")
        .depends_on_the_request()
        .on_result(|view, result| quotes_of(view, result, 2).for_each(|quote| remove(quote, "logoUrl"))),
    fault(FEE, "fee-max-string-now-and-then", "maxGasFee is a string in 1 of 25 results")
        .changes(Map(decimal_text))
        .when(|view| view.is_one_in(25)),
];

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn with_last(array: &Value, last: Value) -> Value {
    let items = items(array).cloned();
    items.chain([last]).collect()
}

fn remove_in_second(result: &mut Object, member: &str) {
    if let Some(second) = quotes(result).nth(1) {
        remove(second, member);
    }
}

/// The fee quotes of the token at this place of the configuration.
fn quotes_of<'a>(
    view: &RequestView<'_>,
    result: &'a mut Object,
    place: usize,
) -> impl Iterator<Item = &'a mut Object> {
    quotes(result).filter(move |quote| {
        let token = quote.get("tokenAddress").and_then(Value::as_str);
        token.is_some_and(|token| view.supports_as(place, token))
    })
}

fn same_as_first(result: &mut Object, member: &str) {
    let mut all = quotes(result);
    let first = all.next().and_then(|quote| quote.get(member).cloned());
    for quote in all {
        if let Some(first) = &first {
            quote.insert(member.to_owned(), first.clone());
        }
    }
}
