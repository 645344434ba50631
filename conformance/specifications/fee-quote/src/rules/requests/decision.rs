//! Section 4.2, rules 1 and 2: which requests are sponsored, and what decides it.

use crate::rules::SPONSORABLE;
use crate::target::{Context, Sponsors};
use crate::{lines, relations as related};
use paymaster_engine::cases::Role;
use paymaster_engine::knowledge::{Expectation, Knowledge};
use paymaster_engine::rules::{Advice, Report, Rule, View, describe_answer, for_each_variant, shown};
use paymaster_schemas::{Kind, Mode, kinds, member_validator};
use serde_json::Value;

pub(crate) const RULES: &[Rule] = &[
    Rule::exchange("sponsor.sponsorable-is-sponsored", 10, SPONSORABLE, sponsorable_is_sponsored)
        .hint("0x means that the user pays; an operation that can be sponsored gets a value")
        .unless(sponsors_nothing)
        .exercised_above_all_by(const { &[&related::CALLS, &related::CALCULATE_GAS_LIMITS] }, SPONSORED),
    Rule::exchange("sponsor.refused-gets-0x", 5, Advice::Write(&lines::REFUSED), refused_gets_0x)
        .unless(refuses_nothing)
        .exercised_above_all_by(const { &[&related::REFUSED_CALLS, &related::CLIENT_FORMS] }, SPONSORED),
    Rule::group("sponsor.decision-inputs", 10, SPONSORABLE, &related::DECISION, decision_inputs)
        .hint("look at caches, counters and other members of the request"),
    Rule::group("sponsor.mode-mandatory-served", 5, SPONSORABLE, &related::BOTH_INFOS, mode_served)
        .hint("published clients send tokenInfo and sponsorshipInfo in both modes"),
];

/// The pairs of sponsored mode.
pub(crate) const SPONSORED: &[Kind] = &[kinds::QUOTE_SPONSORED, kinds::SPONSOR_SPONSORED];

/// Why rules about refused operations do not apply; none when they do.
pub(crate) fn refuses_nothing(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let context = Context::of(knowledge);
    let operations = &context.profile.operations;
    let in_words = operations.sponsors == Some(Sponsors::Any);
    let refused = operations.refused.len() + operations.refused_senders.len();
    (in_words && refused == 0).then_some("the profile says that the target sponsors every operation")
}

/// Why rules about sponsored operations do not apply; none when they do.
pub(crate) fn sponsors_nothing(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let context = Context::of(knowledge);
    let operations = &context.profile.operations;
    let none = operations.sponsors() == Sponsors::None && operations.sponsorable.is_empty();
    (none || !operations.serves(Mode::Sponsored))
        .then_some("the profile says that the target sponsors no operation")
}

/// paymasterAndData of a sponsored result, where it is a string.
pub(crate) fn paymaster_and_data<'a>(view: &'a View<'_>) -> Option<&'a str> {
    view.answer.result()?.get("paymasterAndData")?.as_str()
}

const POINTER: &str = "/result/paymasterAndData";

/// An operation that can be sponsored gets a paymasterAndData other than 0x.
fn sponsorable_is_sponsored(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    decided(&[Expectation::Sponsored], view, |data| {
        report.expect(data != "0x", POINTER, "a value other than \"0x\"", || "\"0x\"".to_owned());
    });
}

/// An operation that cannot be sponsored gets exactly 0x.
fn refused_gets_0x(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    decided(&[Expectation::Refused, Expectation::NotSponsored], view, |data| {
        report.expect(data == "0x", POINTER, "\"0x\"", || shown(&Value::String(data.to_owned())));
    });
}

fn decided(expectations: &[Expectation], view: &View<'_>, judge: impl FnOnce(&str)) {
    let sponsored = view.valid_call().is_some_and(|call| Mode::of(call.pair) == Mode::Sponsored);
    let row = member_validator("sponsored-result", "paymasterAndData");
    let is_readable = |data: &&str| row.is_some_and(|row| row.is_valid(&Value::from(*data)));
    if let Some(data) = paymaster_and_data(view).filter(is_readable)
        && sponsored
        && expectations.contains(&view.expectation)
    {
        judge(data);
    }
}

/// The label of a request that repeats the baseline.
pub(crate) const SAME_AGAIN: &str = "the same request again";

/// Only the operation and sponsorshipInfo decide. The first member is the baseline; requests for other operations may come
/// between.
fn decision_inputs(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    for_each_variant(views, report, |baseline, view, report| {
        // An error is not a decision. Other rules report errors.
        if let (Role::SameDecision, Some(expected), Some(actual)) =
            (view.role, decision(baseline), decision(view))
        {
            report.expect(
                actual == expected,
                POINTER,
                format_args!(
                    "{}, as the unchanged request is (the change: {})",
                    in_words(expected),
                    view.label
                ),
                || in_words(actual).to_owned(),
            );
        }
    });
}

/// Whether the request was sponsored; none when there is no readable decision.
pub(crate) fn decision(view: &View<'_>) -> Option<bool> {
    paymaster_and_data(view).map(|data| data != "0x")
}

const fn in_words(sponsored: bool) -> &'static str {
    if sponsored { "sponsored" } else { "not sponsored (0x)" }
}

/// The result is of the requested mode, whatever other members or earlier requests there are. Nothing is judged when the baseline
/// has the wrong mode. A target may refuse members of the other mode.
fn mode_served(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    for_each_variant(views, report, |baseline, view, report| {
        if let (Some(false), Some(call), Some(foreign)) =
            (is_foreign(baseline, context), view.valid_call(), is_foreign(view, context))
        {
            report.expect(
                !foreign,
                "/result",
                format_args!("the result of {} mode", Mode::of(call.pair)),
                || describe_answer(&view.answer),
            );
        }
    });
}

/// Whether a result is of the mode that was not requested; none without a result.
fn is_foreign(view: &View<'_>, context: &Context) -> Option<bool> {
    let pair = view.valid_call()?.pair;
    let mode = if Mode::of(pair) == Mode::Sponsored { Mode::Erc20 } else { Mode::Sponsored };
    let other = kinds::of(pair.method, mode)?;
    let result = view.answer.result()?;
    let named = result.get(context.dialect.mode_member.as_str()).and_then(Value::as_str);
    Some(named == Some(mode.into_str()) || is_of(other, result))
}

/// Whether a quote result has the shape of the other mode. A member of a mode may be there in the other one, and empty.
fn is_of(other: Kind, result: &Value) -> bool {
    let quotes = result.get("feeQuotes");
    let has_quotes = quotes.and_then(Value::as_array).is_some_and(|quotes| !quotes.is_empty());
    let has_data = result.get("paymasterAndData").is_some_and(|data| data.as_str() != Some(""));
    match other {
        kinds::QUOTE_ERC20 => has_quotes || quotes.is_some() && !has_data,
        kinds::QUOTE_SPONSORED => quotes.is_none() && has_data,
        _ => false,
    }
}
