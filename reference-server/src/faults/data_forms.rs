//! paymasterAndData that is no hex string of whole bytes, in either mode (sections 2.6 and 2.9).

use serde_json::Value;

use super::Fault;
use crate::deviations::Damage::By;
use crate::deviations::text_of;

const SPONSORED: &str = "sponsored-result.paymasterAndData";
const TOKEN: &str = "token-sponsor-result.paymasterAndData";

pub(super) const FAULTS: &[Fault] = &[
    Fault::row(
        SPONSORED,
        "sponsored-data-without-prefix",
        "paymasterAndData lacks its 0x",
        By(without_prefix),
    ),
    Fault::row(
        SPONSORED,
        "sponsored-data-half-byte",
        "paymasterAndData has an odd number of digits",
        By(half_byte),
    ),
    Fault::row(
        SPONSORED,
        "sponsored-data-not-hex",
        "paymasterAndData has a letter that is no hex digit",
        By(not_hex),
    ),
    Fault::row(
        SPONSORED,
        "sponsored-data-upper-prefix",
        "paymasterAndData starts with 0X",
        By(upper_prefix),
    ),
    Fault::row(
        SPONSORED,
        "sponsored-data-blank",
        "paymasterAndData ends with a blank",
        By(blank),
    ),
    Fault::row(
        TOKEN,
        "token-data-without-prefix",
        "paymasterAndData lacks its 0x",
        By(without_prefix),
    ),
    Fault::row(
        TOKEN,
        "token-data-half-byte",
        "paymasterAndData has an odd number of digits",
        By(half_byte),
    ),
    Fault::row(
        TOKEN,
        "token-data-not-hex",
        "paymasterAndData has a letter that is no hex digit",
        By(not_hex),
    ),
    Fault::row(
        TOKEN,
        "token-data-upper-prefix",
        "paymasterAndData starts with 0X",
        By(upper_prefix),
    ),
    Fault::row(
        TOKEN,
        "token-data-line-break",
        "paymasterAndData ends with a line break",
        By(|value| format!("{}\n", text_of(value)).into()),
    ),
];

fn without_prefix(value: &Value) -> Value {
    text_of(value).trim_start_matches("0x").into()
}

fn half_byte(value: &Value) -> Value {
    format!("{}a", text_of(value)).into()
}

fn not_hex(value: &Value) -> Value {
    format!("{}0g", text_of(value)).into()
}

fn upper_prefix(value: &Value) -> Value {
    text_of(value).replacen("0x", "0X", 1).into()
}

fn blank(value: &Value) -> Value {
    format!("{} ", text_of(value)).into()
}
