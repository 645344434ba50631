//! Section 7: which requests get an error.

use crate::call::CallParts;
use crate::rules::TOKENS;
use crate::rules::requests::decision::{SPONSORED, refuses_nothing};
use crate::target::{Context, Support};
use crate::{lines, relations as related};
use paymaster_engine::cases::Relation;
use paymaster_engine::knowledge::{Expectation, Knowledge};
use paymaster_engine::message::ParsedRequest;
use paymaster_engine::rules::{Advice, NO_ERRORS, Report, Rule, View, a_result, an_error, for_each_variant};
use paymaster_schemas::{Mode, kinds};

const NO_UNSUPPORTED: Advice = Advice::Write(&lines::UNSUPPORTED_TOKENS);

pub(crate) const RULES: &[Rule] = &[
    lines::in_token_mode(
        Rule::exchange("error.token-absent", 5, TOKENS, token_absent)
            .exercised_by(FEE_TOKENS, &[kinds::SPONSOR_ERC20]),
    ),
    Rule::exchange("error.token-unsupported", 5, NO_UNSUPPORTED, token_unsupported)
        .exercised_by(FEE_TOKENS, &[kinds::SPONSOR_ERC20]),
    Rule::exchange("request.mode-mandatory", 3, NO_ERRORS, mode_mandatory)
        .exercised_above_all_by(const { &[&related::WITHOUT_MODE] }, &[]),
    Rule::exchange("error.refusal-is-none", 5, Advice::Write(&lines::REFUSED), refusal_is_none)
        .hint("answer with a result whose paymasterAndData is 0x")
        .unless(refuses_nothing)
        .exercised_by(const { &[&related::REFUSED_CALLS, &related::DECISION] }, SPONSORED),
    lines::in_token_mode(
        Rule::group(
            "error.unsupported-quote-is-none",
            5,
            NO_UNSUPPORTED,
            &related::UNSUPPORTED_IN_QUOTE,
            unsupported_quote_is_none,
        )
        .hint("answer with a result that lists them, even when no token is left to quote"),
    ),
];

/// The relations with an absent or unsupported fee token.
const FEE_TOKENS: &[&Relation] = &[
    &related::ABSENT_FEE_TOKEN,
    &related::UNSUPPORTED_FEE_TOKEN,
    &related::LETTER_CASE,
    &related::REFUSED_IN_TOKEN_MODE,
];

/// Token mode without a token is answered with an error.
fn token_absent(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if has_no_readable_fee_token(view) {
        an_error(view, "an error: the request names no token", report);
    }
}

/// Whether a sponsor request in token mode has no text as its fee token: those without it, those whose `tokenInfo` is no
/// object, and those whose token is a number, an array or an object.
fn has_no_readable_fee_token(view: &View<'_>) -> bool {
    let ParsedRequest::Call(call) = &*view.request else { return false };
    let info = &call.mode_object()["tokenInfo"];
    let is_named = |name: &str| info[name].as_str().is_some_and(|token| !token.is_empty());
    call.pair == kinds::SPONSOR_ERC20 && !is_named("feeTokenAddress") && !is_named("tokenAddress")
}

/// Token mode with an unsupported token is answered with an error. So is a word, and a hex string with more or fewer digits than an address.
fn token_unsupported(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let ParsedRequest::Call(call) = &*view.request else { return };
    if call.pair != kinds::SPONSOR_ERC20 {
        return;
    }
    if let Some(token) = call.tokens().fee.as_ref().filter(|token| is_no_address(token, context)) {
        return an_error(view, format_args!("an error: {token} is no token's address"), report);
    }
    if !call.valid {
        return;
    }
    if let Some(token) =
        call.tokens().fee.as_ref().filter(|token| context.support(token) == Support::Unsupported)
    {
        an_error(view, format_args!("an error: {token} is not supported"), report);
    }
}

/// Whether a text is a word, or a hex string with more or fewer digits than an address. Additional leading zeros are accepted, and an address may be
/// written without its leading zeros.
fn is_no_address(token: &str, context: &Context) -> bool {
    let Some(digits) =
        token.strip_prefix("0x").filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    else {
        let digits = token.strip_prefix("0X").unwrap_or(token);
        return !token.starts_with("0x") && digits.bytes().any(|digit| !digit.is_ascii_hexdigit());
    };
    match digits.len() {
        0 | DIGITS => false,
        1..DIGITS => context.support(&format!("0x{digits:0>DIGITS$}")) == Support::Unsupported,
        _ => !digits.starts_with('0'),
    }
}

/// The hex digits of an address.
const DIGITS: usize = 40;

/// A sponsor request without `mode` gets no result. A quote without it is served by some targets.
fn mode_mandatory(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if matches!(
        *view.request,
        ParsedRequest::WithoutKind { method, is_absent: true, .. } if method == kinds::SPONSOR
    ) {
        an_error(view, "an error: mode is mandatory, and the request names none", report);
    }
}

/// A request that cannot be sponsored is answered with a result.
fn refusal_is_none(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let sponsored = view.valid_call().is_some_and(|call| Mode::of(call.pair) == Mode::Sponsored);
    if sponsored && view.expectation == Expectation::Refused {
        a_result(view, "a result: an operation that cannot be sponsored is not an error", report);
    }
}

/// A quote for unsupported tokens is answered with a result. Judged only when the same request with supported tokens gets a
/// result, so that an error has no other reason.
fn unsupported_quote_is_none(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    for_each_variant(views, report, |baseline, view, report| {
        if baseline.answer.result().is_some() && view.beyond.is_none() {
            a_result(view, "a result: unsupported tokens are not an error in a quote", report);
        }
    });
}
