//! What published clients need beyond the specification; it warns.

use paymaster_schemas::Method;

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
    let Some(result) = view.answer.result().filter(|result| result.is_object()) else {
        return;
    };
    let told = result.get("mode");
    let expected = call.pair.mode.name();
    let holds = told.and_then(serde_json::Value::as_str) == Some(expected);
    report.expect(holds, "/result/mode", format_args!("\"{expected}\""), || {
        shown_member(told)
    });
}
