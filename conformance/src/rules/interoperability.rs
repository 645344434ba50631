//! What published clients need beyond the specification; it warns.

use paymaster_schemas::Method;
use serde_json::Value;

use super::{Check, Report, Rule, View, always, shown_member};
use crate::context::Context;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "interoperability.mode-member",
    clause: "interoperability.mode-member",
    quota: 10,
    advice: "the target answered too few quote requests with a result",
    hint: "send mode beside MODE: published clients read result.mode of a quote and throw without it",
    not_applicable: always,
    check: Check::Exchange(mode_member),
}];

/// A quote carries mode beside MODE, with the same value.
fn mode_member(view: &View<'_>, _: &Context, report: &mut Report) {
    let Some(call) = view
        .valid_call()
        .filter(|call| call.pair.method == Method::GetFeeQuoteOrData)
    else {
        return;
    };
    let Some(result) = view.answer.result() else {
        return;
    };
    let expected = call.pair.mode.name();
    // A MODE that is missing or wrong is for its row.
    if result.get("MODE").and_then(Value::as_str) == Some(expected) {
        let told = result.get("mode");
        report.expect(
            told == result.get("MODE"),
            "/result/mode",
            format_args!("\"{expected}\", as in MODE"),
            || shown_member(told),
        );
    }
}
