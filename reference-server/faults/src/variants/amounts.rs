//! Variants of numbers: other values, and other notations of the same value.

use paymaster_schemas::kinds;
use serde_json::{Map, Value, json};

use super::{Variant, variant};
use crate::injection::{
    Behaviour, GAS_LIMITS, change, each_quote, in_hex, json as parsed, replace, set, text_of,
};

pub(super) const VARIANTS: &[Variant] = &[
    variant("gas-limits-with-exponent", "gas limits are written like 21e3")
        .on_result(|_, result| change_limits(result, with_exponent)),
    variant("gas-limits-with-point", "gas limits are written like 21000.0")
        .on_result(|_, result| change_limits(result, with_point)),
    variant("gas-limits-recomputed", "gas limits of the request are ignored")
        .injects(WITHOUT_LIMITS)
        .when(|view| view.pair().is_some()),
    variant("gas-limits-recomputed-when-asked", "gas limits are estimated when calculateGasLimits is true")
        .injects(WITHOUT_LIMITS)
        .when(|view| view.pair().is_some() && view.calculates(true)),
    variant("gas-limits-vary", "gas limits differ from call to call").on_result(|view, result| {
        let count = view.memory.count();
        if result.contains_key("callGasLimit") {
            set(result, "callGasLimit", 50_000 + count);
            set(result, "verificationGasLimit", 90_000 + 3 * count);
            set(result, "preVerificationGas", (45_000 + 7 * count).to_string());
        }
    }),
    variant("gas-limits-zero", "gas limits are 0").warns(&["plausibility.gas"]).on_result(|_, result| {
        change_limits(result, |_| 0.into());
        replace(result, "preVerificationGas", "0");
    }),
    variant("gas-limits-large", "gas limits are above 2^64").on_result(|_, result| {
        change_limits(result, |_| {
            parsed("115792089237316195423570985008687907853269984665640564039457584007913129639935")
        });
    }),
    variant("pre-verification-gas-leading-zeros", "preVerificationGas has leading zeros").on_result(
        |_, result| change(result, "preVerificationGas", |value| format!("000{}", text_of(value)).into()),
    ),
    variant("pre-verification-gas-hex", "preVerificationGas is a hex quantity in token mode")
        .on_result(|_, result| change(result, "preVerificationGas", in_hex))
        .when(|view| view.is(kinds::SPONSOR_ERC20)),
    variant("exchange-rate-with-exponent", "exchangeRate is written like 2.3e+20")
        .on_result(|_, result| each_quote(result, "exchangeRate", with_exponent)),
    variant("exchange-rate-with-point", "exchangeRate is written with .0")
        .on_result(|_, result| each_quote(result, "exchangeRate", with_point)),
    variant("exchange-rate-small", "exchangeRate is 1")
        .on_result(|_, result| each_quote(result, "exchangeRate", |_| 1.into())),
    variant("valid-until-minutes", "validUntil is in minutes").on_result(|_, result| {
        each_quote(result, "validUntil", |until| json!(until.as_u64().unwrap_or_default() / 60));
    }),
    variant("valid-until-milliseconds", "validUntil is in milliseconds").on_result(|_, result| {
        each_quote(result, "validUntil", |value| parsed(&format!("{}000", text_of(value))));
    }),
    variant("valid-until-with-exponent", "validUntil is written like 1.7e9")
        .on_result(|_, result| each_quote(result, "validUntil", with_exponent)),
    variant("premium-zero", "premiumPercentage is 0")
        .on_result(|_, result| each_quote(result, "premiumPercentage", |_| "0".into())),
    variant("max-gas-fee-zero", "maxGasFee and maxGasFeeUSD are 0").on_result(|_, result| {
        each_quote(result, "maxGasFee", |_| 0.into());
        each_quote(result, "maxGasFeeUSD", |_| 0.into());
    }),
    variant("max-gas-fee-tiny", "maxGasFee is written like 1e-7").on_result(|_, result| {
        each_quote(result, "maxGasFee", |_| parsed("1e-7"));
        each_quote(result, "maxGasFeeUSD", |_| parsed("1E-9"));
    }),
    variant("max-gas-fee-many-digits", "maxGasFee has more digits than a double")
        .warns(&["plausibility.token-price"])
        .on_result(|_, result| {
            each_quote(result, "maxGasFee", |_| parsed("0.1234567890123456789012345678901234567890"));
        }),
    variant("max-gas-fee-whole", "maxGasFee is a whole number")
        .warns(&["plausibility.token-price"])
        .on_result(|_, result| each_quote(result, "maxGasFee", |_| json!(12))),
    variant("decimal-with-point", "decimal is written like 18.0")
        .on_result(|_, result| each_quote(result, "decimal", with_point)),
];

/// Removes the gas limits of the request.
const WITHOUT_LIMITS: Behaviour = Behaviour::Request(|_, request| {
    if let Some(operation) = request["params"][0].as_object_mut() {
        operation.retain(|member, _| !GAS_LIMITS.contains(&member.as_str()));
    }
});

fn change_limits(result: &mut Map<String, Value>, change: fn(&Value) -> Value) {
    for member in ["callGasLimit", "verificationGasLimit"] {
        self::change(result, member, change);
    }
}

/// The same integer in scientific notation, with all its digits.
fn with_exponent(value: &Value) -> Value {
    let digits = text_of(value);
    let Some((first, rest)) = digits.split_at_checked(1) else { return value.clone() };
    let kept = rest.trim_end_matches('0');
    let point = if kept.is_empty() { "" } else { "." };
    parsed(&format!("{first}{point}{kept}e+{}", rest.len()))
}

fn with_point(value: &Value) -> Value {
    parsed(&format!("{}.0", text_of(value)))
}
