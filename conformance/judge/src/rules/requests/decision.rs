//! Section 4.2, rules 1 and 2: which requests are sponsored, and what decides it.

use paymaster_schemas::{Mode, Pair, member_validator};
use serde_json::Value;

use crate::rules::{Advice, Check, MissingLine, Report, Rule, View, always, describe_answer, shown};
use crate::{
    cases::case::Role,
    target::{
        context::{Context, Expectation},
        profile::Sponsors,
    },
};

pub(in crate::rules) const RULES: &[Rule] = &[
    Rule {
        id: "sponsor.sponsorable-is-sponsored",
        clause: "sponsor.sponsorable-is-sponsored",
        quota: 10,
        advice: Advice::Write(MissingLine::Sponsorable),
        hint: "0x means that the user pays; an operation that can be sponsored gets a value",
        not_applicable: sponsors_nothing,
        check: Check::Exchange(sponsorable_is_sponsored),
    },
    Rule {
        id: "sponsor.refused-gets-0x",
        clause: "sponsor.refused-gets-0x",
        quota: 5,
        advice: Advice::Write(MissingLine::Refused),
        hint: "answer what cannot be sponsored with paymasterAndData \"0x\" exactly",
        not_applicable: refuses_nothing,
        check: Check::Exchange(refused_gets_0x),
    },
    Rule {
        id: "sponsor.decision-inputs",
        clause: "sponsor.decision-inputs",
        quota: 10,
        advice: Advice::Write(MissingLine::Sponsorable),
        hint: "decide from the operation and sponsorshipInfo alone; look at caches, counters and other members of the request",
        not_applicable: always,
        check: Check::Group(&crate::cases::relations::DECISION, decision_inputs),
    },
    Rule {
        id: "sponsor.mode-mandatory-served",
        clause: "sponsor.mode-mandatory-served",
        quota: 5,
        advice: Advice::Write(MissingLine::Sponsorable),
        hint: "serve the mode that the request names; published clients send tokenInfo and sponsorshipInfo in both modes",
        not_applicable: always,
        check: Check::Group(&crate::cases::relations::BOTH_INFOS, mode_served),
    },
];

/// Why rules about refused operations do not apply; none when they do.
pub(in crate::rules) fn refuses_nothing(context: &Context) -> Option<&'static str> {
    let operations = &context.profile.operations;
    let in_words = operations.sponsors == Some(Sponsors::Any);
    let refused = operations.refused.len() + operations.refused_senders.len();
    (in_words && refused == 0).then_some("the profile says that the target sponsors every operation")
}

/// Why rules about sponsored operations do not apply; none when they do.
fn sponsors_nothing(context: &Context) -> Option<&'static str> {
    let operations = &context.profile.operations;
    (operations.sponsors() == Sponsors::None && operations.sponsorable.is_empty())
        .then_some("the profile says that the target sponsors no operation")
}

/// paymasterAndData of a sponsored result, where it is a string.
pub(in crate::rules) fn paymaster_and_data<'a>(view: &'a View<'_>) -> Option<&'a str> {
    view.answer.result()?.get("paymasterAndData")?.as_str()
}

const POINTER: &str = "/result/paymasterAndData";

/// An operation that can be sponsored gets a paymasterAndData other than 0x.
fn sponsorable_is_sponsored(view: &View<'_>, _: &Context, report: &mut Report) {
    decided(&[Expectation::Sponsored], view, |data| {
        report.expect(
            data != "0x",
            POINTER,
            "a value: according to the profile the operation is sponsored",
            || "\"0x\"".to_owned(),
        );
    });
}

/// An operation that cannot be sponsored gets exactly 0x.
fn refused_gets_0x(view: &View<'_>, _: &Context, report: &mut Report) {
    decided(&[Expectation::Refused, Expectation::NotSponsored], view, |data| {
        report.expect(
            data == "0x",
            POINTER,
            "\"0x\": according to the profile the operation is not sponsored",
            || shown(&Value::String(data.to_owned())),
        );
    });
}

fn decided(expectations: &[Expectation], view: &View<'_>, judge: impl FnOnce(&str)) {
    let sponsored = view.valid_call().is_some_and(|call| call.pair.mode == Mode::Sponsored);
    let readable = |data: &&str| {
        let row = member_validator("sponsored-result", "paymasterAndData");
        row.is_some_and(|row| row.is_valid(&Value::String((*data).to_owned())))
    };
    if let Some(data) = paymaster_and_data(view)
        .filter(readable)
        .filter(|_| sponsored && expectations.contains(&view.expectation))
    {
        judge(data);
    }
}

/// The label of a request that repeats the baseline.
pub(crate) const SAME_AGAIN: &str = "the same request again";

/// Only the operation and sponsorshipInfo decide. The first member is the baseline; requests for other operations may come
/// between.
fn decision_inputs(views: &[View<'_>], _: &Context, report: &mut Report) {
    let Some((baseline, others)) = views.split_first() else {
        return;
    };
    let Some(decision) = decision(baseline) else {
        return;
    };
    for (place, view) in others.iter().enumerate() {
        if view.role != Role::SameDecision {
            continue;
        }
        report.set_member(place + 1);
        // An error is not a decision. Other rules report errors.
        if let Some(other) = self::decision(view) {
            report.expect(
                other == decision,
                POINTER,
                format_args!("{}, as without this change: {}", in_words(decision), view.label),
                || in_words(other).to_owned(),
            );
        }
    }
}

/// Whether the request was sponsored; none when there is no readable decision.
pub(in crate::rules) fn decision(view: &View<'_>) -> Option<bool> {
    paymaster_and_data(view).map(|data| data != "0x")
}

const fn in_words(sponsored: bool) -> &'static str {
    if sponsored { "sponsored" } else { "not sponsored (0x)" }
}

/// The result is of the requested mode, whatever other members or earlier requests there are. Nothing is judged when the baseline
/// has the wrong mode. A target may refuse members of the other mode.
fn mode_served(views: &[View<'_>], context: &Context, report: &mut Report) {
    let Some((baseline, variants)) = views.split_first() else {
        return;
    };
    if is_foreign(baseline, context) != Some(false) {
        return;
    }
    for (place, view) in variants.iter().enumerate() {
        report.set_member(place + 1);
        if let (Some(call), Some(foreign)) = (view.valid_call(), is_foreign(view, context)) {
            report.expect(!foreign, "/result", format_args!("the result of {} mode", call.pair.mode), || {
                describe_answer(&view.answer)
            });
        }
    }
}

/// Whether a result is of the mode that was not requested; none without a result.
fn is_foreign(view: &View<'_>, context: &Context) -> Option<bool> {
    let other = in_other_mode(view.valid_call()?.pair);
    let result = view.answer.result()?;
    let mode = result.get(context.dialect.mode_member.as_str()).and_then(Value::as_str);
    Some(mode == Some(other.mode.name()) || is_of(other, result))
}

/// The same method in the other mode.
fn in_other_mode(pair: Pair) -> Pair {
    let mode = match pair.mode {
        Mode::Sponsored => Mode::Erc20,
        Mode::Erc20 => Mode::Sponsored,
    };
    Pair { mode, ..pair }
}

/// Whether a quote result has the shape of the other mode.
fn is_of(other: Pair, result: &Value) -> bool {
    match other {
        Pair::QUOTE_ERC20 => result.get("feeQuotes").is_some(),
        Pair::QUOTE_SPONSORED => {
            result.get("feeQuotes").is_none() && result.get("paymasterAndData").is_some()
        }
        _ => false,
    }
}
