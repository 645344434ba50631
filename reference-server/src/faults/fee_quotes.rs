//! The rows of a fee quote (section 2.8).

use serde_json::Value;

use super::Fault;
use crate::deviations::Damage::{By, Missing, To};
use crate::deviations::Which::{Nth, Token};
use crate::deviations::{Act, decimal_text, json, quotes, text_of};

const SYMBOL: &str = "fee-quote.symbol";
const DECIMAL: &str = "fee-quote.decimal";
const ADDRESS: &str = "fee-quote.tokenAddress";
const FEE: &str = "fee-quote.maxGasFee";
const USD: &str = "fee-quote.maxGasFeeUSD";
const RATE: &str = "fee-quote.exchangeRate";
const PREMIUM: &str = "fee-quote.premiumPercentage";
const UNTIL: &str = "fee-quote.validUntil";
const LOGO: &str = "fee-quote.logoUrl";

pub(super) const FAULTS: &[Fault] = &[
    Fault::row(SYMBOL, "fee-symbol-missing", "leaves symbol out", Missing),
    Fault::row(SYMBOL, "fee-symbol-null", "symbol is null", To("null")),
    Fault::row(
        SYMBOL,
        "fee-symbol-empty",
        "symbol is an empty string",
        To(r#""""#),
    ),
    Fault::row(
        SYMBOL,
        "fee-symbol-bytes",
        "symbol is an array of character codes",
        To("[85,83,68,67]"),
    ),
    Fault::of(
        SYMBOL,
        "fee-symbol-of-another",
        "every quote has the symbol of the first",
        Act::Result(|_, result| {
            same_as_first(result, "symbol");
        }),
    ),
    Fault::quote_row(
        SYMBOL,
        "fee-symbol-missing-in-second",
        "leaves symbol out of the second quote",
        Nth(1),
        Missing,
    ),
    Fault::row(DECIMAL, "fee-decimal-missing", "leaves decimal out", Missing),
    Fault::row(
        DECIMAL,
        "fee-decimal-string",
        "decimal is a string",
        By(decimal_text),
    ),
    Fault::row(DECIMAL, "fee-decimal-negative", "decimal is negative", To("-6")),
    Fault::row(
        DECIMAL,
        "fee-decimal-fraction",
        "decimal has a fraction",
        To("6.5"),
    ),
    Fault::of(
        DECIMAL,
        "fee-decimal-of-another",
        "every quote has the decimals of the first",
        Act::Result(|_, result| {
            same_as_first(result, "decimal");
        }),
    ),
    Fault::row(
        DECIMAL,
        "fee-decimal-unit",
        "decimal is the number of units of a token, not of decimals",
        By(|value| {
            json(&format!(
                "1{}",
                "0".repeat(value.as_u64().unwrap_or_default().try_into().unwrap_or(0))
            ))
        }),
    ),
    Fault::row(ADDRESS, "fee-address-missing", "leaves tokenAddress out", Missing).also(QUOTED),
    Fault::row(ADDRESS, "fee-address-null", "tokenAddress is null", To("null")).also(QUOTED),
    Fault::row(
        ADDRESS,
        "fee-address-without-prefix",
        "tokenAddress lacks its 0x",
        By(|value| text_of(value).trim_start_matches("0x").into()),
    )
    .also(QUOTED),
    Fault::row(
        ADDRESS,
        "fee-address-cut",
        "tokenAddress is cut as for display",
        By(|value| {
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
        Missing,
    )
    .also(QUOTED),
    Fault::row(FEE, "fee-max-missing", "leaves maxGasFee out", Missing),
    Fault::row(FEE, "fee-max-string", "maxGasFee is a string", By(decimal_text)),
    Fault::row(
        FEE,
        "fee-max-string-when-large",
        "maxGasFee is a string for a maxFeePerGas above 64 bits",
        By(decimal_text),
    )
    .when(|asked| asked.amount("maxFeePerGas").is_some_and(|fee| fee.bit_len() > 64)),
    Fault::row(FEE, "fee-max-negative", "maxGasFee is negative", To("-0.5")),
    Fault::row(FEE, "fee-max-null", "maxGasFee is null", To("null")),
    Fault::quote_row(
        FEE,
        "fee-max-string-for-one-token",
        "maxGasFee is a string for the second supported token",
        Token(1),
        By(decimal_text),
    ),
    Fault::row(USD, "fee-usd-missing", "leaves maxGasFeeUSD out", Missing),
    Fault::row(
        USD,
        "fee-usd-string",
        "maxGasFeeUSD is a string",
        By(decimal_text),
    ),
    Fault::row(
        USD,
        "fee-usd-dollar-sign",
        "maxGasFeeUSD has a dollar sign",
        By(|value| format!("${}", text_of(value)).into()),
    ),
    Fault::row(USD, "fee-usd-negative", "maxGasFeeUSD is negative", To("-1")),
    Fault::row(
        USD,
        "fee-usd-missing-when-deploying",
        "leaves maxGasFeeUSD out when there is an initCode",
        Missing,
    )
    .when(|asked| asked.has_init_code()),
    Fault::row(RATE, "fee-rate-missing", "leaves exchangeRate out", Missing),
    Fault::row(
        RATE,
        "fee-rate-string",
        "exchangeRate is a string",
        By(decimal_text),
    ),
    Fault::row(
        RATE,
        "fee-rate-hex",
        "exchangeRate is in hex",
        To(r#""0xc9f2c9cd04674edea40000000""#),
    ),
    Fault::row(
        RATE,
        "fee-rate-fraction",
        "exchangeRate is not scaled to an integer",
        To("232.8088"),
    ),
    Fault::row(
        RATE,
        "fee-rate-negative",
        "exchangeRate is negative",
        By(|value| json(&format!("-{}", text_of(value)))),
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-missing",
        "leaves premiumPercentage out",
        Missing,
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-number",
        "premiumPercentage is a number",
        By(|value| json(&text_of(value))),
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-percent-sign",
        "premiumPercentage has a percent sign",
        By(|value| format!("{}%", text_of(value)).into()),
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-factor",
        "premiumPercentage is a factor",
        To(r#""1.12""#),
    ),
    Fault::row(
        PREMIUM,
        "fee-premium-empty",
        "premiumPercentage is an empty string",
        To(r#""""#),
    ),
    Fault::row(UNTIL, "fee-until-missing", "leaves validUntil out", Missing),
    Fault::row(
        UNTIL,
        "fee-until-string",
        "validUntil is a string",
        By(decimal_text),
    ),
    Fault::row(
        UNTIL,
        "fee-until-date",
        "validUntil is a date in words",
        To(r#""2030-01-01T00:00:00Z""#),
    ),
    Fault::row(
        UNTIL,
        "fee-until-fraction",
        "validUntil has a fraction",
        By(|value| json(&format!("{}.125", text_of(value)))),
    ),
    Fault::row(
        UNTIL,
        "fee-until-null-when-not-calculated",
        "validUntil is null when calculateGasLimits is false",
        To("null"),
    )
    .when(|asked| asked.calculates(false)),
    Fault::row(LOGO, "fee-logo-missing", "leaves logoUrl out", Missing),
    Fault::row(LOGO, "fee-logo-null", "logoUrl is null", To("null")),
    Fault::row(
        LOGO,
        "fee-logo-relative",
        "logoUrl is a path without a host",
        To(r#""/logos/usdc.png""#),
    ),
    Fault::row(LOGO, "fee-logo-empty", "logoUrl is an empty string", To(r#""""#)),
    Fault::quote_row(
        LOGO,
        "fee-logo-missing-for-one-token",
        "leaves logoUrl out for the third supported token",
        Token(2),
        Missing,
    ),
    Fault::row(
        FEE,
        "fee-max-string-now-and-then",
        "maxGasFee is a string in 1 of 25 results",
        By(decimal_text),
    )
    .when(|asked| asked.now_and_then()),
];

/// A quote without a readable address is a quote of nothing.
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
