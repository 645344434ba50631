//! Faults of requests as published clients write them: refused, or decided otherwise than plain ones.

use paymaster_schemas::kinds;
use serde_json::json;

use super::SERVE_FIRST_TOKEN;
use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, RequestView, each_quote, replace_refusal};

const FORMS: Fault = Fault::breaking("interoperability.client-forms");

const TOKEN_QUOTE: Fault =
    Fault::breaking("request.token-quote-row").depends_on("/params/1/calculateGasLimits");

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new("request.sponsored-name", "sponsored-refused", "accepts the mode SPONSORSHIP, not SPONSORED")
        .refuses(|view| view.mode_object()["mode"] == "SPONSORED")
        .depends_on("/params/1/mode"),
    fault(TOKEN_QUOTE, "gas-calculation-required-in-token-quotes", "token quotes need calculateGasLimits")
        .refuses(|view| view.is_quote() && view.is_token_mode() && view.omits("calculateGasLimits")),
    Fault::new("error.token-unsupported", "token-word-served", "reads a word as the first supported token")
        .injects(SERVE_FIRST_TOKEN)
        .when(|view| view.pays_in(|token| !token.is_empty() && !token.starts_with("0x")))
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new("error.token-absent", "token-of-another-type-served", "serves a token that is no string")
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
        .on_result(|_, result| each_quote(result, "maxGasFee", |_| json!(0)))
        .when(|view| view.is_quote() && is_hex(view, "maxFeePerGas"))
        .also(&["plausibility.*", "interoperability.*"])
        .depends_on("/params/0/maxFeePerGas"),
    fault(FORMS, "both-infos-refused", "refuses requests with both info objects")
        .refuses(|view| !view.omits("tokenInfo") && !view.omits("sponsorshipInfo")),
    fault(FORMS, "quote-expiry-refused", "refuses an expiryDuration in a quote")
        .refuses(|view| view.is_quote() && !view.omits("expiryDuration"))
        .depends_on("/params/1/expiryDuration"),
    Fault::new("sponsor.decision-inputs", "client-forms-not-sponsored", "sponsors nothing with placeholders")
        .injects(Behaviour::SPONSOR_NOTHING)
        .when(|view| view.is_sponsored_mode() && has_placeholder(view))
        .also(&["sponsor.sponsorable-is-sponsored"]),
    Fault::new("sponsor.refused-gets-0x", "hex-nonces-always-sponsored", "sponsors whatever has a hex nonce")
        .on_result(|_, result| replace_refusal(result, &format!("0x{}", "ab".repeat(40))))
        .when(|view| view.is_sponsored_mode() && is_hex(view, "nonce"))
        .also(&["sponsor.decision-inputs"]),
];

fn has_placeholder(view: &RequestView<'_>) -> bool {
    ["signature", "paymasterAndData"].iter().any(|name| !view.lacks(name))
}

fn is_hex(view: &RequestView<'_>, name: &str) -> bool {
    view.operation()[name].as_str().is_some_and(|text| text.starts_with("0x"))
}
