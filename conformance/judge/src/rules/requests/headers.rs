//! Section 1: the request headers of published HTTP clients do not change the answer.

use crate::rules::{
    Check, Report, Rule, View, always, describe_answer,
    requests::notation::{Meaning, meaning},
};
use crate::target::context::Context;

pub(in crate::rules) const RULES: &[Rule] = &[Rule {
    id: crate::rules::HEADERS,
    clause: crate::rules::HEADERS,
    quota: 9,
    advice: "the target answered too few requests",
    hint: "accept every application/json content type, a missing Accept and */*; Origin and User-Agent decide nothing",
    not_applicable: always,
    check: Check::Group(&crate::cases::relations::HEADERS, headers),
}];

/// The headers of a client get the same answer as plain ones. Baseline and variant are sent twice; nothing is judged when the two
/// answers to one of them differ, and a refusal of the baseline gives no reason to expect a result.
fn headers(views: &[View<'_>], _: &Context, report: &mut Report) {
    let [baseline, variant, baseline_again, variant_again] = views else {
        return;
    };
    let Some(expected) = meaning(&baseline.answer).filter(|meaning| *meaning != Meaning::Error) else {
        return;
    };
    let actual = meaning(&variant.answer);
    if meaning(&baseline_again.answer).as_ref() != Some(&expected) || meaning(&variant_again.answer) != actual
    {
        return;
    }
    // Other answers without a meaning are for the rules about the HTTP message and the JSON text, and for gateways.
    if actual.is_none() && !(variant.refused_for_headers() && variant_again.refused_for_headers()) {
        return;
    }
    report.set_member(1);
    report.expect(
        actual == Some(expected),
        "",
        format_args!(
            "{}, as without {}",
            describe_answer(&baseline.answer),
            variant.label
        ),
        || describe_answer(&variant.answer),
    );
}
