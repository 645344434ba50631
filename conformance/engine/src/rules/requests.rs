//! What every specification obliges a server to accept: ids of both types, and the request headers of published HTTP clients. Also what
//! rules of several specifications judge alike.

use std::fmt::{Display, from_fn};

use serde_json::Value;

use crate::cases::{NUMBER_IDS, Relation, Role, STRING_IDS};
use crate::json::same_number;
use crate::knowledge::Knowledge;
use crate::message::Answer;
use crate::rules::{Advice, Report, Rule, TOO_FEW, View, describe_answer};

/// The rule about ids that are numbers.
pub const fn number_id(quota: u64, advice: Advice) -> Rule {
    Rule::group("request.id-number", quota, advice, &NUMBER_IDS, same_operation)
}

/// The rule about ids that are strings.
pub const fn string_id(quota: u64, advice: Advice) -> Rule {
    Rule::group("request.id-string", quota, advice, &STRING_IDS, same_operation)
}

/// The rule about request headers, judged by this relation, which [`crate::cases::protocol::headers`] makes.
pub const fn headers(relation: &'static Relation) -> Rule {
    Rule::group("request.headers", 9, TOO_FEW, relation, same_with_headers)
        .hint("accept every application/json type, and any Accept; Origin and User-Agent decide nothing")
}

/// The operation is that of the baseline: when the baseline is served, the variant must be served if it is of ordinary size.
pub fn same_operation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let Some(place) = views.iter().position(|view| view.role == Role::Baseline) else { return };
    let is_served = views[place].answer.result().is_some();
    for (member, view) in views.iter().enumerate().filter(|(member, _)| *member != place) {
        report.set_member(member);
        served(view, is_served && view.beyond.is_none(), report);
    }
}

/// The request has a result, where one is required of it.
pub fn served(view: &View<'_>, required: bool, report: &mut Report) {
    if required || view.answer.result().is_some() {
        let label = view.label;
        let expected = format_args!("a result, which the unchanged request gets (the change: {label})");
        a_result(view, expected, report);
    }
}

/// The answer is a result and no error.
pub fn a_result(view: &View<'_>, expected: impl Display, report: &mut Report) {
    if view.answer.result().is_some() || view.answer.error().is_some() {
        let holds = view.answer.result().is_some();
        report.expect(holds, "/error", expected, || describe_answer(&view.answer));
    }
}

/// The answer is an error and no result.
pub fn an_error(view: &View<'_>, expected: impl Display, report: &mut Report) {
    if view.answer.result().is_some() || view.answer.error().is_some() {
        let holds = view.answer.error().is_some();
        report.expect(holds, "/result", expected, || describe_answer(&view.answer));
    }
}

/// Whether an answer refuses the request: with an error, or by its HTTP status. Other rules report an answer that is neither.
pub fn is_refusal(answer: &Answer<'_>) -> bool {
    answer.error().is_some() || answer.response().is_some_and(|response| response.status >= 400)
}

/// Whether an error has this code, in any notation.
pub fn has_error_code(error: &Value, code: i64) -> bool {
    error["code"].as_number().is_some_and(|number| same_number(number, &code.into()))
}

/// Whether an error has the code for an unknown method (JSON-RPC 2.0, section 5.1).
pub fn is_unknown_method(error: &Value) -> bool {
    has_error_code(error, -32_601)
}

/// The method of the request is served at this address, over POST.
pub fn method_is_served(view: &View<'_>, report: &mut Report) {
    let is_missing = match &view.answer {
        Answer::None(_) => return,
        Answer::NotJson(response, _) => matches!(response.status, 404 | 405),
        Answer::Json(..) => view.answer.error().is_some_and(is_unknown_method),
    };
    report.expect(!is_missing, "", "an answer of this method", || describe_answer(&view.answer));
}

/// The variant, which is the second request of the group, has the answer of the baseline.
pub fn as_without_change(holds: bool, baseline: &View<'_>, variant: &View<'_>, report: &mut Report) {
    let expected =
        from_fn(|f| write!(f, "{}, as without {}", describe_answer(&baseline.answer), variant.label));
    report.set_member(1);
    report.expect(holds, "", expected, || describe_answer(&variant.answer));
}

/// What the specification settles of an answer: that it is an error, or what it fixes of the result. None where it is no JSON-RPC answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// An error, whatever its code is.
    Error,
    /// A result.
    Result(Value),
}

impl Settled {
    /// What is settled of this answer.
    pub fn of(answer: &Answer<'_>, knowledge: &dyn Knowledge) -> Option<Self> {
        if answer.error().is_some() {
            return Some(Self::Error);
        }
        (knowledge.specification().settled)(answer.result()?).map(Self::Result)
    }
}

/// The headers of a client get the same answer as plain ones. Nothing is judged when the answers to one of the two requests differ, and a
/// refusal of the baseline gives no reason to expect a result.
fn same_with_headers(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let of = |view: &View<'_>| Settled::of(&view.answer, knowledge);
    let pairs = || views.chunks_exact(2);
    let Some([baseline, variant]) = pairs().next() else { return };
    let Some(expected) = of(baseline).filter(|settled| *settled != Settled::Error) else { return };
    let actual = of(variant);
    if !pairs().all(|pair| of(&pair[0]).as_ref() == Some(&expected) && of(&pair[1]) == actual) {
        return;
    }
    // Other answers of which nothing is settled are for the rules about the HTTP message and the JSON text.
    let is_refused =
        |pair: &[View<'_>]| pair[1].answer.response().is_some_and(|response| response.status >= 300);
    if actual.is_none() && !pairs().all(is_refused) {
        return;
    }
    as_without_change(actual == Some(expected), baseline, variant, report);
}
