//! Section 2.8: a quote holds until a time. The time of the answer comes with the exchange.

use std::time::{Duration, UNIX_EPOCH};

use num_bigint::BigUint;
use paymaster_schemas::Pair;

use crate::rules::{Advice, MissingLine, Report, Rule, View, no_token, shown};
use crate::{
    json::number::amount,
    target::{context::Context, quoted::unit_of},
};

const ADVICE: Advice = Advice::Write(MissingLine::SupportedTokens);

pub(in crate::rules) const RULES: &[Rule] = &[
    Rule {
        not_applicable: no_token,
        ..Rule::exchange(
            "quote.valid-until-future",
            5,
            ADVICE,
            "validUntil lies in the past: look at the clock, at its unit, and at quotes that are cached",
            in_the_future,
        )
    },
    Rule {
        not_applicable: no_token,
        ..Rule::exchange(
            "plausibility.valid-until",
            5,
            ADVICE,
            "0 means in ERC-4337 that something does not expire: name the time until which the price holds",
            above_zero,
        )
    },
    Rule {
        not_applicable: no_token,
        ..Rule::exchange(
            "quote.valid-until-unit",
            5,
            ADVICE,
            "convert every time to the same unit: look at quotes that are cached, and at what differs between instances",
            one_unit,
        )
    },
];

/// How far the clocks of the target and of this machine may differ.
const SKEW: Duration = Duration::from_mins(5);

/// A quote does not end before it is given, whether its unit is seconds or smaller: as seconds it is latest.
fn in_the_future(view: &View<'_>, _: &Context, report: &mut Report) {
    let now = view.received.and_then(|received| received.duration_since(UNIX_EPOCH).ok());
    let Some(now) = now else { return };
    let earliest = BigUint::from(now.saturating_sub(SKEW).as_secs());
    for_each_time(view, |pointer, until, text| {
        // For plausibility.valid-until.
        if until.bits() > 0 {
            report.expect(
                *until >= earliest,
                pointer,
                format_args!("a time after {earliest}, five minutes before the answer"),
                || text,
            );
        }
    });
}

fn above_zero(view: &View<'_>, _: &Context, report: &mut Report) {
    for_each_time(view, |pointer, until, text| {
        report.expect(until.bits() > 0, pointer, "a time", || text);
    });
}

/// The unit is that of every other quote: those of discovery, and those of the same answer. Without another quote whose unit is known,
/// nothing is judged. A time far from now proves no unit, and so no other one.
fn one_unit(view: &View<'_>, context: &Context, report: &mut Report) {
    let Some(now) = view.received else { return };
    let mut known = context.quoted.units.clone();
    for_each_time(view, |pointer, until, text| {
        let unit = unit_of(until, now);
        let mut others = known.iter().filter(|(other, _)| unit.is_some_and(|unit| unit != **other));
        match (unit, others.next()) {
            (Some(unit), Some((other, earlier))) => report.broken(
                pointer,
                format!("{other}, as in the quote with validUntil {earlier}"),
                format!("{text}, which is in {unit}"),
            ),
            _ if until.bits() > 0 && (unit.is_none() || !known.is_empty()) => report.held(),
            _ => {}
        }
        if let Some(unit) = unit {
            known.entry(unit).or_insert_with(|| until.clone());
        }
    });
}

/// Every readable validUntil of a quote: its pointer, its value, and its text.
fn for_each_time(view: &View<'_>, mut judge: impl FnMut(String, &BigUint, String)) {
    let is_quote = view.valid_call().is_some_and(|call| call.pair == Pair::QUOTE_ERC20);
    let Some(result) = view.answer.result().filter(|_| is_quote) else {
        return;
    };
    for (index, quote) in result["feeQuotes"].as_array().into_iter().flatten().enumerate() {
        let value = &quote["validUntil"];
        if let Some(until) = amount(value).filter(|_| value.is_number()) {
            judge(format!("/result/feeQuotes/{index}/validUntil"), &until, shown(value));
        }
    }
}
