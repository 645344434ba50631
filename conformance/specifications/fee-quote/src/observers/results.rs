//! Observers of the members of results and errors, and of token quotes.

use crate::call::{self, CallParts};
use crate::relations::Probe;
use crate::rules::requests::decision::SAME_AGAIN;
use crate::target::{Context, Support, unit_of};
use paymaster_engine::json::amount;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Call, ParsedRequest};
use paymaster_engine::rules::{Seen, View, shown};
use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use super::{is_probe, served};

pub(super) fn mode_member(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (_, result) = served(view)?;
    let seen = match (result.get("MODE").is_some(), result.get("mode").is_some()) {
        (true, true) => "MODE and mode",
        (true, false) => "MODE",
        (false, true) => "mode",
        (false, false) => "neither",
    };
    Some(seen.into())
}

pub(super) fn error_codes(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let context = Context::of(knowledge);
    let ParsedRequest::Call(call) = &*view.request else { return None };
    let error = view.answer.error()?;
    let is_unsupported = |token: &str| context.support(token) == Support::Unsupported;
    let about = if view.answer_is_shown() {
        "no token"
    } else if call.valid && call.tokens().fee.is_some_and(is_unsupported) {
        "unsupported token"
    } else {
        return None;
    };
    Some(format!("{about}: {}", shown(&error["code"])).into())
}

pub(super) fn error_status(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (response, _) = view.answer.response().zip(view.answer.error())?;
    Some(format!("HTTP {}", response.status).into())
}

pub(super) fn gas_limits_returned(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (call, result) = served(view).filter(|(call, _)| call.pair != kinds::QUOTE_ERC20)?;
    let calculate = call.mode_object()["calculateGasLimits"].as_bool()?;
    let requested = call.operation().get("callGasLimit").filter(|requested| !requested.is_null())?;
    let same = amount(requested) == amount(&result["callGasLimit"]);
    let outcome = if same { "those of the request" } else { "others" };
    Some(format!("calculateGasLimits {calculate}: {outcome}").into())
}

/// The length of paymasterAndData, and whether it begins with the address of quotes where one is known.
pub(super) fn layout(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (call, result) = served(view)?;
    let data = result["paymasterAndData"].as_str().filter(|data| data.len() > 2)?;
    let beginning = Context::of(knowledge).quoted.paymaster.as_deref().map(|paymaster| {
        let begins = data.get(..paymaster.len());
        if begins.is_some_and(|begins| begins.eq_ignore_ascii_case(paymaster)) {
            ", beginning with the quoted paymasterAddress"
        } else {
            ", not beginning with the quoted paymasterAddress"
        }
    });
    let (bytes, beginning) = ((data.len() - 2) / 2, beginning.unwrap_or_default());
    Some(format!("{} mode: {bytes} bytes{beginning}", Mode::of(call.pair)).into())
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

/// A token quote with its result.
fn quote<'a>(view: &'a View<'_>) -> Option<(&'a Call, &'a Value)> {
    served(view).filter(|(call, _)| call.pair == kinds::QUOTE_ERC20)
}

/// Which supported tokens are quoted, when both members are present and the preferred one is not in the list.
pub(super) fn quoted_tokens(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (call, result) = quote(view)?;
    let is_supported = |token: &str| Context::of(knowledge).support(token) == Support::Supported;
    let (preferred, list) = (call.tokens().preferred?, call.tokens().list?);
    let outside = !list.iter().any(|token| token.eq_ignore_ascii_case(preferred));
    let listed =
        list.iter().find(|token| is_supported(token)).filter(|_| outside && is_supported(preferred))?;
    let quoted = call::quoted_tokens(result);
    let quotes = |token: &str| quoted.contains(&token.to_ascii_lowercase());
    let seen = match (quotes(preferred), quotes(listed)) {
        (true, true) => "the preferred token and the listed ones",
        (true, false) => "the preferred token alone",
        (false, true) => "the listed tokens alone",
        (false, false) => "neither",
    };
    Some(seen.into())
}

pub(super) fn unsupported_when_none(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (call, result) = quote(view)?;
    let is_supported = |token: &String| Context::of(knowledge).support(token) == Support::Supported;
    let named = call.tokens().quoted();
    let seen = match result.get("unsupportedTokens") {
        _ if named.is_empty() || !named.iter().all(is_supported) => return None,
        None => "absent",
        Some(Value::Array(list)) if list.is_empty() => "empty",
        Some(_) => "something else",
    };
    Some(seen.into())
}

pub(super) fn unsupported_without_both(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (call, result) = quote(view)?;
    let is_unsupported = |token: &String| Context::of(knowledge).support(token) == Support::Unsupported;
    let both = call.tokens().preferred.is_some() && call.tokens().list.is_some();
    let listed = result["unsupportedTokens"].as_array().is_some_and(|list| !list.is_empty());
    let seen = if listed { "listed" } else { "not listed" };
    (!both && call.tokens().quoted().iter().any(is_unsupported)).then(|| seen.into())
}

pub(super) fn token_letter_case(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (call, result) in views.iter().filter_map(quote) {
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

pub(super) fn repeated_tokens(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (_, result) = served(view).filter(|_| is_probe(view, Probe::REPEATED_TOKEN))?;
    let quotes = result["feeQuotes"].as_array()?;
    Some(format!("quoted {} times when asked for three times", quotes.len()).into())
}

/// A current timestamp above this is in milliseconds: in seconds it would be the year 5138.
const SECONDS_END: f64 = 1e11;

pub(super) fn valid_until_unit(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for (view, (_, result)) in views.iter().filter_map(|view| Some((view, served(view)?))) {
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
