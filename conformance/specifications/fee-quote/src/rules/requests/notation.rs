//! Section 1: the JSON notation of a request has no meaning, and the request headers of published HTTP clients do not change the answer.

use crate::call::{quoted_tokens, unsupported_tokens};
use crate::relations as related;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::requests;
use paymaster_engine::rules::{Report, Rule, Settled, TOO_FEW, View, as_without_change};
use serde_json::{Value, json};

pub(crate) const RULES: &[Rule] = &[
    Rule::group("request.json-notation", 10, TOO_FEW, &related::NOTATION, notation)
        .hint("read requests with a JSON parser: member order, white space and escapes mean nothing"),
    requests::headers(&related::HEADERS),
];

/// What sections 3 and 4 settle of a result: whether it sponsors, or the tokens of a quote.
pub(crate) fn settled(result: &Value) -> Option<Value> {
    if let Some(data) = result["paymasterAndData"].as_str() {
        return Some(json!(data != "0x"));
    }
    result.get("feeQuotes").map(|_| json!([quoted_tokens(result), unsupported_tokens(result)]))
}

/// Member order, white space and string escapes do not change the answer. The baseline is sent before and after the variant;
/// nothing is judged when its two answers differ.
fn notation(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let [baseline, variant, again] = views else { return };
    let of = |view: &View<'_>| Settled::of(&view.answer, knowledge);
    let (Some(expected), Some(actual)) = (of(baseline), of(variant)) else { return };
    if of(again).as_ref() != Some(&expected) {
        return;
    }
    as_without_change(actual == expected, baseline, variant, report);
}
