//! Faults of the decision which operations are sponsored (section 4.2, rules 1 and 2).

use paymaster_schemas::kinds;
use serde_json::{Map, Value};

use crate::faults::{CALCULATE, CALL_DATA, Fault, fault};
use crate::injection::{Behaviour, RequestView, SOME_DATA, is_refusal, replace_refusal, set, text_of};

const SPONSORED: Fault =
    Fault::breaking("sponsor.sponsorable-is-sponsored").injects(Behaviour::SPONSOR_NOTHING);
const REFUSED: Fault = Fault::breaking("sponsor.refused-gets-0x").when(|view| view.is_sponsored_mode());
const INPUTS: Fault =
    Fault::breaking("sponsor.decision-inputs").injects(Behaviour::SPONSOR_NOTHING).also(AND_SPONSORED);
/// A refused sender is sponsored.
const FAVOUR: Fault = Fault::breaking(INPUTS.clause)
    .on_result(|_, result| replace_refusal(result, SOME_DATA))
    .also(&[REFUSED.clause]);
/// The first decision is repeated.
const KEPT: Fault =
    REFUSED.when(is_sponsor_call).also(&[SPONSORED.clause, INPUTS.clause]).depends_on_others();
const BY_EXPIRY: Fault = INPUTS.depends_on("/params/1/expiryDuration");

/// The other clauses that a wrong refusal breaks.
const AND_SPONSORED: &[&str] = &[SPONSORED.clause, "request.json-notation"];

pub(crate) const FAULTS: &[Fault] = &[
    fault(SPONSORED, "never-sponsors", "sponsors nothing").when(|view| view.is_sponsored_mode()),
    fault(SPONSORED, "never-sponsors-when-sponsoring", "sponsors nothing in pm_sponsorUserOperation")
        .when(|view| view.is(kinds::SPONSOR_SPONSORED)),
    fault(SPONSORED, "deployment-not-sponsored", "sponsors no operation with an initCode")
        .when_at("/params/0/initCode", |view| view.is_sponsored_mode() && view.has_init_code()),
    fault(SPONSORED, "empty-call-not-sponsored", "sponsors no operation with empty call data")
        .when_at(CALL_DATA, |view| view.is_sponsored_mode() && view.operation()["callData"] == "0x"),
    fault(REFUSED, "refused-gets-data", "returns data for an operation that it does not sponsor")
        .on_result(|_, result| replace_refusal(result, SOME_DATA)),
    fault(REFUSED, "refused-gets-zero-byte", "returns 0x00 for an operation that it does not sponsor")
        .on_result(|_, result| replace_refusal(result, "0x00")),
    fault(REFUSED, "refused-gets-zero-address", "returns the zero address where it does not sponsor")
        .on_result(|_, result| replace_refusal(result, "0x0000000000000000000000000000000000000000")),
    fault(REFUSED, "refused-gets-empty-string", "returns an empty string where it does not sponsor")
        .on_result(|_, result| replace_refusal(result, ""))
        .of("sponsored-result.paymasterAndData")
        .also(&[REFUSED.clause]),
    fault(REFUSED, "refused-gets-data-now-and-then", "returns data for 1 of 10 operations not sponsored")
        .on_result(|view, result| {
            if is_refusal(result) && view.is_one_in(10) {
                replace_refusal(result, SOME_DATA);
            }
        })
        .also(&["sponsor.decision-inputs", "request.json-notation"]),
    fault(INPUTS, "decision-by-even-id", "sponsors only odd ids").when_at("/id", |view| {
        is_sponsor_call(view) && view.id_number().is_some_and(|id| id.ends_with(['0', '2', '4', '6', '8']))
    }),
    fault(INPUTS, "decision-by-id-kind", "sponsors no request whose id is a string")
        .when_at("/id", |view| is_sponsor_call(view) && view.id().is_string()),
    fault(BY_EXPIRY, "decision-by-expiry", "sponsors nothing with an expiry above 300 seconds")
        .when(|view| is_sponsor_call(view) && expiry(view).is_some_and(|seconds| seconds > 300.0)),
    fault(BY_EXPIRY, "decision-by-expiry-of-a-day", "sponsors nothing with an expiry above a day")
        .when(|view| is_sponsor_call(view) && expiry(view).is_some_and(|seconds| seconds > 86_400.0)),
    fault(BY_EXPIRY, "decision-by-short-expiry", "sponsors nothing with an expiry below a minute")
        .when(|view| is_sponsor_call(view) && expiry(view).is_some_and(|seconds| seconds < 60.0)),
    fault(REFUSED, "refused-gets-data-again", "returns data for a refused operation that comes again")
        .on_result(|view, result| {
            if is_refusal(result) && view.is_repeated() {
                replace_refusal(result, SOME_DATA);
            }
        })
        .also(&["sponsor.decision-inputs"])
        .depends_on_others(),
    fault(BY_EXPIRY, "decision-by-absent-expiry", "sponsors nothing without an expiry")
        .when(|view| is_sponsor_call(view) && view.omits("expiryDuration")),
    fault(INPUTS, "decision-by-calculate-gas-limits", "sponsors nothing when calculateGasLimits is false")
        .when_at(CALCULATE, |view| is_sponsor_call(view) && view.calculates(false)),
    fault(INPUTS, "decision-by-absent-calculate", "sponsors nothing without calculateGasLimits")
        .when_at(CALCULATE, |view| is_sponsor_call(view) && view.omits("calculateGasLimits")),
    fault(INPUTS, "decision-by-token-info", "sponsors nothing when there is a tokenInfo")
        .when_at("/params/1/tokenInfo", |view| is_sponsor_call(view) && view.token_info().is_object()),
    fault(INPUTS, "decision-by-unknown-member", "sponsors nothing with a mode member that is not listed")
        .when(|view| is_sponsor_call(view) && view.has_unlisted_mode_member()),
    fault(SPONSORED, "quotes-without-calculation-not-sponsored", "requires calculateGasLimits to sponsor")
        .when_at(CALCULATE, |view| view.is(kinds::QUOTE_SPONSORED) && view.omits("calculateGasLimits")),
    fault(INPUTS, "decision-by-version", "sponsors nothing for jsonrpc 2.0.0")
        .when_at("/jsonrpc", |view| is_sponsor_call(view) && view.request["jsonrpc"] == "2.0.0"),
    fault(INPUTS, "decision-by-earlier-request", "sponsors an operation once, and not again")
        .when(|view| is_sponsor_call(view) && view.memory.count_of(&view.operation().to_string()) > 1)
        .depends_on_others(),
    fault(INPUTS, "decision-by-earlier-sender", "sponsors a sender three times, and not again")
        .when(|view| is_sponsor_call(view) && view.memory.count_of(&text_of(&view.operation()["sender"])) > 3)
        .depends_on_others(),
    fault(INPUTS, "decision-by-chance", "does not sponsor 1 of 25 operations")
        .when(|view| is_sponsor_call(view) && view.is_one_in(25)),
    fault(FAVOUR, "decision-favours-token-info", "sponsors refused senders when there is a tokenInfo")
        .when(|view| is_sponsor_call(view) && view.token_info().is_object()),
    fault(FAVOUR, "decision-favours-not-calculated", "sponsors refused senders for calculateGasLimits false")
        .when(|view| is_sponsor_call(view) && view.calculates(false)),
    fault(FAVOUR, "decision-favours-long-expiry", "sponsors refused senders with a long expiry")
        .when(|view| is_sponsor_call(view) && expiry(view).is_some_and(|seconds| seconds > 300.0)),
    fault(KEPT, "decision-cached-by-nonce", "repeats its first decision for the same nonce")
        .on_result(|view, result| repeat_decision(view, result, text_of(&view.operation()["nonce"]))),
    fault(INPUTS, "decision-cached-by-id", "repeats its first decision for the same id")
        .on_result(|view, result| repeat_decision(view, result, view.id().to_string()))
        .when(is_sponsor_call)
        .also(BOTH)
        .depends_on_others(),
    fault(KEPT, "decision-cached-by-call-data", "repeats its first decision for the same call data")
        .on_result(|view, result| repeat_decision(view, result, text_of(&view.operation()["callData"]))),
];

const BOTH: &[&str] = &[SPONSORED.clause, REFUSED.clause, "request.json-notation"];

fn is_sponsor_call(view: &RequestView<'_>) -> bool {
    view.is(kinds::SPONSOR_SPONSORED)
}

fn expiry(view: &RequestView<'_>) -> Option<f64> {
    view.mode_object()["expiryDuration"].as_f64()
}

/// Stores the first decision for a key and repeats it for all requests with the same key.
fn repeat_decision(view: &RequestView<'_>, result: &mut Map<String, Value>, key: String) {
    let refused = view.memory.first(key, &is_refusal(result).into());
    if refused == true {
        set(result, "paymasterAndData", "0x");
    } else {
        replace_refusal(result, SOME_DATA);
    }
}
