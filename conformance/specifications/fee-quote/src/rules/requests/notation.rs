//! Section 1: the JSON notation of a request has no meaning, and the request headers of published HTTP clients do not change the answer.

use crate::{
    call::{quoted_tokens, unsupported_tokens},
    relations as related,
};
use paymaster_engine::{
    knowledge::Knowledge,
    message::answer::Answer,
    rules::{Advice, Check, Report, Rule, View, describe_answer},
};
use std::collections::BTreeSet;

const TOO_FEW: Advice = Advice::Look("the target answered too few requests");

pub(crate) const RULES: &[Rule] = &[
    Rule::new(
        "request.json-notation",
        10,
        TOO_FEW,
        "read requests with a JSON parser: member order, white space and escapes mean nothing",
        Check::Group(&related::NOTATION, notation),
    ),
    Rule::new(
        "request.headers",
        9,
        TOO_FEW,
        "accept every application/json content type, a missing Accept and */*; Origin and User-Agent decide nothing",
        Check::Group(&related::HEADERS, headers),
    ),
];

/// The part of an answer that the specification fixes: no signature, price or time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    Error,
    Sponsored(bool),
    Quote(BTreeSet<String>, BTreeSet<String>),
}

/// What the specification fixes of an answer; none where it is no JSON-RPC answer.
fn meaning(answer: &Answer<'_>) -> Option<Meaning> {
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
fn notation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
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

/// The headers of a client get the same answer as plain ones. Nothing is judged when the answers to one of the two requests differ, and a
/// refusal of the baseline gives no reason to expect a result.
fn headers(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
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
