//! Section 1: the JSON notation of a request has no meaning.

use std::collections::BTreeSet;

use crate::rules::{Advice, Check, Report, Rule, View, always, describe_answer};
use crate::{
    message::answer::{Answer, quoted_tokens, unsupported_tokens},
    target::context::Context,
};

pub(in crate::rules) const RULES: &[Rule] = &[Rule {
    id: "request.json-notation",
    clause: "request.json-notation",
    quota: 10,
    advice: Advice::Look("the target answered too few requests"),
    hint: "read requests with a JSON parser: member order, white space and escapes mean nothing",
    not_applicable: always,
    check: Check::Group(&crate::cases::relations::NOTATION, notation),
}];

/// The part of an answer that the specification fixes: no signature, price or time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Meaning {
    Error,
    Sponsored(bool),
    Quote(BTreeSet<String>, BTreeSet<String>),
}

/// What the specification fixes of an answer; none where it is no JSON-RPC answer.
pub(in crate::rules) fn meaning(answer: &Answer<'_>) -> Option<Meaning> {
    if answer.error().is_some() {
        return Some(Meaning::Error);
    }
    let result = answer.result()?;
    if let Some(data) = result["paymasterAndData"].as_str() {
        return Some(Meaning::Sponsored(data != "0x"));
    }
    result.get("feeQuotes").map(|_| Meaning::Quote(quoted_tokens(result), unsupported_tokens(result)))
}

/// Member order, white space and string escapes do not change the answer. The baseline is sent before and after the variant;
/// nothing is judged when its two answers differ.
fn notation(views: &[View<'_>], _: &Context, report: &mut Report) {
    let [baseline, variant, again] = views else { return };
    let (Some(expected), Some(actual)) = (meaning(&baseline.answer), meaning(&variant.answer)) else {
        return;
    };
    if meaning(&again.answer).as_ref() != Some(&expected) {
        return;
    }
    report.set_member(1);
    report.expect(
        actual == expected,
        "",
        format_args!("{}, as without {}", describe_answer(&baseline.answer), variant.label),
        || describe_answer(&variant.answer),
    );
}
