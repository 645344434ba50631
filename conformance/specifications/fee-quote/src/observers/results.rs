//! Observers of the members of results and errors.

use crate::{
    call::CallParts,
    rules::requests::decision::SAME_AGAIN,
    target::context::{Context, Support},
};
use paymaster_engine::{
    json::number::amount,
    knowledge::Knowledge,
    message::request::ParsedRequest,
    rules::{View, shown},
};
use paymaster_schemas::{Mode, kinds};

use super::results;

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
