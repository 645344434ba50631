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
    Fault::new(MODE, "sponsored-mode-number", "MODE is a number").changes(Set("1")),
    Fault::new(MODE, "sponsored-mode-lower-case", "MODE is in lower case").changes(Set(r#""sponsored""#)),
    Fault::new(MODE, "sponsored-mode-alias", "MODE is SPONSORSHIP").changes(Set(r#""SPONSORSHIP""#)),
    Fault::new(MODE, "sponsored-mode-erc20", "MODE is ERC20")
        .changes(Set(r#""ERC20""#))
        .also(&["sponsor.mode-mandatory-served"]),
    Fault::new(MODE, "sponsored-mode-null-now-and-then", "MODE is null in 1 of 25 results")
        .changes(Set("null"))
        .when(|view| view.is_one_in_25()),
    Fault::new(MODE, "sponsored-mode-missing-in-quotes", "leaves MODE out, in quotes only")
        .changes(Remove)
        .when(|view| view.is(Pair::QUOTE_SPONSORED)),
    Fault::new(DATA, "sponsored-data-null", "paymasterAndData is null").changes(Set("null")),
    Fault::new(DATA, "sponsored-data-object", "paymasterAndData is an object")
        .changes(Map(|value| serde_json::json!({ "data": value }))),
    Fault::new(DATA, "sponsored-data-array", "paymasterAndData is an array")
        .changes(Map(|value| Value::Array(vec![value.clone()]))),
    Fault::new(
        DATA,
        "sponsored-data-missing-when-deploying",
        "leaves paymasterAndData out when there is an initCode",
    )
    .changes(Remove)
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::new(PRE, "sponsored-pre-number", "preVerificationGas is a number").changes(Map(number)),
    Fault::new(PRE, "sponsored-pre-hex", "preVerificationGas is in hex").changes(Map(hex)),
    Fault::new(PRE, "sponsored-pre-fraction", "preVerificationGas has a fraction")
        .changes(Map(|value| format!("{}.0", text_of(value)).into())),
    Fault::new(PRE, "sponsored-pre-empty", "preVerificationGas is an empty string").changes(Set(r#""""#)),
    Fault::new(PRE, "sponsored-pre-signed", "preVerificationGas carries a sign")
        .changes(Map(|value| format!("+{}", text_of(value)).into())),
    Fault::new(PRE, "sponsored-pre-grouped", "preVerificationGas has a comma in it")
        .changes(Map(|value| format!("{},000", text_of(value)).into())),
    Fault::new(
        PRE,
        "sponsored-pre-number-when-sponsoring",
        "preVerificationGas is a number, when sponsoring only",
    )
    .changes(Map(number))
    .when(|view| view.is(Pair::SPONSOR_SPONSORED)),
    Fault::new(VERIFICATION, "sponsored-verification-null", "verificationGasLimit is null")
        .changes(Set("null")),
    Fault::new(VERIFICATION, "sponsored-verification-negative", "verificationGasLimit is negative")
        .changes(Set("-1")),
    Fault::new(
        VERIFICATION,
        "sponsored-verification-missing-when-not-calculated",
        "leaves verificationGasLimit out when calculateGasLimits is false",
    )
    .changes(Remove)
    .when(|view| view.calculates(false))
    .depends_on("/params/1/calculateGasLimits"),
    Fault::new(CALL, "sponsored-call-fraction", "callGasLimit has a fraction")
        .changes(Map(|value| json(&format!("{}.5", text_of(value))))),
    Fault::new(CALL, "sponsored-call-boolean", "callGasLimit is a boolean").changes(Set("true")),
    Fault::new(
        CALL,
        "sponsored-call-string-when-deploying",
        "callGasLimit is a string when there is an initCode",
    )
    .changes(Map(decimal_text))
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::new(CALL, "sponsored-call-missing-now-and-then", "leaves callGasLimit out of 1 of 25 results")
        .changes(Remove)
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
