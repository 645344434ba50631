//! Faults of the members of a token-mode sponsor result (section 2.9), and of `paymasterAndData` in either mode: values that are not whole
//! bytes in hex (sections 2.6 and 2.9).

use serde_json::Value;

use super::sponsored_results::number;
use crate::faults::{CALCULATE, Fault, fault};
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{decimal_text, json, text_of};

const MODE: Fault = Fault::breaking("token-sponsor-result.MODE");
const DATA: Fault = Fault::breaking("token-sponsor-result.paymasterAndData");
const PRE: Fault = Fault::breaking("token-sponsor-result.preVerificationGas");
const VERIFY: Fault = Fault::breaking("token-sponsor-result.verificationGasLimit");
const CALL: Fault = Fault::breaking("token-sponsor-result.callGasLimit");
const SPONSORED: Fault = Fault::breaking("sponsored-result.paymasterAndData");
const TOKEN: Fault = Fault::breaking("token-sponsor-result.paymasterAndData");

pub(crate) const FAULTS: &[Fault] = &[
    fault(MODE, "token-mode-array", "MODE is an array").changes(Set(r#"["ERC20"]"#)),
    fault(MODE, "token-mode-lower-case", "MODE is in lower case").changes(Set(r#""erc20""#)),
    fault(MODE, "token-mode-sponsored", "MODE is SPONSORED")
        .changes(Set(r#""SPONSORED""#))
        .also(&["sponsor.mode-mandatory-served"]),
    fault(DATA, "token-data-empty", "paymasterAndData is 0x").changes(Set(r#""0x""#)),
    fault(DATA, "token-data-empty-where-not-sponsored", "paymasterAndData is 0x for a sender to refuse")
        .changes(Set(r#""0x""#))
        .when(|view| view.is_denied()),
    fault(DATA, "token-data-null", "paymasterAndData is null").changes(Set("null")),
    fault(DATA, "token-data-number", "paymasterAndData is a number").changes(Set("0")),
    fault(DATA, "token-data-missing-when-deploying", "leaves paymasterAndData out when there is an initCode")
        .changes(Remove)
        .when_at("/params/0/initCode", |view| view.has_init_code()),
    fault(PRE, "token-pre-number", "preVerificationGas is a number").changes(Map(number)),
    fault(PRE, "token-pre-null", "preVerificationGas is null").changes(Set("null")),
    fault(PRE, "token-pre-words", "preVerificationGas is not an amount")
        .changes(Set(r#""unknown""#))
        .of("plausibility.pre-verification-gas"),
    fault(PRE, "token-pre-missing-when-not-given", "leaves preVerificationGas out when the request does")
        .changes(Remove)
        .when_at("/params/0/preVerificationGas", |view| view.lacks("preVerificationGas")),
    fault(VERIFY, "token-verification-fraction", "verificationGasLimit has a fraction")
        .changes(Map(|value| json(&format!("{}.25", text_of(value))))),
    fault(VERIFY, "token-verification-string-now-and-then", "the limit is a string in 1 of 25 results")
        .changes(Map(decimal_text))
        .when(|view| view.is_one_in(25)),
    fault(VERIFY, "token-verification-null-when-alone-absent", "the limit is null when it alone is left out")
        .changes(Set("null"))
        .when_at("/params/0/verificationGasLimit", |view| {
            let is_given = |name: &str| !view.lacks(name);
            is_given("callGasLimit") && is_given("preVerificationGas") && !is_given("verificationGasLimit")
        }),
    fault(CALL, "token-call-negative", "callGasLimit is negative").changes(Set("-21000")),
    fault(CALL, "token-call-null-when-not-calculated", "callGasLimit is null if calculateGasLimits is false")
        .changes(Set("null"))
        .when_at(CALCULATE, |view| view.calculates(false)),
    fault(SPONSORED, "sponsored-data-without-prefix", "paymasterAndData has no 0x prefix")
        .changes(Map(without_prefix)),
    fault(SPONSORED, "sponsored-data-half-byte", "paymasterAndData has an odd number of digits")
        .changes(Map(half_byte)),
    fault(SPONSORED, "sponsored-data-not-hex", "paymasterAndData has a letter that is not a hex digit")
        .changes(Map(not_hex)),
    fault(SPONSORED, "sponsored-data-upper-prefix", "paymasterAndData starts with 0X")
        .changes(Map(upper_prefix)),
    fault(SPONSORED, "sponsored-data-blank", "paymasterAndData ends with a blank").changes(Map(blank)),
    fault(TOKEN, "token-data-without-prefix", "paymasterAndData has no 0x prefix")
        .changes(Map(without_prefix)),
    fault(TOKEN, "token-data-half-byte", "paymasterAndData has an odd number of digits")
        .changes(Map(half_byte)),
    fault(TOKEN, "token-data-not-hex", "paymasterAndData has a letter that is not a hex digit")
        .changes(Map(not_hex)),
    fault(TOKEN, "token-data-upper-prefix", "paymasterAndData starts with 0X").changes(Map(upper_prefix)),
    fault(TOKEN, "token-data-line-break", "paymasterAndData ends with a line break")
        .changes(Map(|value| format!("{}\n", text_of(value)).into())),
];

fn without_prefix(value: &Value) -> Value {
    change_data(value, |text| text.trim_start_matches("0x").to_owned())
}

fn half_byte(value: &Value) -> Value {
    change_data(value, |text| format!("{text}a"))
}

fn not_hex(value: &Value) -> Value {
    change_data(value, |text| format!("{text}0g"))
}

fn upper_prefix(value: &Value) -> Value {
    change_data(value, |text| text.replacen("0x", "0X", 1))
}

fn blank(value: &Value) -> Value {
    change_data(value, |text| format!("{text} "))
}

/// Changes the data of a sponsored operation. The data `0x` is left unchanged, because another clause is about it.
fn change_data(value: &Value, change: fn(&str) -> String) -> Value {
    let text = text_of(value);
    if text == "0x" { text } else { change(&text) }.into()
}
