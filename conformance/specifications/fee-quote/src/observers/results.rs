//! Observers of the members of results and errors, and of token quotes.

use crate::{
    call::{self, CallParts},
    relations::Probe,
    rules::requests::decision::SAME_AGAIN,
    target::{
        context::{Context, Support},
        quoted::unit_of,
    },
};
use paymaster_engine::{
    json::number::amount,
    knowledge::Knowledge,
    message::request::ParsedRequest,
    rules::{View, shown},
};
use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use super::{is_probe, results};

pub(super) fn mode_member(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, _, result) in results(views) {
        let seen = match (result.get("MODE").is_some(), result.get("mode").is_some()) {
            (true, true) => "MODE and mode",
            (true, false) => "MODE",
            (false, true) => "mode",
            (false, false) => "neither",
        };
        values.push(seen.to_owned());
    }
}

pub(super) fn error_codes(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let context = Context::of(knowledge);
    for view in views {
        let ParsedRequest::Call(call) = &*view.request else { continue };
        let Some(error) = view.answer.error() else { continue };
        let about = if view.answer_is_shown() {
            "no token"
        } else if call.valid
            && call.tokens().fee.as_ref().is_some_and(|token| context.support(token) == Support::Unsupported)
        {
            "unsupported token"
        } else {
            continue;
        };
        values.push(format!("{about}: {}", shown(&error["code"])));
    }
}

pub(super) fn error_status(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for view in views {
        if let (Some(response), Some(_)) = (view.answer.response(), view.answer.error()) {
            values.push(format!("HTTP {}", response.status));
        }
    }
}

pub(super) fn gas_limits_returned(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair != kinds::QUOTE_ERC20) {
        let Some(calculate) = call.mode_object()["calculateGasLimits"].as_bool() else { continue };
        let requested = &call.operation()["callGasLimit"];
        if !requested.is_null() {
            let same = amount(requested) == amount(&result["callGasLimit"]);
            let outcome = if same { "those of the request" } else { "others" };
            values.push(format!("calculateGasLimits {calculate}: {outcome}"));
        }
    }
}

/// The length of paymasterAndData, and whether it begins with the address of quotes where one is known.
pub(super) fn layout(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let context = Context::of(knowledge);
    for (_, call, result) in results(views) {
        let Some(data) = result["paymasterAndData"].as_str().filter(|data| data.len() > 2) else { continue };
        let beginning = context.quoted.paymaster.as_deref().map(|paymaster| {
            let begins = data.get(..paymaster.len());
            if begins.is_some_and(|begins| begins.eq_ignore_ascii_case(paymaster)) {
                ", beginning with the quoted paymasterAddress"
            } else {
                ", not beginning with the quoted paymasterAddress"
            }
        });
        values.push(format!(
            "{} mode: {} bytes{}",
            Mode::of(call.pair),
            (data.len() - 2) / 2,
            beginning.unwrap_or_default()
        ));
    }
}

pub(super) fn deterministic_data(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    let Some(baseline) = views.first() else { return };
    let data = |view: &View<'_>| {
        view.answer.result().and_then(|result| result["paymasterAndData"].as_str()).map(str::to_owned)
    };
    let Some(first) = data(baseline).filter(|data| data.len() > 2) else { return };
    for view in views.iter().filter(|view| view.label == SAME_AGAIN) {
        if let Some(again) = data(view) {
            values.push(if again == first { "the same twice" } else { "another each time" }.to_owned());
        }
    }
}

/// Which supported tokens are quoted, when both members are present and the preferred one is not in the list.
pub(super) fn quoted_tokens(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let context = Context::of(knowledge);
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == kinds::QUOTE_ERC20) {
        let (Some(preferred), Some(list)) = (&call.tokens().preferred, &call.tokens().list) else { continue };
        let outside = !list.iter().any(|token| token.eq_ignore_ascii_case(preferred));
        let listed = list.iter().find(|token| context.support(token) == Support::Supported);
        let (true, Support::Supported, Some(listed)) = (outside, context.support(preferred), listed) else {
            continue;
        };
        let quoted = call::quoted_tokens(result);
        let quotes = |token: &str| quoted.contains(&token.to_ascii_lowercase());
        let seen = match (quotes(preferred), quotes(listed)) {
            (true, true) => "the preferred token and the listed ones",
            (true, false) => "the preferred token alone",
            (false, true) => "the listed tokens alone",
            (false, false) => "neither",
        };
        values.push(seen.to_owned());
    }
}

pub(super) fn unsupported_when_none(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let context = Context::of(knowledge);
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == kinds::QUOTE_ERC20) {
        let named = call.tokens().quoted();
        if !named.is_empty() && named.iter().all(|token| context.support(token) == Support::Supported) {
            let seen = match result.get("unsupportedTokens") {
                None => "absent",
                Some(Value::Array(list)) if list.is_empty() => "empty",
                Some(_) => "something else",
            };
            values.push(seen.to_owned());
        }
    }
}

pub(super) fn unsupported_without_both(
    views: &[View<'_>],
    knowledge: &dyn Knowledge,
    values: &mut Vec<String>,
) {
    let context = Context::of(knowledge);
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == kinds::QUOTE_ERC20) {
        let named = call.tokens().quoted();
        let both = call.tokens().preferred.is_some() && call.tokens().list.is_some();
        if !both && named.iter().any(|token| context.support(token) == Support::Unsupported) {
            let listed = result["unsupportedTokens"].as_array().is_some_and(|list| !list.is_empty());
            values.push(if listed { "listed" } else { "not listed" }.to_owned());
        }
    }
}

pub(super) fn token_letter_case(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == kinds::QUOTE_ERC20) {
        let tokens = call.tokens();
        let named: Vec<&str> = tokens.list.into_iter().flatten().chain(tokens.preferred).collect();
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            let Some(outcome) = quote["tokenAddress"].as_str() else { continue };
            if let Some(requested) = named.iter().find(|requested| requested.eq_ignore_ascii_case(outcome))
                && requested[2..].bytes().any(|byte| byte.is_ascii_uppercase())
            {
                values.push(
                    if *requested == outcome { "as in the request" } else { "in a spelling of its own" }
                        .to_owned(),
                );
            }
        }
    }
}

pub(super) fn repeated_tokens(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, _, result) in results(views).filter(|(view, ..)| is_probe(view, Probe::REPEATED_TOKEN)) {
        if let Some(quotes) = result["feeQuotes"].as_array() {
            values.push(format!("quoted {} times when asked for three times", quotes.len()));
        }
    }
}

/// A current timestamp above this is in milliseconds: in seconds it would be the year 5138.
const SECONDS_END: f64 = 1e11;

pub(super) fn valid_until_unit(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (view, _, result) in results(views) {
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            if let Some(until) = quote["validUntil"].as_f64() {
                let near = amount(&quote["validUntil"]).zip(view.received);
                let unit = if let Some((unit, _)) = near.and_then(|(until, now)| unit_of(&until, now)) {
                    unit
                } else if until == 0.0 {
                    "zero"
                } else if until < 1e9 {
                    "neither: a small number"
                } else if until < SECONDS_END {
                    "seconds"
                } else {
                    "milliseconds"
                };
                values.push(unit.to_owned());
            }
        }
    }
}
