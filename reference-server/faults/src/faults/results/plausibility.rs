//! Faults of the plain sense of answers: lawful in form, and senseless in content.

use paymaster_schemas::kinds;
use paymaster_service::SigningConfig;
use serde_json::{Map, Value, json};

use crate::faults::{Fault, fault};
use crate::injection::MemberChange::Set;
use crate::injection::{
    RequestView, change, change_data, each_quote, has_quotes, list, quotes, replace, set,
};

const PAYMASTER_ADDRESS: Fault = Fault::breaking("plausibility.paymaster-address").also(&[TOKEN_DATA.clause]);
const PRICE: Fault = Fault::breaking("plausibility.token-price");
const EXPIRED: Fault = Fault::breaking("quote.valid-until-future");
const OF_TOKEN: Fault = Fault::breaking("plausibility.token-data-of-token")
    .when(|view| view.is(kinds::SPONSOR_ERC20))
    .depends_on_others();
const TOKEN_DATA: Fault = Fault::breaking("plausibility.token-data").when(|view| view.is_token_mode());

pub(crate) const FAULTS: &[Fault] = &[
    fault(PAYMASTER_ADDRESS, "paymaster-address-zero", "paymasterAddress is the zero address")
        .on_result(|_, result| replace(result, "paymasterAddress", json!(format!("0x{}", "0".repeat(40))))),
    fault(PAYMASTER_ADDRESS, "paymaster-address-changes", "paymasterAddress is another one each time")
        .on_result(|view, result| {
            if result.contains_key("paymasterAddress") {
                let address = format!("0x{:040x}", view.memory.count() + 1);
                set(result, "paymasterAddress", json!(address));
            }
        }),
    fault(PRICE, "fee-in-the-smallest-unit", "maxGasFee is in the smallest units of the token")
        // It shows for tokens whose price is known.
        .depends_on_the_request()
        .on_result(|_, result| {
            each_quote(result, "maxGasFee", |fee| json!(fee.as_f64().unwrap_or_default() * 1_000_000.0));
        }),
    fault(PRICE, "fee-in-whole-tokens", "rounds maxGasFee down to whole tokens")
        .depends_on_the_request()
        .on_result(|_, result| {
            each_quote(result, "maxGasFee", |fee| json!(fee.as_f64().unwrap_or_default().floor()));
        }),
    fault(PRICE, "fee-with-18-decimals", "writes maxGasFee with 18 decimals for every token").on_result(
        |_, result| {
            for quote in quotes(result) {
                let (fee, decimals) = (quote["maxGasFee"].as_f64(), quote["decimal"].as_i64());
                if let Some((fee, decimals)) =
                    fee.zip(decimals.and_then(|decimals| i32::try_from(decimals).ok()))
                {
                    set(quote, "maxGasFee", fee * 10_f64.powi(decimals - 18));
                }
            }
        },
    ),
    fault(PRICE, "dollars-cut-at-comma", "reads the dollars of a token up to the comma of thousands")
        .on_result(|_, result| {
            for quote in quotes(result).filter(|quote| quote["symbol"] == "WBTC") {
                change(quote, "maxGasFeeUSD", |usd| json!(usd.as_f64().unwrap_or_default() / 1_000.0));
            }
        }),
    Fault::new("plausibility.exchange-rate", "exchange-rates-by-place", "reverses the order of the rates")
        .on_result(|_, result| {
            let rates: Vec<Value> = quotes(result).map(|quote| quote["exchangeRate"].clone()).collect();
            for (quote, rate) in quotes(result).zip(rates.into_iter().rev()) {
                set(quote, "exchangeRate", rate);
            }
        }),
    Fault::new("fee-quote.exchangeRate", "exchange-rate-zero", "exchangeRate is 0")
        .changes(Set("0"))
        .of("plausibility.exchange-rate"),
    Fault::new("plausibility.one-quote-a-token", "first-token-quoted-twice", "quotes the first token twice")
        .on_result(|_, result| {
            if let Some(quotes) = list(result, "feeQuotes") {
                quotes.extend(quotes.first().cloned());
            }
        }),
    Fault::new("fee-quote.logoUrl", "logo-runs-a-script", "logoUrl is a javascript: URL")
        .changes(Set(r#""javascript:alert(1)""#))
        .of("plausibility.logo-url"),
    fault(EXPIRED, "quotes-expired", "quotes ended two hours before they are given")
        .on_result(|_, result| change_end(result, |until| until.saturating_sub(7_200))),
    fault(EXPIRED, "quotes-expired-minutes-ago", "quotes ended two minutes before they are given")
        .on_result(|_, result| change_end(result, |until| until.saturating_sub(180))),
    Fault::new("quote.valid-until-unit", "first-quote-in-milliseconds", "validUntil begins in milliseconds")
        .on_result(|view, result| {
            if has_quotes(result) && view.memory.count() == 1 {
                change_end(result, |until| until.saturating_mul(1_000));
            }
        }),
    Fault::new("fee-quote.validUntil", "valid-until-zero", "validUntil is 0")
        .changes(Set("0"))
        .of("plausibility.valid-until"),
    Fault::new("plausibility.gas", "gas-limits-of-zero", "callGasLimit is 0 in sponsored mode")
        .on_result(|_, result| replace(result, "callGasLimit", json!(0)))
        .when(|view| view.is_sponsored_mode()),
    fault(TOKEN_DATA, "token-data-of-one-byte", "paymasterAndData is one byte in token mode")
        .on_result(|_, result| replace(result, "paymasterAndData", "0x01")),
    fault(TOKEN_DATA, "token-data-of-another-paymaster", "paymasterAndData begins with another address")
        .on_result(|_, result| change_data(result, |_, rest| format!("0x{}{rest}", "ab".repeat(20)))),
    fault(TOKEN_DATA, "token-data-of-a-sample", "paymasterAndData in token mode is always the same")
        .on_result(|_, result| change_data(result, |paymaster, _| format!("{paymaster}{}", "5a".repeat(129))))
        .also(&["plausibility.token-data-of-token"])
        .of("plausibility.token-data-differs"),
    Fault::new("plausibility.fee-of-operation", "fee-kept-by-sender", "repeats the first fee of a sender")
        .also(&["plausibility.token-price"])
        .on_result(|view, result| {
            for quote in quotes(result) {
                for member in ["maxGasFee", "maxGasFeeUSD"] {
                    let key = format!("{} {} {member}", view.text("sender"), quote["tokenAddress"]);
                    quote[member] = view.memory.first(key, &quote[member]);
                }
            }
        })
        .depends_on_others(),
    Fault::new(
        "plausibility.sponsored-data",
        "deployment-of-token-paymaster",
        "new accounts get the data of the token paymaster",
    )
    .on_result(|_, result| {
        let paymaster = SigningConfig::default().token_paymaster;
        change_data(
            result,
            |_, rest| if rest.is_empty() { "0x".to_owned() } else { format!("{paymaster}{rest}") },
        );
    })
    .when(|view| view.is_sponsored_mode() && view.has_init_code()),
    Fault::new("plausibility.data-of-operation", "data-kept-by-nonce", "repeats the first data of a nonce")
        .on_result(|view, result| {
            let key = ["sender", "nonce"].map(|member| view.text(member)).join(" ");
            sign_by(view, result, format!("{key} {:?} {}", view.pair(), view.token_info()));
        })
        .depends_on_others(),
    fault(OF_TOKEN, "token-data-of-any-token", "paymasterAndData covers the operation, and not the token")
        .on_result(|view, result| sign_by(view, result, view.operation().to_string())),
    fault(OF_TOKEN, "token-in-mixed-case-signed-as-first", "takes a token with a checksum for the first one")
        .on_result(|view, result| {
            let token =
                view.fee_token().filter(|token| !token[2..].bytes().any(|digit| digit.is_ascii_uppercase()));
            sign_by(view, result, format!("{} {}", view.operation(), token.unwrap_or("the first one")));
        }),
];

fn change_end(result: &mut Map<String, Value>, change: fn(u64) -> u64) {
    each_quote(result, "validUntil", |until| json!(change(until.as_u64().unwrap_or_default())));
}

/// Puts a number in the place of the signature, which is the same for the same key.
fn sign_by(view: &RequestView<'_>, result: &mut Map<String, Value>, key: String) {
    let number = view.memory.first(key, &json!(view.memory.count())).as_u64().unwrap_or_default();
    change_data(
        result,
        |paymaster, rest| {
            if rest.is_empty() { "0x".to_owned() } else { format!("{paymaster}{number:0258x}") }
        },
    );
}
