//! The rows of the token-mode sponsor result (section 2.9); the forms of paymasterAndData are in `data_forms`.

use super::Fault;
use super::sponsored_results::number;
use crate::deviations::Damage::{By, Missing, To};
use crate::deviations::{decimal_text, json, text_of};

const MODE: &str = "token-sponsor-result.MODE";
const DATA: &str = "token-sponsor-result.paymasterAndData";
const PRE: &str = "token-sponsor-result.preVerificationGas";
const VERIFICATION: &str = "token-sponsor-result.verificationGasLimit";
const CALL: &str = "token-sponsor-result.callGasLimit";

pub(super) const FAULTS: &[Fault] = &[
    Fault::row(MODE, "token-mode-missing", "leaves MODE out", Missing),
    Fault::row(MODE, "token-mode-array", "MODE is an array", To(r#"["ERC20"]"#)),
    Fault::row(
        MODE,
        "token-mode-lower-case",
        "MODE is in lower case",
        To(r#""erc20""#),
    ),
    Fault::row(
        MODE,
        "token-mode-sponsored",
        "MODE is SPONSORED",
        To(r#""SPONSORED""#),
    )
    .also(&["sponsor.mode-mandatory-served"]),
    Fault::row(DATA, "token-data-missing", "leaves paymasterAndData out", Missing),
    Fault::row(DATA, "token-data-empty", "paymasterAndData is 0x", To(r#""0x""#)),
    Fault::row(DATA, "token-data-null", "paymasterAndData is null", To("null")),
    Fault::row(DATA, "token-data-number", "paymasterAndData is a number", To("0")),
    Fault::row(
        DATA,
        "token-data-missing-when-deploying",
        "leaves paymasterAndData out when there is an initCode",
        Missing,
    )
    .when(|asked| asked.has_init_code()),
    Fault::row(PRE, "token-pre-missing", "leaves preVerificationGas out", Missing),
    Fault::row(
        PRE,
        "token-pre-number",
        "preVerificationGas is a number",
        By(number),
    ),
    Fault::row(PRE, "token-pre-null", "preVerificationGas is null", To("null")),
    Fault::row(
        PRE,
        "token-pre-words",
        "preVerificationGas is not an amount",
        To(r#""unknown""#),
    ),
    Fault::row(
        PRE,
        "token-pre-missing-when-not-given",
        "leaves preVerificationGas out when the request does",
        Missing,
    )
    .when(|asked| asked.operation().get("preVerificationGas").is_none()),
    Fault::row(
        VERIFICATION,
        "token-verification-missing",
        "leaves verificationGasLimit out",
        Missing,
    ),
    Fault::row(
        VERIFICATION,
        "token-verification-string",
        "verificationGasLimit is a string",
        By(decimal_text),
    ),
    Fault::row(
        VERIFICATION,
        "token-verification-fraction",
        "verificationGasLimit has a fraction",
        By(|value| json(&format!("{}.25", text_of(value)))),
    ),
    Fault::row(
        VERIFICATION,
        "token-verification-string-now-and-then",
        "verificationGasLimit is a string in 1 of 25 results",
        By(decimal_text),
    )
    .when(|asked| asked.now_and_then()),
    Fault::row(CALL, "token-call-missing", "leaves callGasLimit out", Missing),
    Fault::row(
        CALL,
        "token-call-string",
        "callGasLimit is a string",
        By(decimal_text),
    ),
    Fault::row(
        CALL,
        "token-call-negative",
        "callGasLimit is negative",
        To("-21000"),
    ),
    Fault::row(
        CALL,
        "token-call-null-when-not-calculated",
        "callGasLimit is null when calculateGasLimits is false",
        To("null"),
    )
    .when(|asked| asked.calculates(false)),
];
