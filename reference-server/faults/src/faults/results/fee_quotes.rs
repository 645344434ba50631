//! Faults of the members of a fee quote (section 2.8).

use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::QuoteSelection::{Nth, Token};
use crate::injection::{decimal_text, json, quotes, text_of};

const SYMBOL: Fault = Fault::breaking("fee-quote.symbol");
const DECIMAL: Fault = Fault::breaking("fee-quote.decimal");
const ADDRESS: Fault = Fault::breaking("fee-quote.tokenAddress").also(QUOTED);
const FEE: Fault = Fault::breaking("fee-quote.maxGasFee");
const USD: Fault = Fault::breaking("fee-quote.maxGasFeeUSD");
const RATE: Fault = Fault::breaking("fee-quote.exchangeRate");
const PREMIUM: Fault = Fault::breaking("fee-quote.premiumPercentage");
const UNTIL: Fault = Fault::breaking("fee-quote.validUntil");
const LOGO: Fault = Fault::breaking("fee-quote.logoUrl");

pub(in crate::faults) const FAULTS: &[Fault] = &[
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
        .changes_quotes(Nth(1), Remove),
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
        .changes_quotes(Nth(1), Remove),
    fault(FEE, "fee-max-string-when-large", "maxGasFee is a string for a maxFeePerGas above 64 bits")
        .changes(Map(decimal_text))
        .when(|view| view.amount("maxFeePerGas").is_some_and(|fee| fee.bit_len() > 64))
        .depends_on("/params/0/maxFeePerGas"),
    fault(FEE, "fee-max-negative", "maxGasFee is negative").changes(Set("-0.5")),
    fault(FEE, "fee-max-null", "maxGasFee is null").changes(Set("null")),
    fault(FEE, "fee-max-string-for-one-token", "maxGasFee is a string for the second supported token")
        .changes_quotes(Token(1), Map(decimal_text)),
    fault(USD, "fee-usd-dollar-sign", "maxGasFeeUSD has a dollar sign")
        .changes(Map(|value| format!("${}", text_of(value)).into())),
    fault(USD, "fee-usd-negative", "maxGasFeeUSD is negative").changes(Set("-1")),
    fault(USD, "fee-usd-missing-when-deploying", "leaves maxGasFeeUSD out when there is an initCode")
        .changes(Remove)
        .when(|view| view.has_init_code())
        .depends_on("/params/0/initCode"),
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
        .when(|view| view.calculates(false))
        .depends_on("/params/1/calculateGasLimits"),
    fault(LOGO, "fee-logo-null", "logoUrl is null").changes(Set("null")),
    fault(LOGO, "fee-logo-relative", "logoUrl is a path without a host")
        .changes(Set(r#""/logos/usdc.png""#))
        .of("plausibility.logo-url"),
    fault(LOGO, "fee-logo-empty", "logoUrl is an empty string")
        .changes(Set(r#""""#))
        .of("plausibility.logo-url"),
    fault(LOGO, "fee-logo-missing-for-one-token", "leaves logoUrl out for the third supported token")
        .changes_quotes(Token(2), Remove),
    fault(FEE, "fee-max-string-now-and-then", "maxGasFee is a string in 1 of 25 results")
        .changes(Map(decimal_text))
        .when(|view| view.is_one_in(25)),
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
