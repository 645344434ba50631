//! Whether two findings are one defect: the same answers break both in the same way, or one cause explains both.

use serde_json::Value;

use super::cause::{Amount, Bounds, Cause, CauseKind, WrongAnswers};
use super::difference::{Difference, DifferenceKind, Respect};
use super::way::{Way, WholeAnswer, has_valid_result};
use crate::cases::keeps_idle;
use crate::diagnosis::{Finding, Outcomes, without_indices};
use crate::json::{amount, encloses};
use crate::message::Answer;
use crate::rules::{Check, Violation};

/// Why two findings are one defect. Reports have the name, such as `same-answers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Kinship {
    /// Each answer that breaks one breaks the other, and at least one of the two rules holds for other answers.
    SameAnswers,
    /// What decides is the same for both: members of the request, in the same way, or a circumstance.
    SameCause,
    /// Both are wrong at the same place of the answer: with values of one JSON type, or because the place is in a value of a wrong type. What a
    /// kind has whole and another in parts is one place.
    SamePlace,
    /// Both have a value of the same type where the same other type is expected.
    SameType,
    /// The answer as a whole is wrong in the same way: an error with the same code, the same HTTP status, a result of another shape.
    SameWholeAnswer,
    /// Equal bytes are answered rightly and wrongly, and the answers that break both are the same, or one rule compares an answer that breaks the other.
    NowAndThen,
}

/// Why two findings are one defect; none where they are two. The order of the findings does not matter.
pub(super) fn kinship(one: &Finding, two: &Finding, outcomes: &Outcomes) -> Option<Kinship> {
    let shared = Shared::of(one, two, outcomes);
    let (way, other) = (Way::of(one), Way::of(two));
    let is_one_rule = one.rule.id == two.rule.id;
    let is_shown = is_shown_by_answers(one, two, shared);
    if let Some(is_one) = is_same_cause(one, two).filter(|is_one| *is_one || !is_shown) {
        return is_one.then_some(Kinship::SameCause);
    }
    if [(one, two), (two, one)]
        .iter()
        .any(|(own, other)| is_part_of_every(own, other) || is_wrong_value_of(own, other))
    {
        return Some(Kinship::SameCause);
    }
    if compares_an_answer_of(one, two, outcomes) || compares_an_answer_of(two, one, outcomes) {
        return Some(Kinship::NowAndThen);
    }
    if shared == Shared::Same {
        return Some(Kinship::SameAnswers);
    }
    if is_now_and_then(one) && is_now_and_then(two) {
        let is_one = match shared {
            _ if way.whole.is_some() && way.whole == other.whole => true,
            Shared::Same | Shared::Every | Shared::Most => true,
            Shared::Few => false,
            Shared::Unknown => [one, two].iter().any(|finding| finding.cause == Some(Cause::Concurrency)),
        };
        if is_one {
            return Some(Kinship::NowAndThen);
        }
    }
    // Connections of a run are idle now and then: what a rule about idle ones shows explains the same answer to other requests.
    let is_of_idle = |one: &Finding, two: &Finding| keeps_idle(one.group.relation) && two.cause.is_none();
    if way.whole.is_some() && way.whole == other.whole && (is_of_idle(one, two) || is_of_idle(two, one)) {
        return Some(Kinship::SameWholeAnswer);
    }
    // No answer has both a member and its parts, so none breaks the rule at both places.
    if shared == Shared::Few && !(is_one_rule && way.is_same_place(&other, true)) {
        return None;
    }
    if way.whole.is_some() || other.whole.is_some() {
        // Such answers are common: beside the same error there has to be one rule, or the same answers, or nothing but such answers.
        let is_all = |answers: [WrongAnswers; 2]| {
            [one, two].iter().any(|finding| matches!(&finding.cause, Some(Cause::Every { answers: wrong, .. }) if answers.contains(wrong)))
        };
        // The same error, as an answer to a notification and to a batch, has two reasons.
        let is_about_other_bodies = one.pair.is_none() && !is_one_rule && one.violation.pointer.is_empty();
        let is_every_of_both =
            [one, two].iter().all(|finding| matches!(finding.cause, Some(Cause::Every { .. })));
        let is_of_another_shape = matches!(way.whole, Some(WholeAnswer::OtherShape(_)));
        let is_every = is_all([WrongAnswers::All, WrongAnswers::Results])
            && (one.pair == two.pair && !is_about_other_bodies || is_every_of_both && is_of_another_shape);
        let is_about_errors = is_all([WrongAnswers::Errors; 2]);
        let is_one = way.whole == other.whole
            && (is_one_rule || !is_about_errors && (is_every || shared != Shared::Unknown));
        return is_one.then_some(Kinship::SameWholeAnswer);
    }
    if way.is_same_place(&other, is_one_rule) {
        return Some(Kinship::SamePlace);
    }
    if shared != Shared::Unknown && (way.is_reason_for(&other) || other.is_reason_for(&way)) {
        return Some(Kinship::SamePlace);
    }
    way.is_same_type(&other).then_some(Kinship::SameType)
}

/// Whether the same answers break both at one place, and only one of them has a known cause. That the request of the other one does not have its
/// values shows nothing then: they are an example.
fn is_shown_by_answers(one: &Finding, two: &Finding, shared: Shared) -> bool {
    one.cause.is_none() != two.cause.is_none()
        && matches!(shared, Shared::Same | Shared::Every | Shared::Most)
        && Way::of(one).is_same_place(&Way::of(two), one.rule.id == two.rule.id)
}

/// Which of the answers that both rules judge break both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    /// Each that breaks one of the rules, and at least one of the two rules holds for other answers.
    Same,
    /// Every one.
    Every,
    /// Most of the answers that break the rule which is broken less often.
    Most,
    /// Few, or none.
    Few,
    /// No answer was judged by both, or the findings have one key.
    Unknown,
}

impl Shared {
    fn of(one: &Finding, two: &Finding, outcomes: &Outcomes) -> Self {
        let (key, other) = (one.key(), two.key());
        if key == other || key.pair != other.pair {
            return Self::Unknown;
        }
        let [first, second, both, neither] = outcomes.overlap((one.rule, &key), (two.rule, &other));
        let shares = [outcomes.share(one.rule, &key), outcomes.share(two.rule, &other)];
        // Where no answer that both judge is right, one of the rules may hold for others that it judges alone.
        let has_right_answers =
            neither > 0 || shares.iter().any(|share| share.broken == both && share.judged > both);
        match () {
            () if first == 0 || second == 0 => Self::Unknown,
            () if both == first && both == second && has_right_answers => Self::Same,
            () if both == first && both == second => Self::Every,
            () if 2 * both > first.min(second) => Self::Most,
            () => Self::Few,
        }
    }
}

/// Whether a finding that is not seen each time, and of which no cause is known, comes from comparing an answer that breaks the other rule
/// because of other requests.
fn compares_an_answer_of(compared: &Finding, other: &Finding, outcomes: &Outcomes) -> bool {
    let number = compared.group.number;
    let depends_on_others = other.cause.as_ref().map(Cause::kind) == Some(CauseKind::OtherRequests);
    compared.cause.is_none()
        && is_now_and_then(compared)
        && matches!(compared.rule.check, Check::Group(..))
        && compared.pair == other.pair
        && depends_on_others
        && outcomes
            .of_key(&other.key())
            .is_some_and(|broken| broken.iter().any(|place| usize::try_from(place.group) == Ok(number)))
}

/// Whether the same bytes break the rule in some answers only.
fn is_now_and_then(finding: &Finding) -> bool {
    match finding.cause {
        Some(Cause::Chance { .. } | Cause::Concurrency | Cause::Earlier(_)) => true,
        Some(_) => false,
        None => finding.reproduced() < finding.attempts.len(),
    }
}

/// Whether the causes of two findings are one; none where the causes do not show it.
fn is_same_cause(one: &Finding, two: &Finding) -> Option<bool> {
    use Cause::{Concurrency, Earlier, Form, Headers, Missing, Writing};

    let (cause, other) = match (&one.cause, &two.cause) {
        (Some(cause), Some(other)) => (cause, other),
        (Some(cause), None) => return explains(cause, two),
        (None, Some(other)) => return explains(other, one),
        (None, None) => return None,
    };
    let (own, others) = (cause.members(), other.members());
    if !own.is_empty() && !others.is_empty() {
        let is_one_place = one.rule.id == two.rule.id && Way::of(one).is_same_place(&Way::of(two), true);
        // A target may answer everything that is malformed with one wrong error.
        let is_one_error = is_one_place
            && Way::of(one).whole == Way::of(two).whole
            && matches!((cause, other), (Form(_), Form(_)));
        let is_one = is_one_error
            || is_within(own, others)
            || is_within(others, own)
            || is_one_place && matches!((own, others), ([own], [other]) if is_same_reason(own, other));
        // One rule that is broken with values of two types is broken in two ways.
        let is_one_way = one.rule.id != two.rule.id || Way::of(one).found == Way::of(two).found;
        // A value that is wrong by one rule and right by the other: two reasons. A rule that compares two requests names either of them.
        let compares = [one, two].iter().any(|finding| matches!(finding.rule.check, Check::Group(..)));
        let is_right_there = |one: &Difference, two: &Difference| {
            one.pointer == two.pointer && (one.failing == two.passing || one.passing == two.failing)
        };
        let is_opposite = own.iter().any(|one| others.iter().any(|two| is_right_there(one, two)));
        return Some(is_one && is_one_way && (compares || !is_opposite));
    }
    match (cause, other) {
        (Concurrency, Concurrency)
        | (Writing(_), Writing(_))
        | (Cause::Spent { .. }, Cause::Spent { .. }) => Some(true),
        (Missing { .. }, Missing { .. }) => Some(cause == other),
        (Cause::Amount(own), Cause::Amount(other)) => {
            Some((own.counted, own.bounds) == (other.counted, other.bounds))
        }
        // The run counts what another finding shows by trying: from how many elements on a list breaks the rule.
        (Cause::Amount(amount), Cause::Members(members))
        | (Cause::Members(members), Cause::Amount(amount))
            if matches!(&members[..], [member] if is_number_of(*amount, member)) =>
        {
            Some(true)
        }
        (Earlier(earlier), Earlier(other)) => Some(earlier == other || Way::of(one) == Way::of(two)),
        (Headers { lines, .. }, Headers { lines: others, .. }) => {
            let has_name = |name: &str| others.iter().any(|(other, _)| *other == name);
            Some(lines.is_empty() || others.is_empty() || lines.iter().any(|(name, _)| has_name(name)))
        }
        (Cause::Every { .. }, Cause::Every { .. }) if one.rule.id == two.rule.id && one.pair != two.pair => {
            Way::of(one).is_same_place(&Way::of(two), true).then_some(true)
        }
        // What is wrong in every answer, or in some by chance: the answers decide. Amounts and recorded differences show what a request has, and
        // not that nothing else decides.
        (Cause::Every { .. } | Cause::Chance { .. } | Cause::Amount(_) | Cause::Recorded { .. }, _)
        | (_, Cause::Every { .. } | Cause::Chance { .. } | Cause::Amount(_) | Cause::Recorded { .. }) => None,
        _ => Some(false),
    }
}

/// Whether every answer of a method and mode is wrong in one finding, and in the other one the whole result is, or only method or mode decide,
/// at a place around it. That an answer is an error, or none, is about no place.
fn is_part_of_every(every: &Finding, other: &Finding) -> bool {
    let members = other.cause.as_ref().map_or(&[][..], Cause::members);
    let names_the_pair = |difference: &Difference| {
        let is_its_place =
            difference.pointer == "/method" || difference.pointer == difference.specification.places.kind;
        is_its_place && difference.kind() != DifferenceKind::LetterCase
    };
    let (place, around) = (&every.violation.pointer, &other.violation.pointer);
    matches!(every.cause, Some(Cause::Every { .. }))
        && !around.is_empty()
        && every.pair == other.pair
        && (matches!(other.cause, Some(Cause::Every { .. }))
            && around == "/result"
            && !has_valid_result(other)
            || !members.is_empty())
        && members.iter().all(names_the_pair)
        && encloses(&without_indices(around), &without_indices(place))
}

/// Whether a text that is wrong in every answer is what the other finding, of every answer too, expects elsewhere or has in a list: `0x27a4...` in
/// place of an address.
fn is_wrong_value_of(one: &Finding, other: &Finding) -> bool {
    const LONG: usize = 8;
    let is_every = |finding: &Finding| matches!(finding.cause, Some(Cause::Every { .. }));
    let Violation { member, pointer, .. } = &one.violation;
    let answer = one.exchanges.get(*member).map(Answer::of);
    let value =
        answer.as_ref().and_then(Answer::document).and_then(|document| document.value.pointer(pointer));
    let text = value.and_then(Value::as_str).filter(|text| text.len() >= LONG);
    let Violation { pointer: place, expected, actual, .. } = &other.violation;
    is_every(one)
        && is_every(other)
        && without_indices(place) != without_indices(pointer)
        && text.is_some_and(|text| [expected, actual].into_iter().any(|words| words.contains(text)))
}

/// That the members that a cause names do not explain a finding without a cause, where its request does not have the values; none where it
/// has them, which alone shows nothing, and where the cause names no members.
fn explains(cause: &Cause, finding: &Finding) -> Option<bool> {
    if cause.members().is_empty() {
        return None;
    }
    let member = finding.group.members.get(finding.violation.member);
    let request = member.and_then(|member| serde_json::from_slice::<Value>(&member.body).ok());
    // In a batch, an element at another place may have them.
    let batch = request.as_ref().and_then(Value::as_array).into_iter().flatten();
    let is_in_an_element = |element: &Value| {
        cause.members().iter().all(|member| {
            let place = without_indices(&member.pointer);
            let inner = place.strip_prefix("/*");
            inner.is_some_and(|inner| element.pointer(inner) == member.failing.as_ref())
        })
    };
    if batch.into_iter().any(is_in_an_element) {
        return None;
    }
    match request.and_then(|request| cause.states(&request)) {
        Some(true) => None,
        // A malformed request has values of its own.
        None if finding.pair.is_none() => None,
        _ => Some(false),
    }
}

/// Whether a number that was counted is the length from which on a list breaks the rule.
fn is_number_of(amount: Amount, member: &Difference) -> bool {
    let (length, is_from_above) = match amount.bounds {
        Bounds::AtLeast(length) => (length, true),
        Bounds::AtMost(length) => (length, false),
        Bounds::Exactly(_) => return false,
    };
    let failing = member.failing.as_ref().and_then(Value::as_array);
    member.respect == Respect::Length
        && member.pointer == amount.counted.pointer
        && member.is_from_above() == Some(is_from_above)
        && failing.is_some_and(|items| items.len() == length)
}

fn is_within(few: &[Difference], many: &[Difference]) -> bool {
    few.iter().all(|one| many.iter().any(|other| is_same_member(one, other)))
}

/// Whether two differences are about one member of the request, in the same way.
fn is_same_member(one: &Difference, two: &Difference) -> bool {
    let place = |difference: &Difference| {
        let free_form = difference.specification.free_form;
        if encloses(free_form, &difference.pointer) {
            return free_form.to_owned();
        }
        without_indices(&difference.pointer)
    };
    let (place, other) = (place(one), place(two));
    if place == other {
        return is_same_kind(one, two)
            || is_same_value(one, two)
            || is_beyond(one, two)
            || is_beyond(two, one);
    }
    if is_whole_of(one, two) || is_whole_of(two, one) {
        return is_same_presence(one, two);
    }
    // An operation or a mode object as a whole is no member.
    let is_in_a_member = |pointer: &str| pointer.matches('/').count() > 2;
    is_same_kind(one, two)
        && (encloses(&place, &other) && is_in_a_member(&place)
            || encloses(&other, &place) && is_in_a_member(&other))
}

/// Whether one member is a thing as a whole, of which the other one is a part, in another kind.
fn is_whole_of(one: &Difference, two: &Difference) -> bool {
    one.pointer != two.pointer && one.pointer == one.specification.places.whole_of(&two.pointer)
}

/// Whether both decide by being there or not, in the same way; or by values, of one kind. Empty bytes are not there.
fn is_same_presence(one: &Difference, two: &Difference) -> bool {
    let is_empty = |value: &Option<Value>| value.as_ref().is_none_or(|value| value == "0x");
    let [own, others] = [one, two].map(|member| (is_empty(&member.failing), is_empty(&member.passing)));
    own == others && (own.0 != own.1 || is_same_kind(one, two))
}

/// Whether two members that break one rule at one place do so for one reason: one member with values of one type, two members that name
/// tokens or stand in another object of the mode object, one value in two members, or the letter case in both.
fn is_same_reason(one: &Difference, two: &Difference) -> bool {
    let type_of = |difference: &Difference| difference.failing.as_ref().map(std::mem::discriminant);
    let values = |difference: &Difference| -> Vec<String> {
        let passing = difference.passing.as_ref().and_then(Value::as_array);
        let is_new = |item: &&Value| passing.is_none_or(|passing| !passing.contains(item));
        match &difference.failing {
            Some(Value::Array(items)) => items.iter().filter(is_new).map(lower_case).collect(),
            Some(Value::String(text)) => vec![text.to_ascii_lowercase()],
            _ => Vec::new(),
        }
    };
    let others = values(two);
    let parent = |difference: &Difference| {
        let (parent, _) = difference.pointer.rsplit_once('/')?;
        (parent.matches('/').count() > 2).then(|| parent.to_owned())
    };
    one.pointer == two.pointer && type_of(one) == type_of(two)
        || parent(one).is_some() && parent(one) == parent(two)
        || values(one).iter().any(|value| others.contains(value))
        || [one, two].iter().all(|difference| difference.kind() == DifferenceKind::LetterCase)
}

fn lower_case(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_ascii_lowercase()
}

/// Whether two values fail for a reason of one kind: a text in place of a number is another reason than an object.
fn is_same_kind(one: &Difference, two: &Difference) -> bool {
    let type_of = |difference: &Difference| difference.failing.as_ref().map(std::mem::discriminant);
    one.kind() == two.kind() && (one.kind() != DifferenceKind::Type || type_of(one) == type_of(two))
}

/// Whether the failing values are the same: `"0"` with `"1"` as its boundary, and `"0"` in another notation, are one value that fails.
fn is_same_value(one: &Difference, two: &Difference) -> bool {
    let (Some(value), Some(other)) = (&one.failing, &two.failing) else { return false };
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
    if failing > passing { value >= failing } else { value <= failing }
}
