//! Section 1: the request headers of published HTTP clients do not change the answer.

use crate::rules::{
    Advice, Check, Report, Rule, View, always, describe_answer,
    requests::notation::{Meaning, meaning},
};
use crate::target::context::Context;

pub(in crate::rules) const RULES: &[Rule] = &[Rule {
    id: crate::rules::HEADERS,
    clause: crate::rules::HEADERS,
    quota: 9,
    advice: Advice::Look("the target answered too few requests"),
    hint: "accept every application/json content type, a missing Accept and */*; Origin and User-Agent decide nothing",
    not_applicable: always,
    check: Check::Group(&crate::cases::relations::HEADERS, headers),
}];

/// The headers of a client get the same answer as plain ones. Nothing is judged when the answers to one of the two requests differ, and a
/// refusal of the baseline gives no reason to expect a result.
fn headers(views: &[View<'_>], _: &Context, report: &mut Report) {
    let pairs = || views.chunks_exact(2);
    let Some([baseline, variant]) = pairs().next() else {
        return;
    };
    let Some(expected) = meaning(&baseline.answer).filter(|meaning| *meaning != Meaning::Error) else {
        return;
    };
    let actual = meaning(&variant.answer);
    let is_same = |pair: &[View<'_>]| {
        meaning(&pair[0].answer).as_ref() == Some(&expected) && meaning(&pair[1].answer) == actual
    };
    if !pairs().all(is_same) {
        return;
    }
    // Other answers without a meaning are for the rules about the HTTP message and the JSON text.
    let is_refused =
        |pair: &[View<'_>]| pair[1].answer.response().is_some_and(|response| response.status >= 300);
    if actual.is_none() && !pairs().all(is_refused) {
        return;
    }
    report.set_member(1);
    report.expect(
        actual == Some(expected),
        "",
        format_args!("{}, as without {}", describe_answer(&baseline.answer), variant.label),
        || describe_answer(&variant.answer),
    );
}
