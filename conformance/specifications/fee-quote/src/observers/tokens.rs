//! Observers of token quotes.

use crate::{
    call::{self, CallParts},
    relations::Probe,
    target::{
        context::{Context, Support},
        quoted::unit_of,
    },
};
use paymaster_engine::{json::number::amount, knowledge::Knowledge, rules::View};
use paymaster_schemas::kinds;
use serde_json::Value;

use super::{is_probe, results};

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
