//! Section 4: a valid request is served with the result of its method and mode.
//!
//! Only operations that the profile covers must be served. Any other operation may be answered with an error.

use crate::call::CallParts;
use crate::rules::SPONSORABLE;
use crate::tables::GAS;
use crate::target::{Context, Support};
use crate::{lines, relations as related};
use paymaster_engine::cases::Relation;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Call;
use paymaster_engine::rules::{
    ExchangeCheck, Report, Rule, View, a_result, describe_answer, is_unknown_method, method_is_served,
};
use paymaster_schemas::{Kind, kinds};

const fn rule(id: &'static str, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, 10, SPONSORABLE, check)
}

pub(crate) const RULES: &[Rule] = &[
    rule("endpoint.both-methods", both_methods),
    rule("quote.sponsored-result", quote_sponsored).exercised_by(
        const { &[&related::CALLS, &related::REFUSED_CALLS, &related::DECISION] },
        &[kinds::QUOTE_SPONSORED],
    ),
    lines::in_token_mode(
        rule("quote.erc20-result", quote_erc20).exercised_by(TOKEN_QUOTES, &[kinds::QUOTE_ERC20]),
    ),
    rule("sponsor.sponsored-result", sponsor_sponsored)
        .exercised_above_all_by(const { &[&related::CALLS] }, &[kinds::SPONSOR_SPONSORED]),
    lines::in_token_mode(
        rule("sponsor.erc20-result", sponsor_erc20)
            .exercised_above_all_by(const { &[&related::CALLS] }, &[kinds::SPONSOR_ERC20]),
    ),
];

/// The relations whose quotes in token mode name many mixes of tokens.
pub(crate) const TOKEN_QUOTES: &[&Relation] = &[
    &related::CALLS,
    &related::REFUSED_IN_TOKEN_MODE,
    &related::UNSUPPORTED_IN_QUOTE,
    &related::LONG_TOKEN_LIST,
    &related::LETTER_CASE,
    &related::LATER,
    &related::CONCURRENT,
];

/// Both methods are served at the same address, over POST.
fn both_methods(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let required = view.valid_call().is_some_and(|call| {
        // The error for a token that is not supported may have any code.
        call.tokens().fee.as_ref().is_none_or(|token| context.support(token) == Support::Supported)
    });
    if required && !view.rejected_before_service() {
        method_is_served(view, report);
    }
}

fn quote_sponsored(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    served(kinds::QUOTE_SPONSORED, view, report, |_| true);
}

/// Judged only when both tokenInfo members are present and all tokens are supported. Other rules report other errors.
fn quote_erc20(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    served(kinds::QUOTE_ERC20, view, report, |call| {
        let named = call.tokens().quoted();
        call.tokens().preferred.is_some()
            && call.tokens().list.as_ref().is_some_and(|list| !list.is_empty())
            && named.iter().all(|token| context.support(token) == Support::Supported)
    });
}

fn sponsor_sponsored(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    served(kinds::SPONSOR_SPONSORED, view, report, |_| true);
}

/// Judged only with all gas limits: request.gas-fields-optional reports the others.
fn sponsor_erc20(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    served(kinds::SPONSOR_ERC20, view, report, |call| {
        let supported = |token: &str| context.support(token) == Support::Supported;
        call.tokens().fee.is_some_and(supported)
            && GAS.iter().all(|name| call.operation().get(*name).is_some())
    });
}

fn served(pair: Kind, view: &View<'_>, report: &mut Report, fair: impl Fn(&Call) -> bool) {
    let Some(call) = view.valid_call().filter(|call| call.pair == pair) else { return };
    if !fair(call) || view.rejected_before_service() {
        return;
    }
    if let Some(result) = view.answer.result() {
        let kind = &MEMBERS[usize::from(pair == kinds::QUOTE_ERC20)];
        let shaped = !result.is_object() || kind.iter().any(|member| result.get(*member).is_some());
        report
            .expect(shaped, "/result", "a result of this method and mode", || describe_answer(&view.answer));
    } else if view.expectation.requires_result() && !view.answer.error().is_some_and(is_unknown_method) {
        a_result(view, "a result", report);
    }
}

/// Members of a sponsored or token sponsor result, and of a quote in token mode. A result that has none of them is of another
/// kind. A single missing member is reported by the rule of its row.
const MEMBERS: [&[&str]; 2] = [
    &["paymasterAndData", "preVerificationGas", "verificationGasLimit", "callGasLimit"],
    &["paymasterAddress", "feeQuotes"],
];
