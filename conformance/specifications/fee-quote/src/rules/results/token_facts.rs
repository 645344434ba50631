//! Section 2.8: symbol and decimals of a quote are those of its token: as in the profile, or else as in the target's first quote
//! for the token. A quote holds until a time; the time of the answer comes with the exchange.

use crate::call::quotes;
use crate::lines;
use crate::rules::TOKENS;
use crate::rules::requests::served::TOKEN_QUOTES;
use crate::rules::results::plausibility::{judge_quotes, of_quotes};
use crate::rules::results::rows::ROWS_OF_QUOTES;
use crate::target::{Context, Token, unit_of};
use paymaster_engine::json::{amount, same_number};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{ExchangeCheck, Report, Rule, View, shown};
use std::fmt::{self, from_fn};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use num_bigint::BigUint;
use paymaster_schemas::kinds;
use serde_json::Value;

/// Where the expected value comes from.
const BY_PROFILE: &str = "as in the profile for";
const BY_TARGET: &str = "as in the target's first quote for";

pub(crate) const RULES: &[Rule] = &[
    of_token("fee-quote.symbol-of-token", "fee-quote.symbol", symbol)
        .hint("this is not the symbol of the token at this address: look at how it is written, and how quotes are joined to tokens")
        .unless(|knowledge| unknown(knowledge, |token| token.symbol.is_some())),
    of_token("fee-quote.decimal-of-token", "fee-quote.decimal", decimal)
        .hint("decimals of another token, or a default: clients compute the approval from them")
        .unless(|knowledge| unknown(knowledge, |token| token.decimals.is_some())),
    lines::in_token_mode(
        Rule::exchange("quote.valid-until-future", 5, TOKENS, in_the_future)
            .hint("look at the clock, at the unit, and at quotes that are cached")
            .exercised_by(TOKEN_QUOTES, &[kinds::QUOTE_ERC20]),
    ),
    of_quotes("plausibility.valid-until", above_zero)
        .hint("0 never expires in ERC-4337: name the time until which the price holds"),
    lines::in_token_mode(
        Rule::exchange("quote.valid-until-unit", 5, TOKENS, one_unit)
            .hint("convert every time to one unit: look at cached quotes and at other instances")
            .exercised_by(TOKEN_QUOTES, &[kinds::QUOTE_ERC20]),
    ),
];

/// A rule about a fact of each token, which is in every quote for it.
const fn of_token(id: &'static str, clause: &'static str, check: ExchangeCheck) -> Rule {
    let rule = Rule::exchange(id, 5, TOKENS, check).of_clause(clause);
    rule.exercised_by(ROWS_OF_QUOTES, &[kinds::QUOTE_ERC20])
}

/// Why a rule about a fact does not apply where it is known of no token.
fn unknown(knowledge: &dyn Knowledge, is_known_of: fn(&Token) -> bool) -> Option<&'static str> {
    let context = Context::of(knowledge);
    let is_known = context.profile.tokens.supported.iter().chain(context.facts.all()).any(is_known_of);
    (!is_known)
        .then_some("the profile gives no such fact of any token, and the target quoted none in discovery")
}

/// A known fact of a token, and where it comes from.
fn known<'a, T>(
    context: &'a Context,
    address: &str,
    fact: fn(&'a Token) -> Option<T>,
) -> Option<(T, &'static str)> {
    let mut named = context.profile.tokens.supported.iter();
    let named = named.find(|token| token.address.eq_ignore_ascii_case(address));
    let by_profile = named.and_then(fact).map(|fact| (fact, BY_PROFILE));
    let by_target = || Some((fact(context.facts.of(address)?)?, BY_TARGET));
    by_profile.or_else(by_target)
}

fn symbol(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    judge_quotes(view, report, "symbol", |quote| {
        let (address, actual) = (quote["tokenAddress"].as_str()?, quote["symbol"].as_str()?);
        let (known, source) = known(Context::of(knowledge), address, |token| token.symbol.as_deref())?;
        let expected = from_fn(move |f| write!(f, "\"{known}\", {source} {address}"));
        Some((actual == known, expected, || shown(&quote["symbol"])))
    });
}

fn decimal(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    judge_quotes(view, report, "decimal", |quote| {
        let (address, actual) = (quote["tokenAddress"].as_str()?, quote["decimal"].as_number()?);
        let (known, source) = known(Context::of(knowledge), address, |token| token.decimals)?;
        let expected = from_fn(move |f| write!(f, "{known}, {source} {address}"));
        Some((same_number(actual, &known.into()), expected, move || actual.to_string()))
    });
}

/// How far the clocks of the target and of this machine may differ.
const SKEW: Duration = Duration::from_mins(5);

/// How far `Date` may differ from the clock of the service: it has whole seconds, and a gateway may write it by a clock of its own.
const DATE_SKEW: Duration = Duration::from_mins(1);

/// The time of the answer: by its `Date`, or else by the clock of this machine, and by the earlier one where the two are far from each other; and
/// how long before it a quote may end. A quote may be made at the beginning of the exchange.
fn time_of(view: &View<'_>) -> Option<(SystemTime, Duration)> {
    let date = view.answer.response().and_then(|response| response.header("date"));
    let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
    let by_date = date.map(|date| (date, DATE_SKEW + view.took));
    let by_our_clock = view.received.map(|received| (received, SKEW));
    match (by_date, by_our_clock) {
        // A gateway may write the date by a clock that is wrong.
        (Some((date, _)), Some((received, _))) if received + SKEW < date => by_our_clock,
        _ => by_date.or(by_our_clock),
    }
}

/// A quote does not end before it is given. A time that is near in no unit counts as seconds, as which it is latest.
fn in_the_future(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some((now, skew)) = time_of(view) else { return };
    let Ok(since_epoch) = now.duration_since(UNIX_EPOCH) else { return };
    let earliest = BigUint::from(since_epoch.saturating_sub(skew).as_secs());
    for_each_time(view, |pointer, until, value| {
        // For plausibility.valid-until.
        if until.bits() > 0 {
            let end = unit_of(until, now).map_or_else(|| until.clone(), |(_, end)| end.into());
            report.expect(
                end >= earliest,
                pointer,
                format_args!("a time after {earliest}, {} seconds before the answer", skew.as_secs()),
                || shown(value),
            );
        }
    });
}

fn above_zero(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    for_each_time(view, |pointer, until, value| {
        report.expect(until.bits() > 0, pointer, "a time", || shown(value));
    });
}

/// The unit is that of most quotes of discovery, or else of the first one in the same answer. Without another quote whose unit is known,
/// nothing is judged. A time far from now proves no unit, and so no other one.
fn one_unit(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(now) = view.received else { return };
    let mut usual = context.quoted.usual_unit().map(|(unit, until)| (unit, until.clone()));
    for_each_time(view, |pointer, until, value| {
        let unit = unit_of(until, now).map(|(unit, _)| unit);
        match (unit, &usual) {
            (Some(unit), Some((other, earlier))) if unit != *other => report.broken(
                pointer.to_string(),
                format!("{other}, as in the quote with validUntil {earlier}"),
                format!("{}, which is in {unit}", shown(value)),
            ),
            _ if until.bits() > 0 && (unit.is_none() || usual.is_some()) => report.held(),
            _ => {}
        }
        usual = usual.take().or_else(|| unit.map(|unit| (unit, until.clone())));
    });
}

/// Every readable validUntil of a quote: its pointer, its value, and how it is written.
fn for_each_time(view: &View<'_>, mut judge: impl FnMut(fmt::Arguments<'_>, &BigUint, &Value)) {
    for (index, quote) in quotes(view) {
        let value = &quote["validUntil"];
        if let Some(until) = amount(value).filter(|_| value.is_number()) {
            judge(format_args!("/result/feeQuotes/{index}/validUntil"), &until, value);
        }
    }
}
