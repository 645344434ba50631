//! Faults of requests as published clients write them: refused, or decided otherwise than plain ones.

use paymaster_schemas::kinds;
use serde_json::{Value, json};

use super::SERVE_FIRST_TOKEN;
use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, RequestView, replace_refusal};

const FORMS: Fault = Fault::breaking("interoperability.client-forms");

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new("request.sponsored-name", "sponsored-refused", "accepts the mode SPONSORSHIP, not SPONSORED")
        .refuses(|view| view.mode_object()["mode"] == "SPONSORED")
        .depends_on("/params/1/mode"),
    Fault::new(
        "request.token-quote-row",
        "gas-calculation-required-in-token-quotes",
        "requires calculateGasLimits in quotes in token mode",
    )
    .refuses(|view| {
        view.is_quote() && view.is_token_mode() && view.mode_object().get("calculateGasLimits").is_none()
    })
    .depends_on("/params/1/calculateGasLimits"),
    Fault::new(
        "error.token-unsupported",
        "token-word-served",
        "reads a fee token that is a word as the first supported token",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        let token = view.fee_token().filter(|token| !token.is_empty()).unwrap_or("0x");
        view.is(kinds::SPONSOR_ERC20) && !token.starts_with("0x")
    })
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        "error.token-absent",
        "token-of-another-type-served",
        "reads a fee token that is false, 0, a list or an object as the first supported token",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        let token = &view.token_info()["feeTokenAddress"];
        view.is(kinds::SPONSOR_ERC20) && !token.is_null() && !token.is_string()
    })
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    fault(FORMS, "client-forms-refused", "refuses operations with a signature or with paymasterAndData")
        .refuses(has_placeholder),
    fault(FORMS, "hex-nonce-refused", "refuses nonces in hex")
        .refuses(|view| is_hex(view, "nonce"))
        .depends_on("/params/0/nonce"),
    fault(FORMS, "decimal-fees-read-as-hex", "reads a fee in decimal digits as hex digits")
        .on_request(|view, request| {
            let fee = view.operation()["maxFeePerGas"].as_str().unwrap_or_default();
            request["params"][0]["maxFeePerGas"] = format!("0x{fee}").into();
        })
        .when(|view| {
            view.is_quote() && !is_hex(view, "maxFeePerGas") && view.operation()["maxFeePerGas"].is_string()
        })
        .depends_on("/params/0/maxFeePerGas"),
    fault(FORMS, "hex-fees-read-as-zero", "quotes fees of 0 where maxFeePerGas is in hex")
        .on_result(|_, result| {
            for quote in result.get_mut("feeQuotes").and_then(Value::as_array_mut).into_iter().flatten() {
                quote["maxGasFee"] = json!(0);
            }
        })
        .when(|view| view.is_quote() && is_hex(view, "maxFeePerGas"))
        .depends_on("/params/0/maxFeePerGas"),
    fault(FORMS, "both-infos-refused", "refuses requests with both info objects").refuses(|view| {
        view.mode_object().get("tokenInfo").is_some() && view.mode_object().get("sponsorshipInfo").is_some()
    }),
    fault(FORMS, "quote-expiry-refused", "refuses an expiryDuration in a quote")
        .refuses(|view| view.is_quote() && view.mode_object().get("expiryDuration").is_some())
        .depends_on("/params/1/expiryDuration"),
    Fault::new(
        "sponsor.decision-inputs",
        "client-forms-not-sponsored",
        "sponsors no operation with a signature or with paymasterAndData",
    )
    .injects(Behaviour::SPONSOR_NOTHING)
    .when(|view| view.is_sponsored_mode() && has_placeholder(view))
    .also(&["sponsor.sponsorable-is-sponsored"]),
    Fault::new(
        "sponsor.refused-gets-0x",
        "hex-nonces-always-sponsored",
        "sponsors refused senders whose nonce is in hex",
    )
    .on_result(|_, result| {
        replace_refusal(result, &format!("0x{}", "ab".repeat(40)));
    })
    .when(|view| view.is_sponsored_mode() && is_hex(view, "nonce"))
    .also(&["sponsor.decision-inputs"]),
];

fn has_placeholder(view: &RequestView<'_>) -> bool {
    ["signature", "paymasterAndData"].iter().any(|name| view.operation().get(name).is_some())
}

fn is_hex(view: &RequestView<'_>, name: &str) -> bool {
    view.operation()[name].as_str().is_some_and(|text| text.starts_with("0x"))
}
