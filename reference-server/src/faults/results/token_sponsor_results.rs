//! Faults of the members of a token-mode sponsor result (section 2.9). The forms of `paymasterAndData` are in `data_forms`.

use super::sponsored_results::number;
use crate::faults::Fault;
use crate::injection::MemberChange::{Map, Remove, Set};
use crate::injection::{decimal_text, json, text_of};

const MODE: &str = "token-sponsor-result.MODE";
const DATA: &str = "token-sponsor-result.paymasterAndData";
const PRE: &str = "token-sponsor-result.preVerificationGas";
const VERIFICATION: &str = "token-sponsor-result.verificationGasLimit";
const CALL: &str = "token-sponsor-result.callGasLimit";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::row(MODE, "token-mode-missing", "leaves MODE out", Remove),
    Fault::row(MODE, "token-mode-array", "MODE is an array", Set(r#"["ERC20"]"#)),
    Fault::row(MODE, "token-mode-lower-case", "MODE is in lower case", Set(r#""erc20""#)),
    Fault::row(MODE, "token-mode-sponsored", "MODE is SPONSORED", Set(r#""SPONSORED""#))
        .also(&["sponsor.mode-mandatory-served"]),
    Fault::row(DATA, "token-data-missing", "leaves paymasterAndData out", Remove),
    Fault::row(DATA, "token-data-empty", "paymasterAndData is 0x", Set(r#""0x""#)),
    Fault::row(DATA, "token-data-null", "paymasterAndData is null", Set("null")),
    Fault::row(DATA, "token-data-number", "paymasterAndData is a number", Set("0")),
    Fault::row(
        DATA,
        "token-data-missing-when-deploying",
        "leaves paymasterAndData out when there is an initCode",
        Remove,
    )
    .when(|view| view.has_init_code())
    .depends_on("/params/0/initCode"),
    Fault::row(PRE, "token-pre-missing", "leaves preVerificationGas out", Remove),
    Fault::row(PRE, "token-pre-number", "preVerificationGas is a number", Map(number)),
    Fault::row(PRE, "token-pre-null", "preVerificationGas is null", Set("null")),
    Fault::row(PRE, "token-pre-words", "preVerificationGas is not an amount", Set(r#""unknown""#))
        .of("plausibility.pre-verification-gas"),
    Fault::row(
        PRE,
        "token-pre-missing-when-not-given",
        "leaves preVerificationGas out when the request does",
        Remove,
    )
    .when(|view| view.operation().get("preVerificationGas").is_none())
    .depends_on("/params/0/preVerificationGas"),
    Fault::row(VERIFICATION, "token-verification-missing", "leaves verificationGasLimit out", Remove),
    Fault::row(
        VERIFICATION,
        "token-verification-string",
        "verificationGasLimit is a string",
        Map(decimal_text),
    ),
    Fault::row(
        VERIFICATION,
        "token-verification-fraction",
        "verificationGasLimit has a fraction",
        Map(|value| json(&format!("{}.25", text_of(value)))),
    ),
    Fault::row(
        VERIFICATION,
        "token-verification-string-now-and-then",
        "verificationGasLimit is a string in 1 of 25 results",
        Map(decimal_text),
    )
    .when(|view| view.is_one_in_25()),
    Fault::row(CALL, "token-call-missing", "leaves callGasLimit out", Remove),
    Fault::row(CALL, "token-call-string", "callGasLimit is a string", Map(decimal_text)),
    Fault::row(CALL, "token-call-negative", "callGasLimit is negative", Set("-21000")),
    Fault::row(
        CALL,
        "token-call-null-when-not-calculated",
        "callGasLimit is null when calculateGasLimits is false",
        Set("null"),
    )
    .when(|view| view.calculates(false))
    .depends_on("/params/1/calculateGasLimits"),
];
