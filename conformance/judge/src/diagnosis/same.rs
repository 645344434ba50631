//! Whether two findings have one cause, so that they are one defect.

use paymaster_schemas::{Pair, member_validator, resolved};
use serde_json::Value;

use super::{
    cause::{Cause, WrongAnswers},
    difference::{Difference, DifferenceKind},
};
use crate::{
    json::number::amount,
    message::{answer::Answer, request::ParsedRequest},
    verdict::finding::{Finding, without_indices},
};

/// The member whose content the specification leaves to the service: a cause inside it is one about the whole member.
const FREE_FORM: &str = "/params/1/sponsorshipInfo/webhookData";

/// Whether two findings have one cause. Without a known cause, findings of one rule have.
pub(super) fn is_one_defect(one: &Finding, two: &Finding) -> bool {
    let is_same = match (&one.cause, &two.cause) {
        (Some(cause), Some(other)) => is_same_cause(one, cause, two, other),
        _ => one.rule.id == two.rule.id,
    };
    is_same || is_same_wrong_answer(one, two) || is_same_wrong_answer(two, one)
}

/// Whether a finding follows from another one and shows nothing new. Two findings with different causes may both explain it: it connects
/// none of them.
pub(super) fn follows_from(finding: &Finding, other: &Finding) -> bool {
    if finding.pair.is_none() || finding.pair != other.pair {
        return false;
    }
    match &other.cause {
        // The rule held for requests of another method or mode only: the pair is the cause here too.
        Some(Cause::Every { .. }) => {
            finding.contrast.is_some()
                && pair_of_contrast(finding) != finding.pair
                && encloses_either(finding, other)
        }
        // It was seen while other requests were in flight, and held when it was sent alone.
        Some(Cause::Concurrency) => finding.cause.is_none() && finding.reproduced() < finding.attempts.len(),
        _ => false,
    }
}

fn is_same_cause(one: &Finding, cause: &Cause, two: &Finding, other: &Cause) -> bool {
    let is_every = |cause: &Cause| matches!(cause, Cause::Every { .. });
    if is_every(cause) || is_every(other) {
        let (pointer, other_pointer) = (place_in_answer(one), place_in_answer(two));
        let is_same_place = pointer == other_pointer;
        // What is wrong in every result is wrong for every rule about that member.
        let is_same_member = is_same_place && one.pair == two.pair && pointer.starts_with("/result/");
        if is_same_member || is_same_place && one.rule.id == two.rule.id {
            return true;
        }
    }
    let (own, others) = (cause.members(), other.members());
    if !own.is_empty() && !others.is_empty() {
        return is_within(own, others) || is_within(others, own);
    }
    match (cause, other) {
        (Cause::Every { .. }, Cause::Every { .. }) | (Cause::Recorded { .. }, Cause::Recorded { .. }) => {
            is_same_part(one, two)
        }
        (Cause::Chance { .. }, Cause::Chance { .. }) => encloses_either(one, two),
        (Cause::Concurrency, Cause::Concurrency) | (Cause::Writing, Cause::Writing) => true,
        (Cause::Earlier(one), Cause::Earlier(two)) => one == two,
        (Cause::Headers { lines: one, .. }, Cause::Headers { lines: two, .. }) => {
            let has_name = |name: &str| two.iter().any(|(other, _)| *other == name);
            one.is_empty() || two.is_empty() || one.iter().any(|(name, _)| has_name(name))
        }
        _ => false,
    }
}

fn place_in_answer(finding: &Finding) -> String {
    without_indices(&finding.violation.pointer)
}

/// Whether the two are broken in the same part of the answer. HTTP status and headers are a part of their own.
fn is_same_part(one: &Finding, two: &Finding) -> bool {
    let is_about_http = |finding: &Finding| finding.rule.id.starts_with("http.");
    !is_about_http(one) && !is_about_http(two) && encloses_either(one, two)
}

fn encloses_either(one: &Finding, two: &Finding) -> bool {
    let (one, two) = (place_in_answer(one), place_in_answer(two));
    encloses(&one, &two) || encloses(&two, &one)
}

/// Whether a pointer is another one, or an object or list around it.
fn encloses(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_within(few: &[Difference], many: &[Difference]) -> bool {
    few.iter()
        .all(|one| many.iter().any(|other| is_same_member(one, other)))
}

/// Whether two differences are about one member of the request, in the same way.
fn is_same_member(one: &Difference, two: &Difference) -> bool {
    let place = |difference: &Difference| {
        if encloses(FREE_FORM, &difference.pointer) {
            return FREE_FORM.to_owned();
        }
        without_indices(&difference.pointer)
    };
    let (place, other) = (place(one), place(two));
    let is_same_kind = one.kind() == two.kind();
    if place == other {
        // Ids of any type that are wrong unless they have one value.
        let is_same_id = place == "/id" && one.passing.is_some() && one.passing == two.passing;
        return is_same_kind
            || is_same_id
            || is_same_value(one, two)
            || is_beyond(one, two)
            || is_beyond(two, one);
    }
    // An operation or a mode object as a whole is no member.
    let is_in_a_member = |pointer: &str| pointer.matches('/').count() > 2;
    is_same_kind
        && (encloses(&place, &other) && is_in_a_member(&place)
            || encloses(&other, &place) && is_in_a_member(&other))
}

/// Whether the failing values are the same: `"0"` with `"1"` as its boundary, and `"0"` in another notation, are one value that fails.
fn is_same_value(one: &Difference, two: &Difference) -> bool {
    let (Some(value), Some(other)) = (&one.failing, &two.failing) else {
        return false;
    };
    match (value, other) {
        (Value::String(value), Value::String(other)) => value.eq_ignore_ascii_case(other),
        _ => value == other,
    }
}

/// Whether the failing value of the second lies on the failing side of the boundary of the first.
fn is_beyond(boundary: &Difference, other: &Difference) -> bool {
    if boundary.kind() != DifferenceKind::Number {
        return false;
    }
    let number = |value: &Option<Value>| value.as_ref().and_then(amount);
    let (failing, passing) = (number(&boundary.failing), number(&boundary.passing));
    let (Some(failing), Some(passing), Some(value)) = (failing, passing, number(&other.failing)) else {
        return false;
    };
    if failing > passing {
        value >= failing
    } else {
        value <= failing
    }
}

/// Whether every answer of the pair of `every` is the same wrong answer as that of `other`: an error with the same code in place of a
/// result, or a result of another shape. Every rule about such an answer is broken, or says nothing.
fn is_same_wrong_answer(every: &Finding, other: &Finding) -> bool {
    let is_every =
        matches!(&every.cause, Some(Cause::Every { answers, .. }) if *answers != WrongAnswers::Errors);
    if !is_every || every.pair.is_none() || every.pair != other.pair {
        return false;
    }
    let (Some(wrong), Some(other_wrong)) = (WrongAnswer::of(every), WrongAnswer::of(other)) else {
        return false;
    };
    // A right result of the same pair shows that another thing decides.
    let has_right_result = pair_of_contrast(other) == other.pair
        && other.contrast.as_ref().is_some_and(|contrast| {
            let exchange = contrast.exchanges.get(contrast.member);
            exchange.is_some_and(|exchange| Answer::of(exchange).result().is_some())
        });
    wrong == other_wrong && !has_right_result
}

/// An answer that is wrong as a whole.
#[derive(PartialEq)]
enum WrongAnswer {
    /// An error with this code, where another answer or another code is expected.
    Error(String),
    /// A result that has no required member of its table as it should be.
    OtherShape,
}

impl WrongAnswer {
    fn of(finding: &Finding) -> Option<Self> {
        let answer = answer_of(finding)?;
        if let Some(error) = answer.error() {
            let is_about_the_error = matches!(
                finding.violation.pointer.as_str(),
                "" | "/error" | "/error/code" | "/result"
            );
            return is_about_the_error.then(|| Self::Error(error["code"].to_string()));
        }
        let document = finding.pair?.result_document();
        is_of_another_shape(document, answer.result()?).then_some(Self::OtherShape)
    }
}

fn is_of_another_shape(document: &str, result: &Value) -> bool {
    let required = resolved(document).and_then(|schema| schema["required"].as_array());
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    let is_right = |name: &str| {
        let validator = member_validator(document, name);
        // Some targets write the name of the member MODE in lower case.
        let values = [result.get(name), result.get(name.to_ascii_lowercase())];
        let mut values = values.into_iter().flatten();
        validator.is_some_and(|validator| values.any(|value| validator.is_valid(value)))
    };
    !names.any(is_right)
}

fn answer_of(finding: &Finding) -> Option<Answer<'_>> {
    let exchange = finding.exchanges.get(finding.violation.member);
    exchange.map(Answer::of)
}

/// Method and mode of the request for which the rule held.
fn pair_of_contrast(finding: &Finding) -> Option<Pair> {
    let contrast = finding.contrast.as_ref()?;
    let member = contrast.group.members.get(contrast.member)?;
    ParsedRequest::of(&member.body).pair()
}
