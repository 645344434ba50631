//! What published clients need beyond the specification. These rules warn.

use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use crate::call::{CallParts, quotes};
use crate::relations::CLIENT_FORMS;
use crate::rules::SPONSORABLE;
use crate::tables::is_amount;
use paymaster_engine::json::amount;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{
    Advice, NO_ERRORS, Report, Rule, View, describe_answer, is_refusal, shown_member,
};

const NO_RESULTS: Advice = Advice::Look("too few quote requests got a result that the rule judges");

pub(crate) const RULES: &[Rule] = &[
    Rule::exchange("interoperability.mode-member", 10, NO_RESULTS, mode_member)
        .hint("send mode beside MODE: published clients throw without result.mode"),
    Rule::exchange("interoperability.no-result-beside-error", 5, NO_ERRORS, no_result_beside_error)
        .hint("leave result out: @biconomy/paymaster 3.1 looks for the member and not for its value"),
    Rule::group("interoperability.client-forms", 8, SPONSORABLE, &CLIENT_FORMS, client_forms)
        .hint("ignore what is not needed; read digits behind 0x as hex, and others as decimal"),
];

/// A request in a form of published clients is served when the plain one is. Nothing is judged when only some of the same requests are.
fn client_forms(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let pairs = || views.chunks_exact(2);
    let Some([_, variant]) = pairs().next() else { return };
    if !pairs().all(|pair| pair[0].answer.result().is_some()) {
        return;
    }
    report.set_member(1);
    if pairs().all(|pair| pair[1].answer.result().is_some()) {
        // Prices move: the same in every pair is no price.
        let apart: Option<Vec<_>> = pairs().map(|pair| fees_apart(&pair[0], &pair[1])).collect();
        match apart.as_deref() {
            Some([(index, plain, own), ..]) => report.broken(
                format!("/result/feeQuotes/{index}/maxGasFee"),
                format!("a fee near {plain}, that of the same amounts in another notation"),
                own.to_string(),
            ),
            _ => report.held(),
        }
    } else if pairs().all(|pair| is_refusal(&pair[1].answer)) {
        report.broken("", format!("a result, {}", variant.label), describe_answer(&variant.answer));
    }
}

/// The first quote of which the fee is far from that of the plain request, which has the same amounts in another notation: its place and both
/// fees.
fn fees_apart(plain: &View<'_>, variant: &View<'_>) -> Option<(usize, f64, f64)> {
    const MOST_APART: f64 = 4.0;
    let operation = |view: &View<'_>| view.valid_call()?.operation().as_object().cloned();
    let (one, other) = (operation(plain)?, operation(variant)?);
    let is_same = |(name, value): (&String, &Value)| {
        let Some(own) = other.get(name) else { return false };
        !is_amount(name) || amount(own) == amount(value)
    };
    // Other members that a client adds, as a signature, change no fee.
    let adds_amounts = other.keys().any(|name| is_amount(name) && !one.contains_key(name));
    if adds_amounts || !one.iter().all(is_same) {
        return None;
    }
    let fee = |quote: &Value| quote["maxGasFee"].as_f64();
    quotes(variant).find_map(|(index, quote)| {
        let mut of_plain = quotes(plain).map(|(_, quote)| quote);
        let token = quote["tokenAddress"].as_str()?;
        let of_plain = of_plain.find(|other| other["tokenAddress"] == token)?;
        let (plain, own) = (fee(of_plain).filter(|fee| *fee > 0.0)?, fee(quote)?);
        let is_apart = own > plain * MOST_APART || plain > own * MOST_APART;
        is_apart.then_some((index, plain, own))
    })
}

/// A quote carries mode beside MODE, with the same value.
fn mode_member(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(call) = view.valid_call().filter(|call| kinds::is_quote(call.pair)) else {
        return;
    };
    let Some(result) = view.answer.result() else { return };
    let expected = Mode::of(call.pair).into_str();
    // The rule of its row reports a missing or wrong MODE.
    if result.get("MODE").and_then(Value::as_str) == Some(expected) {
        let actual = result.get("mode");
        report.expect(
            actual == result.get("MODE"),
            "/result/mode",
            format_args!("\"{expected}\", as in MODE"),
            || shown_member(actual),
        );
    }
}

/// An error has no result member beside it.
fn no_result_beside_error(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.due_object() else { return };
    if object.get("error").is_some_and(|error| !error.is_null()) {
        let actual = object.get("result");
        report.expect(actual.is_none(), "/result", "no result beside the error", || shown_member(actual));
    }
}
