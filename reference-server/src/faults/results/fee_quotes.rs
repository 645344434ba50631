//! Faults of the members of a fee quote (section 2.8).

use serde_json::Value;

use crate::faults::Fault;
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::QuoteSelection::{Nth, Token};
use crate::injection::{Behaviour, decimal_text, json, quotes, text_of};

const SYMBOL: &str = "fee-quote.symbol";
const DECIMAL: &str = "fee-quote.decimal";
const ADDRESS: &str = "fee-quote.tokenAddress";
const FEE: &str = "fee-quote.maxGasFee";
const USD: &str = "fee-quote.maxGasFeeUSD";
const RATE: &str = "fee-quote.exchangeRate";
const PREMIUM: &str = "fee-quote.premiumPercentage";
const UNTIL: &str = "fee-quote.validUntil";
const LOGO: &str = "fee-quote.logoUrl";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::row(SYMBOL, "fee-symbol-missing", "leaves symbol out", Remove),
    Fault::row(SYMBOL, "fee-symbol-null", "symbol is null", Set("null")),
    Fault::row(SYMBOL, "fee-symbol-empty", "symbol is an empty string", Set(r#""""#))
        .of("plausibility.symbol")
        .also(&["fee-quote.symbol"]),
    Fault::row(SYMBOL, "fee-symbol-bytes", "symbol is an array of character codes", Set("[85,83,68,67]")),
    Fault::new(
        SYMBOL,
        "fee-symbol-of-another",
        "every quote has the symbol of the first",
        Behaviour::Result(|_, result| {
            same_as_first(result, "symbol");
        }),
    )
    .also(&["plausibility.token-price"]),
    Fault::quote_row(
        SYMBOL,
        "fee-symbol-missing-in-second",
        "leaves symbol out of the second quote",
        Nth(1),
        Remove,
    ),
    Fault::row(DECIMAL, "fee-decimal-missing", "leaves decimal out", Remove),
    Fault::row(DECIMAL, "fee-decimal-string", "decimal is a string", Map(decimal_text)),
    Fault::row(DECIMAL, "fee-decimal-negative", "decimal is negative", Set("-6")),
    Fault::row(DECIMAL, "fee-decimal-fraction", "decimal has a fraction", Set("6.5")),
    Fault::new(
        DECIMAL,
        "fee-decimal-of-another",
        "every quote has the decimals of the first",
        Behaviour::Result(|_, result| {
            same_as_first(result, "decimal");
        }),
    ),
    Fault::new(
        DECIMAL,
        "fee-decimal-of-previous",
        "has the decimals of the previous quote",
        Behaviour::Result(|view, result| {
            for quote in quotes(result) {
                if let Some(own) = quote.get_mut("decimal")
                    && let Some(previous) = view.memory.previous("decimal", own)
                {
                    *own = previous;
                }
            }
        }),
    )
    .depends_on_others(),
    Fault::row(
        DECIMAL,
        "fee-decimal-unit",
        "decimal is 10 to the power of the decimals",
        Map(|value| {
            json(&format!("1{}", "0".repeat(value.as_u64().unwrap_or_default().try_into().unwrap_or(0))))
        }),
    ),
    Fault::row(ADDRESS, "fee-address-missing", "leaves tokenAddress out", Remove).also(QUOTED),
    Fault::row(ADDRESS, "fee-address-null", "tokenAddress is null", Set("null")).also(QUOTED),
    Fault::row(
        ADDRESS,
        "fee-address-without-prefix",
        "tokenAddress has no 0x prefix",
        Map(|value| text_of(value).trim_start_matches("0x").into()),
    )
    .also(QUOTED),
    Fault::row(
        ADDRESS,
        "fee-address-cut",
        "tokenAddress is shortened as for display",
        Map(|value| {
            let text = text_of(value);
            format!("{}...", text.get(..6).unwrap_or_default()).into()
        }),
    )
    .also(QUOTED),
    Fault::quote_row(
        ADDRESS,
        "fee-address-missing-in-second",
        "leaves tokenAddress out of the second quote",
        Nth(1),
        Remove,
    )
    .also(QUOTED),
    Fault::row(FEE, "fee-max-missing", "leaves maxGasFee out", Remove),
    Fault::row(FEE, "fee-max-string", "maxGasFee is a string", Map(decimal_text)),
    Fault::row(
        FEE,
        "fee-max-string-when-large",
        "maxGasFee is a string for a maxFeePerGas above 64 bits",
        Map(decimal_text),
    )
    .when(|view| view.amount("maxFeePerGas").is_some_and(|fee| fee.bit_len() > 64))
    .depends_on("/params/0/maxFeePerGas"),
    Fault::row(FEE, "fee-max-negative", "maxGasFee is negative", Set("-0.5")),
    Fault::row(FEE, "fee-max-null", "maxGasFee is null", Set("null")),
    Fault::quote_row(
        FEE,
        "fee-max-string-for-one-token",
        "maxGasFee is a string for the second supported token",
        Token(1),
        Map(decimal_text),
    ),
    Fault::row(USD, "fee-usd-missing", "leaves maxGasFeeUSD out", Remove),
    Fault::row(USD, "fee-usd-string", "maxGasFeeUSD is a string", Map(decimal_text)),
    Fault::row(
        USD,
        "fee-usd-dollar-sign",
        "maxGasFeeUSD has a dollar sign",
        Map(|value| format!("${}", text_of(value)).into()),
    ),
    Fault::row(USD, "fee-usd-negative", "maxGasFeeUSD is negative", Set("-1")),
    Fault::row(
        USD,
        "fee-usd-missing-when-deploying",
        "leaves maxGasFeeUSD out when there is an initCode",
        Remove,
    )
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::row(RATE, "fee-rate-missing", "leaves exchangeRate out", Remove),
    Fault::row(RATE, "fee-rate-string", "exchangeRate is a string", Map(decimal_text)),
    Fault::row(RATE, "fee-rate-hex", "exchangeRate is in hex", Set(r#""0xc9f2c9cd04674edea40000000""#)),
    Fault::row(RATE, "fee-rate-fraction", "exchangeRate is not scaled to an integer", Set("232.8088")),
    Fault::row(
        RATE,
        "fee-rate-negative",
        "exchangeRate is negative",
        Map(|value| json(&format!("-{}", text_of(value)))),
    ),
    Fault::row(PREMIUM, "fee-premium-missing", "leaves premiumPercentage out", Remove),
    Fault::row(
        PREMIUM,
        "fee-premium-number",
        "premiumPercentage is a number",
        Map(|value| json(&text_of(value))),
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-percent-sign",
        "premiumPercentage has a percent sign",
        Map(|value| format!("{}%", text_of(value)).into()),
    ),
    Fault::row(PREMIUM, "fee-premium-factor", "premiumPercentage is a factor", Set(r#""1.12""#)),
    Fault::row(PREMIUM, "fee-premium-empty", "premiumPercentage is an empty string", Set(r#""""#)),
    Fault::row(UNTIL, "fee-until-missing", "leaves validUntil out", Remove),
    Fault::row(UNTIL, "fee-until-string", "validUntil is a string", Map(decimal_text)),
    Fault::row(UNTIL, "fee-until-date", "validUntil is a date as text", Set(r#""2030-01-01T00:00:00Z""#)),
    Fault::row(
        UNTIL,
        "fee-until-fraction",
        "validUntil has a fraction",
        Map(|value| json(&format!("{}.125", text_of(value)))),
    ),
    Fault::row(
        UNTIL,
        "fee-until-null-when-not-calculated",
        "validUntil is null when calculateGasLimits is false",
        Set("null"),
    )
    .when(|view| view.calculates(false))
    .depends_on("/params/1/calculateGasLimits"),
    Fault::row(LOGO, "fee-logo-missing", "leaves logoUrl out", Remove),
    Fault::row(LOGO, "fee-logo-null", "logoUrl is null", Set("null")),
    Fault::row(LOGO, "fee-logo-relative", "logoUrl is a path without a host", Set(r#""/logos/usdc.png""#))
        .of("plausibility.logo-url"),
    Fault::row(LOGO, "fee-logo-empty", "logoUrl is an empty string", Set(r#""""#))
        .of("plausibility.logo-url"),
    Fault::quote_row(
        LOGO,
        "fee-logo-missing-for-one-token",
        "leaves logoUrl out for the third supported token",
        Token(2),
        Remove,
    ),
    Fault::row(
        FEE,
        "fee-max-string-now-and-then",
        "maxGasFee is a string in 1 of 25 results",
        Map(decimal_text),
    )
    .when(|view| view.is_one_in_25()),
];

/// The clauses that a quote without a valid address breaks.
const QUOTED: &[&str] = &["quote.tokens-quoted", "quote.only-requested"];

fn same_as_first(result: &mut serde_json::Map<String, Value>, member: &str) {
    let mut all = quotes(result);
    let first = all.next().and_then(|quote| quote.get(member).cloned());
    for quote in all {
        if let Some(first) = &first {
            quote.insert(member.to_owned(), first.clone());
        }
    }
}
