//! What published clients need beyond the specification; it warns.

use paymaster_schemas::Method;

use super::{Check, Report, Rule, View, always, shown, shown_member};
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
    if view
        .valid_call()
        .is_none_or(|call| call.pair.method != Method::GetFeeQuoteOrData)
    {
        return;
    }
    let Some(stated) = view.answer.result().and_then(|result| result.get("MODE")) else {
        return;
    };
    let told = view.answer.result().and_then(|result| result.get("mode"));
    report.expect(
        told == Some(stated),
        "/result/mode",
        &format!("{}, as in MODE", shown(stated)),
        || shown_member(told),
    );
}
