//! Faults of the members of a sponsored result (section 2.6).

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::faults::Fault;
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{decimal_text, json, text_of};

const MODE: &str = "sponsored-result.MODE";
const DATA: &str = "sponsored-result.paymasterAndData";
const PRE: &str = "sponsored-result.preVerificationGas";
const VERIFICATION: &str = "sponsored-result.verificationGasLimit";
const CALL: &str = "sponsored-result.callGasLimit";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::row(MODE, "sponsored-mode-missing", "leaves MODE out", Remove),
    Fault::row(MODE, "sponsored-mode-number", "MODE is a number", Set("1")),
    Fault::row(MODE, "sponsored-mode-lower-case", "MODE is in lower case", Set(r#""sponsored""#)),
    Fault::row(MODE, "sponsored-mode-alias", "MODE is SPONSORSHIP", Set(r#""SPONSORSHIP""#)),
    Fault::row(MODE, "sponsored-mode-erc20", "MODE is ERC20", Set(r#""ERC20""#))
        .also(&["sponsor.mode-mandatory-served"]),
    Fault::row(MODE, "sponsored-mode-null-now-and-then", "MODE is null in 1 of 25 results", Set("null"))
        .when(|view| view.is_one_in_25()),
    Fault::row(MODE, "sponsored-mode-missing-in-quotes", "leaves MODE out, in quotes only", Remove)
        .when(|view| view.is(Pair::QUOTE_SPONSORED)),
    Fault::row(DATA, "sponsored-data-missing", "leaves paymasterAndData out", Remove),
    Fault::row(DATA, "sponsored-data-null", "paymasterAndData is null", Set("null")),
    Fault::row(
        DATA,
        "sponsored-data-object",
        "paymasterAndData is an object",
        Map(|value| serde_json::json!({ "data": value })),
    ),
    Fault::row(
        DATA,
        "sponsored-data-array",
        "paymasterAndData is an array",
        Map(|value| Value::Array(vec![value.clone()])),
    ),
    Fault::row(
        DATA,
        "sponsored-data-missing-when-deploying",
        "leaves paymasterAndData out when there is an initCode",
        Remove,
    )
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::row(PRE, "sponsored-pre-missing", "leaves preVerificationGas out", Remove),
    Fault::row(PRE, "sponsored-pre-number", "preVerificationGas is a number", Map(number)),
    Fault::row(PRE, "sponsored-pre-hex", "preVerificationGas is in hex", Map(hex)),
    Fault::row(
        PRE,
        "sponsored-pre-fraction",
        "preVerificationGas has a fraction",
        Map(|value| format!("{}.0", text_of(value)).into()),
    ),
    Fault::row(PRE, "sponsored-pre-empty", "preVerificationGas is an empty string", Set(r#""""#)),
    Fault::row(
        PRE,
        "sponsored-pre-signed",
        "preVerificationGas carries a sign",
        Map(|value| format!("+{}", text_of(value)).into()),
    ),
    Fault::row(
        PRE,
        "sponsored-pre-grouped",
        "preVerificationGas has a comma in it",
        Map(|value| format!("{},000", text_of(value)).into()),
    ),
    Fault::row(
        PRE,
        "sponsored-pre-number-when-sponsoring",
        "preVerificationGas is a number, when sponsoring only",
        Map(number),
    )
    .when(|view| view.is(Pair::SPONSOR_SPONSORED)),
    Fault::row(VERIFICATION, "sponsored-verification-missing", "leaves verificationGasLimit out", Remove),
    Fault::row(
        VERIFICATION,
        "sponsored-verification-string",
        "verificationGasLimit is a string",
        Map(decimal_text),
    ),
    Fault::row(VERIFICATION, "sponsored-verification-null", "verificationGasLimit is null", Set("null")),
    Fault::row(
        VERIFICATION,
        "sponsored-verification-negative",
        "verificationGasLimit is negative",
        Set("-1"),
    ),
    Fault::row(
        VERIFICATION,
        "sponsored-verification-missing-when-not-calculated",
        "leaves verificationGasLimit out when calculateGasLimits is false",
        Remove,
    )
    .when(|view| view.calculates(false))
    .depends_on("/params/1/calculateGasLimits"),
    Fault::row(CALL, "sponsored-call-missing", "leaves callGasLimit out", Remove),
    Fault::row(CALL, "sponsored-call-string", "callGasLimit is a string", Map(decimal_text)),
    Fault::row(
        CALL,
        "sponsored-call-fraction",
        "callGasLimit has a fraction",
        Map(|value| json(&format!("{}.5", text_of(value)))),
    ),
    Fault::row(CALL, "sponsored-call-boolean", "callGasLimit is a boolean", Set("true")),
    Fault::row(
        CALL,
        "sponsored-call-string-when-deploying",
        "callGasLimit is a string when there is an initCode",
        Map(decimal_text),
    )
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::row(
        CALL,
        "sponsored-call-missing-now-and-then",
        "leaves callGasLimit out of 1 of 25 results",
        Remove,
    )
    .when(|view| view.is_one_in_25()),
];

/// A string of digits as a number.
pub(in crate::faults) fn number(value: &Value) -> Value {
    json(&text_of(value))
}

/// A decimal string as a hex quantity.
pub(in crate::faults) fn hex(value: &Value) -> Value {
    let amount = text_of(value).parse::<alloy_primitives::U256>().unwrap_or_default();
    format!("{amount:#x}").into()
}
