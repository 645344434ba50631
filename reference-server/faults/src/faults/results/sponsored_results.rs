//! Faults of the members of a sponsored result (section 2.6).

use paymaster_schemas::kinds;
use serde_json::Value;

use crate::faults::{CALCULATE, Fault, fault};
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{decimal_text, in_hex, json, text_of};

const MODE: Fault = Fault::breaking("sponsored-result.MODE");
const DATA: Fault = Fault::breaking("sponsored-result.paymasterAndData");
const PRE: Fault = Fault::breaking("sponsored-result.preVerificationGas");
const VERIFY: Fault = Fault::breaking("sponsored-result.verificationGasLimit");
const CALL: Fault = Fault::breaking("sponsored-result.callGasLimit");

pub(crate) const FAULTS: &[Fault] = &[
    fault(MODE, "sponsored-mode-number", "MODE is a number").changes(Set("1")),
    fault(MODE, "sponsored-mode-lower-case", "MODE is in lower case").changes(Set(r#""sponsored""#)),
    fault(MODE, "sponsored-mode-alias", "MODE is SPONSORSHIP").changes(Set(r#""SPONSORSHIP""#)),
    fault(MODE, "sponsored-mode-erc20", "MODE is ERC20")
        .changes(Set(r#""ERC20""#))
        .also(&["sponsor.mode-mandatory-served"]),
    fault(MODE, "sponsored-mode-null-now-and-then", "MODE is null in 1 of 25 results")
        .changes(Set("null"))
        .when(|view| view.is_one_in(25)),
    fault(MODE, "sponsored-mode-null-for-half", "MODE is null for half of all requests, by a hash of bytes")
        .changes(Set("null"))
        .when(|view| {
            let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            view.raw.iter().fold(0xcbf2_9ce4_8422_2325, hash).count_ones().is_multiple_of(2)
        }),
    fault(MODE, "sponsored-mode-missing-in-quotes", "leaves MODE out, in quotes only")
        .changes(Remove)
        .when(|view| view.is(kinds::QUOTE_SPONSORED)),
    fault(DATA, "sponsored-data-null", "paymasterAndData is null").changes(Set("null")),
    fault(DATA, "sponsored-data-object", "paymasterAndData is an object")
        .changes(Map(|value| serde_json::json!({ "data": value }))),
    fault(DATA, "sponsored-data-array", "paymasterAndData is an array")
        .changes(Map(|value| Value::Array(vec![value.clone()]))),
    fault(DATA, "sponsored-data-missing-when-deploying", "leaves paymasterAndData out beside an initCode")
        .changes(Remove)
        .when_at("/params/0/initCode", |view| view.has_init_code()),
    fault(PRE, "sponsored-pre-number", "preVerificationGas is a number").changes(Map(number)),
    fault(PRE, "sponsored-pre-hex", "preVerificationGas is in hex").changes(Map(in_hex)),
    fault(PRE, "sponsored-pre-fraction", "preVerificationGas has a fraction")
        .changes(Map(|value| format!("{}.0", text_of(value)).into())),
    fault(PRE, "sponsored-pre-empty", "preVerificationGas is an empty string").changes(Set(r#""""#)),
    fault(PRE, "sponsored-pre-signed", "preVerificationGas carries a sign")
        .changes(Map(|value| format!("+{}", text_of(value)).into())),
    fault(PRE, "sponsored-pre-grouped", "preVerificationGas has a comma in it")
        .changes(Map(|value| format!("{},000", text_of(value)).into())),
    fault(PRE, "sponsored-pre-number-when-sponsoring", "preVerificationGas is a number when sponsoring only")
        .changes(Map(number))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED)),
    fault(VERIFY, "sponsored-verification-null", "verificationGasLimit is null").changes(Set("null")),
    fault(VERIFY, "sponsored-verification-negative", "verificationGasLimit is negative").changes(Set("-1")),
    fault(
        VERIFY,
        "sponsored-verification-missing-when-not-calculated",
        "leaves verificationGasLimit out when it is not calculated",
    )
    .changes(Remove)
    .when_at(CALCULATE, |view| view.calculates(false)),
    fault(CALL, "sponsored-call-fraction", "callGasLimit has a fraction")
        .changes(Map(|value| json(&format!("{}.5", text_of(value))))),
    fault(CALL, "sponsored-call-boolean", "callGasLimit is a boolean").changes(Set("true")),
    fault(CALL, "sponsored-call-string-when-deploying", "callGasLimit is a string when there is an initCode")
        .changes(Map(decimal_text))
        .when_at("/params/0/initCode", |view| view.has_init_code()),
    fault(CALL, "sponsored-call-missing-now-and-then", "leaves callGasLimit out of 1 of 25 results")
        .changes(Remove)
        .when(|view| view.is_one_in(25)),
];

/// A string of digits as a number.
pub(crate) fn number(value: &Value) -> Value {
    json(&text_of(value))
}
