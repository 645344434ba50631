//! Section 7: which requests get an error, and the form of an error.

use crate::knowledge::Expectation;
use paymaster_schemas::{Method, Mode, kinds};
use serde_json::Value;

use crate::knowledge::Knowledge;
use crate::rules::{
    Advice, Check, MissingLine, Report, Rule, View, describe_answer, for_each_variant,
    requests::decision::{SPONSORED, refuses_nothing},
    shown, shown_member,
};
use crate::{
    cases::{case::Relation, relations as related},
    json::number::is_integer,
    message::request::ParsedRequest,
    target::context::{Context, Support},
};

const NO_ERRORS: Advice = Advice::Look("the target answered too few requests with an error");
const NO_UNSUPPORTED: Advice = Advice::Write(MissingLine::UnsupportedTokens);

pub(in crate::rules) const RULES: &[Rule] = &[
    Rule::exchange(
        "error.object",
        3,
        NO_ERRORS,
        "an error is an object with code and message, not a string",
        object,
    ),
    Rule::exchange("error.code", 3, NO_ERRORS, "an error code is an integer, not a string", code),
    Rule::exchange("error.message", 3, NO_ERRORS, "an error message is a string", message),
    Rule::exchange(
        "error.token-absent",
        5,
        Advice::Write(MissingLine::SupportedTokens),
        "token mode without feeTokenAddress is served instead of refused",
        token_absent,
    )
    .about_tokens()
    .exercised_by(FEE_TOKENS, &[kinds::SPONSOR_ERC20]),
    Rule::exchange(
        "error.token-unsupported",
        5,
        NO_UNSUPPORTED,
        "token mode serves a token that the service does not support",
        token_unsupported,
    )
    .exercised_by(FEE_TOKENS, &[kinds::SPONSOR_ERC20]),
    Rule::exchange(
        "request.mode-mandatory",
        3,
        NO_ERRORS,
        "refuse a sponsor request without mode: who pays must not be guessed",
        mode_mandatory,
    ),
    Rule::exchange(
        "error.refusal-is-none",
        5,
        Advice::Write(MissingLine::Refused),
        "answer with a result whose paymasterAndData is 0x",
        refusal_is_none,
    )
    .unless(refuses_nothing)
    .exercised_by(const { &[&related::REFUSED_CALLS, &related::DECISION] }, SPONSORED),
    Rule::new(
        "error.unsupported-quote-is-none",
        5,
        NO_UNSUPPORTED,
        "list the tokens in unsupportedTokens and answer with a result, even when no token is left to quote",
        Check::Group(&related::UNSUPPORTED_IN_QUOTE, unsupported_quote_is_none),
    )
    .about_tokens(),
];

/// The relations with an absent or unsupported fee token.
const FEE_TOKENS: &[&Relation] =
    &[&related::ABSENT_FEE_TOKEN, &related::UNSUPPORTED_FEE_TOKEN, &related::LETTER_CASE];

/// The error of an answer to a request that must be answered.
fn error_of<'a>(view: &'a View<'_>) -> Option<&'a Value> {
    view.answer.error().filter(|_| view.must_be_answered())
}

/// The error of an answer is an object.
fn object(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if let Some(error) = error_of(view) {
        report.expect(error.is_object(), "/error", "an object", || shown(error));
    }
}

/// An error carries code, an integer.
fn code(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if let Some(error) = error_of(view).filter(|error| error.is_object()) {
        let holds = error["code"].as_number().is_some_and(is_integer);
        report.expect(holds, "/error/code", "an integer", || shown_member(error.get("code")));
    }
}

/// An error carries message, a string.
fn message(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if let Some(error) = error_of(view).filter(|error| error.is_object()) {
        report.expect(error["message"].is_string(), "/error/message", "a string", || {
            shown_member(error.get("message"))
        });
    }
}

/// Token mode without a token is answered with an error.
fn token_absent(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if has_no_readable_fee_token(view) {
        an_error(view, "an error: the request names no token", report);
    }
}

/// Whether a sponsor request in token mode has no text as its fee token: those of [`View::omits_fee_token`], those whose `tokenInfo` is no
/// object, and those whose token is a number, an array or an object.
fn has_no_readable_fee_token(view: &View<'_>) -> bool {
    let ParsedRequest::Call(call) = &view.request else {
        return false;
    };
    let info = &call.mode_object()["tokenInfo"];
    let is_named = |name: &str| info[name].as_str().is_some_and(|token| !token.is_empty());
    call.pair == kinds::SPONSOR_ERC20 && !is_named("feeTokenAddress") && !is_named("tokenAddress")
}

/// Token mode with an unsupported token is answered with an error. So is a word, and a hex string with more or fewer digits than an address.
fn token_unsupported(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let ParsedRequest::Call(call) = &view.request else {
        return;
    };
    if call.pair != kinds::SPONSOR_ERC20 {
        return;
    }
    if let Some(token) = call.tokens.fee.as_ref().filter(|token| is_no_address(token, context)) {
        return an_error(view, &format!("an error: {token} is no token's address"), report);
    }
    if !call.valid {
        return;
    }
    if let Some(token) =
        call.tokens.fee.as_ref().filter(|token| context.support(token) == Support::Unsupported)
    {
        an_error(view, &format!("an error: {token} is not supported"), report);
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

fn an_error(view: &View<'_>, expected: &str, report: &mut Report) {
    if view.answer.error().is_some() {
        report.held();
    } else if view.answer.result().is_some() {
        report.broken("/result", expected, describe_answer(&view.answer));
    }
}

/// A sponsor request without `mode` gets no result. A quote without it is served by some targets.
fn mode_mandatory(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if matches!(
        view.request,
        ParsedRequest::WithoutMode { method: Method::SponsorUserOperation, is_absent: true, .. }
    ) {
        an_error(view, "an error: mode is mandatory, and the request has none", report);
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

fn a_result(view: &View<'_>, expected: &str, report: &mut Report) {
    if view.answer.result().is_some() {
        report.held();
    } else if view.answer.error().is_some() {
        report.broken("/error", expected, describe_answer(&view.answer));
    }
}
