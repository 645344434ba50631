//! Faults of `paymasterAndData`: values that are not whole bytes in hex, in either mode (sections 2.6 and 2.9).

use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::MemberChange::Map;
use crate::injection::text_of;

const SPONSORED: Fault = Fault::breaking("sponsored-result.paymasterAndData");
const TOKEN: Fault = Fault::breaking("token-sponsor-result.paymasterAndData");

pub(in crate::faults) const FAULTS: &[Fault] = &[
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
