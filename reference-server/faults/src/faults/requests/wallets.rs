//! Faults of code that looks into what wallets send: calls that decode, factories, sizes, look-alike tokens, and the form of a request.

use alloy_primitives::U256;
use paymaster_schemas::kinds;
use serde_json::Value;

use super::super::json_rpc::ids::respell;
use super::SERVE_FIRST_TOKEN;
use crate::faults::{CALL_DATA, FEE_TOKEN, Fault, PREFERRED, fault};
use crate::injection::{
    Behaviour, GAS_LIMITS, RequestView, SOME_DATA, WireResponse, refuse, replace_refusal,
};

const SERVED: Fault = Fault::breaking("sponsor.sponsored-result");
const CALLS_SERVED: Fault = SERVED.depends_on(CALL_DATA);
const SPONSORED: Fault =
    Fault::breaking("sponsor.sponsorable-is-sponsored").injects(Behaviour::SPONSOR_NOTHING);
/// An operation is sponsored that must not be.
const REFUSED: Fault = Fault::breaking("sponsor.refused-gets-0x")
    .on_result(|_, result| replace_refusal(result, SOME_DATA))
    .also(DECISION);
const SIZES: Fault = Fault::breaking("request.sizes");
const UNSUPPORTED: Fault = Fault::breaking("error.token-unsupported").injects(SERVE_FIRST_TOKEN);
const SIMILAR: Fault = UNSUPPORTED.depends_on(FEE_TOKEN);
const WEBHOOK: Fault =
    Fault::breaking("request.webhook-data").depends_on("/params/1/sponsorshipInfo/webhookData");
const TEXT: Fault = Fault::breaking("answer.json-text").on_http(|_, response| fail(response));

const LOWER_CASE: Fault = Fault::breaking("answer.id")
    .on_answer(|view, answer| respell(view, answer, str::to_ascii_lowercase))
    .depends_on("/id");

/// A decision that does not depend on the operation alone.
const DECISION: &[&str] = &["sponsor.decision-inputs"];
const USDC: &str = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
/// The selectors of batches of calls.
const BATCHES: [&str; 4] = ["34fcd5be", "47e1da2a", "18dfb3c7", "00004680"];
/// The selector with which ERC-7579 accounts run calls.
const MODULAR: &str = "e9ae5c53";

pub(crate) const FAULTS: &[Fault] = &[
    fault(SPONSORED, "approval-not-sponsored", "sponsors no call that approves a token")
        .when_at(CALL_DATA, |view| view.is_sponsored_mode() && calls(view).contains("095ea7b3")),
    fault(CALLS_SERVED, "approval-of-all-refused", "refuses calls that approve all of a token").refuses(
        |view| {
            let data = calls(view);
            data.contains("095ea7b3") && data.contains(&"f".repeat(64))
        },
    ),
    fault(SPONSORED, "transfer-of-ether-not-sponsored", "sponsors no transfer of ether")
        .when(|view| {
            let is_single = calls(view).starts_with("b61d27f6");
            view.is_sponsored_mode() && is_single && word(view, 1).is_some_and(|value| !value.is_zero())
        })
        .depends_on(CALL_DATA),
    fault(CALLS_SERVED, "long-batches-refused", "refuses batches of more than six calls")
        .refuses(|view| calls_of_batch(view) > 6),
    fault(CALLS_SERVED, "modular-batches-refused", "refuses batches of ERC-7579 accounts")
        .refuses(|view| calls(view).starts_with(&format!("{MODULAR}01"))),
    fault(CALLS_SERVED, "modular-try-refused", "refuses calls of ERC-7579 accounts that may fail")
        .refuses(|view| calls(view).starts_with(MODULAR) && calls(view).get(10..12) == Some("01")),
    fault(CALLS_SERVED, "execute-user-op-refused", "refuses call data that begin with executeUserOp")
        .refuses(|view| calls(view).starts_with("8dd7712f")),
    fault(CALLS_SERVED, "delegate-calls-of-safe-refused", "refuses delegate calls, the batches of a Safe")
        .refuses(|view| {
            let is_of_safe =
                ["7bb37428", "541d63c8"].iter().any(|selector| calls(view).starts_with(selector));
            is_of_safe && word(view, 3) == Some(U256::ONE)
        }),
    fault(CALLS_SERVED, "call-data-in-mixed-case-refused", "refuses call data of small and capital letters")
        .refuses(|view| is_in_mixed_case(&view.operation()["callData"])),
    fault(
        CALLS_SERVED,
        "attribution-refused",
        "refuses call data with the marker of ERC-8021 behind the arguments",
    )
    .refuses(|view| view.text("callData").ends_with("80218021")),
    fault(SERVED, "init-code-in-mixed-case-refused", "refuses initCode with small and capital letters")
        .refuses_at("/params/0/initCode", |view| is_in_mixed_case(&view.operation()["initCode"]))
        .also(&["request.init-code"]),
    fault(SPONSORED, "deployment-of-safe-not-sponsored", "sponsors no deployment of a Safe")
        .when(|view| {
            let code = view.text("initCode").to_ascii_lowercase();
            view.is_sponsored_mode() && code.starts_with("0x4e1dcf7ad4e460cfd30791ccc4f9c8a4f820ec67")
        })
        .depends_on("/params/0/initCode"),
    fault(SIZES, "call-data-above-2000-refused", "refuses call data of 2,001 to 8,000 bytes")
        .refuses_at(CALL_DATA, |view| (2_001..=8_000).contains(&view.byte_count("callData"))),
    fault(SIZES, "init-code-above-2000-refused", "refuses initCode above 2,000 bytes")
        .refuses_at("/params/0/initCode", |view| view.byte_count("initCode") > 2_000),
    fault(SIZES, "id-above-500-refused", "refuses ids of 500 to 999 letters")
        .refuses_at("/id", |view| view.id_string().is_some_and(|id| (500..1_000).contains(&id.len())))
        .also(&["request.id-string"]),
    Fault::new("request.id-string", "id-above-36-refused", "refuses ids of 37 to 900 letters")
        .refuses_at("/id", |view| view.id_string().is_some_and(|id| (37..=900).contains(&id.len())))
        .also(&[SIZES.clause, "sponsor.*", "quote.*"]),
    fault(SIZES, "webhook-data-above-4000-refused", "refuses webhookData above 4,000 bytes")
        .refuses(|view| view.sponsorship_info()["webhookData"].to_string().len() > 4_000)
        .depends_on("/params/1/sponsorshipInfo/webhookData"),
    Fault::new("request.expiry-duration", "duration-of-whole-minutes", "requires whole minutes")
        .refuses(|view| {
            let seconds = view.mode_object()["expiryDuration"].as_u64();
            seconds.is_some_and(|seconds| (61..=3_600).contains(&seconds) && seconds % 60 != 0)
        })
        .depends_on("/params/1/expiryDuration"),
    Fault::new("request.nonce-uint256", "nonce-of-a-validator-refused", "refuses a key of 129 to 160 bits")
        .refuses(|view| view.amount("nonce").is_some_and(|nonce| (193..=224).contains(&nonce.bit_len())))
        .depends_on("/params/0/nonce"),
    fault(SERVED, "sender-without-letters-refused", "reads a sender without letters as a number")
        .refuses(|view| {
            let sender = view.text("sender");
            sender.get(2..).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
        })
        .depends_on("/params/0/sender"),
    fault(SERVED, "equal-fees-refused", "refuses operations whose two fees are equal")
        .refuses(|view| view.amount("maxFeePerGas") == view.amount("maxPriorityFeePerGas"))
        .also(&["quote.*", "sponsor.*", "request.*"])
        .depends_on("/params/0/maxPriorityFeePerGas"),
    fault(SERVED, "equal-fees-refused-first", "refuses two equal fees, also where the envelope is malformed")
        .on_answer(|_, answer| refuse(answer, -32602, "invalid params: not accepted"))
        .when_at("/params/0/maxPriorityFeePerGas", |view| {
            let fee = view.amount("maxFeePerGas");
            let is_of_a_method =
                [kinds::QUOTE, kinds::SPONSOR].iter().any(|method| view.request["method"] == *method);
            fee.is_some() && is_of_a_method && fee == view.amount("maxPriorityFeePerGas")
        })
        .also(&["quote.*", "sponsor.*", "request.*", "error.*", "json-rpc.*"]),
    fault(SIMILAR, "token-by-its-ends-served", "compares the first and the last four digits of a token")
        .when(|view| is_similar(view, |named, known| named[..6] == known[..6] && named[38..] == known[38..])),
    fault(SIMILAR, "token-with-another-digit-served", "overlooks the 20th digit of a token").when(|view| {
        is_similar(view, |named, known| named[..21] == known[..21] && named[22..] == known[22..])
    }),
    fault(SIMILAR, "token-of-ethereum-served", "supports USDC of Ethereum, on whichever chain")
        .when(|view| view.pays_in(|token| token.eq_ignore_ascii_case(USDC))),
    fault(UNSUPPORTED, "unsupported-token-served-1-in-200", "serves 1 of 200 tokens that are not supported")
        .when(|view| view.names_unsupported_fee_token() && view.is_one_in(200)),
    fault(UNSUPPORTED, "unsupported-token-served-to-2-0-0", "serves any token to requests of jsonrpc 2.0.0")
        .when(|view| view.names_unsupported_fee_token() && view.request["jsonrpc"] == "2.0.0"),
    fault(REFUSED, "refused-sponsored-without-gas", "sponsors a refused sender that sends gas limits of 0")
        .when(|view| GAS_LIMITS.iter().all(|name| view.amount(name) == Some(U256::ZERO))),
    fault(REFUSED, "refused-sponsored-with-signature", "sponsors a refused sender that sends a signature")
        .when(|view| view.byte_count("signature") == 65),
    fault(REFUSED, "refused-sponsored-with-webhook-data", "sponsors refused senders beside webhookData")
        .when(|view| view.webhook_data().next().is_some()),
    fault(REFUSED, "refused-sponsored-as-sponsorship", "sponsors a refused sender in the mode SPONSORSHIP")
        .when(|view| view.mode_object()["mode"] == "SPONSORSHIP"),
    fault(REFUSED, "refused-sponsored-above-2-64", "sponsors refused senders whose gas costs above 2^64 wei")
        .when(|view| {
            let [gas, fee] =
                ["callGasLimit", "maxFeePerGas"].map(|name| view.amount(name).unwrap_or_default());
            gas.saturating_mul(fee) >= U256::ONE << 64
        }),
    fault(REFUSED, "refused-sponsored-for-safe", "sponsors a refused sender whose account is a Safe")
        .when(|view| view.sponsorship_info()["smartAccountInfo"]["name"] == "SAFE"),
    fault(REFUSED, "refused-sponsored-in-viem-form", "sponsors a refused sender as viem writes it")
        .when(|view| !view.lacks("paymasterPostOpGasLimit")),
    fault(REFUSED, "refused-sponsored-in-batches", "sponsors a refused sender that sends a batch")
        .when(|view| calls_of_batch(view) > 0),
    fault(WEBHOOK, "webhook-keys-with-dollar-refused", "refuses webhookData with a name that begins with $")
        .refuses(|view| view.webhook_data().any(|(name, _)| name.starts_with('$'))),
    fault(WEBHOOK, "webhook-proto-refused", "refuses webhookData with the name __proto__")
        .refuses(|view| view.webhook_data().any(|(name, _)| name == "__proto__")),
    fault(LOWER_CASE, "uuid-ids-in-lower-case", "returns ids that are UUIDs in lower case")
        .when(|view| view.id_string().is_some_and(|id| id.len() == 36 && id.matches('-').count() == 4)),
    fault(LOWER_CASE, "address-ids-in-lower-case", "returns ids that are addresses in lower case")
        .when(|view| view.id_string().is_some_and(|id| id.len() == 42 && id.starts_with("0x"))),
    fault(TEXT, "zero-duration-fails", "answers an expiryDuration of 0 with status 500 and a text")
        .when_at("/params/1/expiryDuration", |view| view.mode_object()["expiryDuration"] == 0),
    fault(TEXT, "empty-list-fails", "answers a preferredToken beside an empty tokenList with status 500")
        .when(|view| {
            let list = view.token_info()["tokenList"].as_array();
            view.preferred().is_some() && list.is_some_and(Vec::is_empty)
        }),
    fault(TEXT, "null-preferred-token-fails", "answers a preferredToken of null with status 500 and a text")
        .when_at(PREFERRED, |view| view.token_info().get("preferredToken").is_some_and(Value::is_null)),
];

fn fail(response: &mut WireResponse) {
    response.replace(500, "text/plain", "internal server error");
}

/// The call data in lower case, without `0x`.
fn calls(view: &RequestView<'_>) -> String {
    let data = view.text("callData");
    data.get(2..).unwrap_or_default().to_ascii_lowercase()
}

/// A word of the arguments of the call data.
fn word(view: &RequestView<'_>, place: usize) -> Option<U256> {
    let start = 8 + 64 * place;
    U256::from_str_radix(calls(view).get(start..start + 64)?, 16).ok()
}

/// How many calls a batch has; 0 for other call data.
fn calls_of_batch(view: &RequestView<'_>) -> u64 {
    let data = calls(view);
    let count = || {
        let list = usize::try_from(word(view, 0)?).ok()?;
        u64::try_from(word(view, list / 32)?).ok()
    };
    if BATCHES.iter().any(|selector| data.starts_with(selector)) { count().unwrap_or_default() } else { 0 }
}

fn is_in_mixed_case(data: &Value) -> bool {
    let data = data.as_str().and_then(|data| data.get(2..)).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| data.as_bytes().iter().any(is);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// Whether the fee token is an unsupported address that resembles a supported one. Both are compared in lower case.
fn is_similar(view: &RequestView<'_>, resembles: fn(&str, &str) -> bool) -> bool {
    let named = view.fee_token().unwrap_or_default().to_ascii_lowercase();
    view.names_unsupported_fee_token()
        && named.is_ascii()
        && named.len() == 42
        && view.tokens.iter().any(|known| resembles(&named, &known.to_ascii_lowercase()))
}
