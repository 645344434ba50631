//! Sections 2.1 to 2.5: what the request tables oblige a server to accept.
//!
//! Each change is compared with a baseline: the same request without the change. When the baseline is served, the variant must be
//! served too, so that a target which refuses the operation for another reason is not blamed. A change of the operation itself
//! must be served only when the profile states that any operation is accepted.

use crate::rules::{Advice, Check, MissingLine, Report, Rule, View, always, describe_answer, no_token};
use crate::{
    cases::relations as related,
    target::{
        context::{Context, Expectation},
        profile::Accepts,
    },
};

const NOT_SERVED: Advice = Advice::Write(MissingLine::Sponsorable);
const NAME_ACCOUNTS: Advice = Advice::Write(MissingLine::Accounts);

const fn rule(id: &'static str, hint: &'static str, check: Check) -> Rule {
    Rule { id, clause: id, quota: 4, advice: NOT_SERVED, hint, not_applicable: always, check }
}

pub(in crate::rules) const RULES: &[Rule] = &[
    rule(
        "request.id-number",
        "a number is a lawful id, 0 and negative ones included",
        Check::Group(&related::NUMBER_IDS, same_operation),
    ),
    rule(
        "request.id-string",
        "a string is a lawful id, the empty one included",
        Check::Group(&related::STRING_IDS, same_operation),
    ),
    Rule {
        not_applicable: no_token,
        ..rule(
            "request.gas-fields-optional",
            "token mode must do without the three gas limits, each and all",
            Check::Group(&related::GAS_FIELDS, same_operation),
        )
    },
    rule(
        "request.listed-fields-suffice",
        "signature and paymasterAndData are no part of the partial operation",
        Check::Group(&related::LISTED_FIELDS, same_operation),
    ),
    rule(
        "request.sponsored-name",
        "serve the mode SPONSORED, which every sample request sends; SPONSORSHIP is an additional name at most",
        Check::Group(&related::SPONSORED_NAME, same_operation),
    ),
    Rule {
        not_applicable: no_token,
        ..rule(
            "request.token-quote-row",
            "serve a quote in token mode that has mode and tokenInfo alone: calculateGasLimits is not in its row",
            Check::Group(&related::TOKEN_QUOTE_ROW, same_operation),
        )
    },
    rule(
        "request.calculate-gas-limits",
        "calculateGasLimits is a boolean: accept both",
        Check::Group(&related::CALCULATE_GAS_LIMITS, same_operation),
    ),
    rule(
        "request.expiry-duration",
        "expiryDuration is a number of seconds",
        Check::Group(&related::EXPIRY_DURATION, same_operation),
    ),
    rule(
        "request.webhook-data",
        "webhookData is an object of any content",
        Check::Group(&related::WEBHOOK_DATA, same_operation),
    ),
    Rule {
        advice: NAME_ACCOUNTS,
        not_applicable: one_account,
        ..rule(
            "request.smart-account-info",
            "each of the two account names is accepted",
            Check::Group(&related::SMART_ACCOUNTS, same_operation),
        )
    },
    Rule {
        not_applicable: no_token,
        ..rule(
            "request.token-list",
            "lists of the length that wallets send are accepted: up to 10 tokens, or the limit of the profile",
            Check::Group(&related::LONG_TOKEN_LIST, same_operation),
        )
    },
    Rule {
        not_applicable: no_other_nonce,
        ..rule(
            "request.nonce-uint256",
            "a nonce has 256 bits: read it as such",
            Check::Group(&related::NONCES, other_operation),
        )
    },
    Rule {
        not_applicable: no_other_init_code,
        ..rule(
            "request.init-code",
            "an account that is not deployed yet carries initCode",
            Check::Group(&related::INIT_CODE, other_operation),
        )
    },
    Rule {
        not_applicable: no_other_call_data,
        ..rule(
            "request.call-data",
            "call data of the length that wallets send is accepted: up to 4096 bytes, or the limit of the profile",
            Check::Group(&related::CALL_DATA, other_operation),
        )
    },
];

fn no_other_nonce(context: &Context) -> Option<&'static str> {
    only_listed(context, "nonce").then_some(
        "the profile says that only listed operations are accepted; where their nonce may vary: operations.vary = [\"nonce\"]",
    )
}

fn no_other_init_code(context: &Context) -> Option<&'static str> {
    only_listed(context, "initCode").then_some(
        "the profile says that only listed operations are accepted; where their initCode may vary: operations.vary = [\"initCode\"]",
    )
}

fn no_other_call_data(context: &Context) -> Option<&'static str> {
    only_listed(context, "callData").then_some(
        "the profile says that only listed operations are accepted; where their callData may vary: operations.vary = [\"callData\"]",
    )
}

/// Whether only listed operations are accepted, and this member of them is as it is listed.
fn only_listed(context: &Context, member: &str) -> bool {
    let operations = &context.profile.operations;
    operations.accepts == Accepts::Listed && !operations.varies(member)
}

fn one_account(context: &Context) -> Option<&'static str> {
    (context.profile.accounts.len() == 1).then_some("the profile names only one smart account")
}

/// The operation is that of the baseline: when the baseline is served, the variant must be served if it is of ordinary size.
fn same_operation(views: &[View<'_>], _: &Context, report: &mut Report) {
    let Some((baseline, variants)) = views.split_first() else {
        return;
    };
    for (place, view) in variants.iter().enumerate() {
        report.set_member(place + 1);
        let required = baseline.answer.result().is_some() && view.beyond.is_none();
        served(view, required, report);
    }
}

/// The operation is another one: it must be served only when the profile covers it and it is of ordinary size.
fn other_operation(views: &[View<'_>], _: &Context, report: &mut Report) {
    let Some((baseline, variants)) = views.split_first() else {
        return;
    };
    for (place, view) in variants.iter().enumerate() {
        report.set_member(place + 1);
        // An operation that is not sponsored gets a result too: `0x`.
        let required = baseline.answer.result().is_some()
            && view.beyond.is_none()
            && (view.expectation.requires_result() || view.expectation == Expectation::Refused);
        served(view, required, report);
    }
}

fn served(view: &View<'_>, required: bool, report: &mut Report) {
    if view.answer.result().is_some() {
        report.held();
    } else if required && view.answer.error().is_some() {
        report.broken(
            "/error",
            format!("a result, as without this change: {}", view.label),
            describe_answer(&view.answer),
        );
    }
}
