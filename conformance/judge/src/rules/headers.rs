//! Section 1: the request headers of published HTTP clients do not change the answer.

use crate::rules::{
    Check, Report, Rule, View, always, describe_answer,
    notation::{Meaning, meaning},
};
use crate::{message::answer::Answer, target::context::Context};

pub(super) const RULES: &[Rule] = &[Rule {
    id: super::HEADERS,
    clause: super::HEADERS,
    quota: 9,
    advice: "the target answered too few requests",
    hint: "accept every application/json content type, a missing Accept and */*; Origin and User-Agent decide nothing",
    not_applicable: always,
    check: Check::Group(&crate::cases::relations::HEADERS, headers),
}];

/// The headers of a client get the same answer as plain ones. The baseline is sent before and after the variant; nothing is judged
/// when its two answers differ, and a refusal of the baseline gives no reason to expect a result.
fn headers(views: &[View<'_>], _: &Context, report: &mut Report) {
    let [baseline, variant, again] = views else { return };
    let Some(expected) = meaning(&baseline.answer).filter(|meaning| *meaning != Meaning::Error) else {
        return;
    };
    if meaning(&again.answer).as_ref() != Some(&expected) {
        return;
    }
    let actual = match (&variant.answer, meaning(&variant.answer)) {
        (_, Some(actual)) => Some(actual),
        (Answer::Json(..) | Answer::NotJson(..), None) if variant.refused_for_headers() => None,
        _ => return, // for the rules about the HTTP message and the JSON text, and for gateways
    };
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
