//! Sections 2.1 to 2.5: what the request tables oblige a server to accept.
//!
//! Each change is compared with a baseline: the same request without the change. When the baseline is served, the variant must be
//! served too, so that a target which refuses the operation for another reason is not blamed. A change of the operation itself
//! must be served only when the profile states that any operation is accepted.

use crate::call::CallParts;
use crate::rules::SPONSORABLE;
use crate::target::{Accepts, Context};
use crate::{lines, relations as related};
use paymaster_engine::cases::Relation;
use paymaster_engine::knowledge::{Expectation, Knowledge};
use paymaster_engine::rules::requests;
use paymaster_engine::rules::{
    Advice, GroupCheck, Report, Rule, View, for_each_variant, same_operation, served,
};

const fn rule(id: &'static str, relation: &'static Relation, check: GroupCheck) -> Rule {
    Rule::group(id, 4, SPONSORABLE, relation, check)
}

/// A rule whose variants leave the operation as it is.
const fn of_same_operation(id: &'static str, relation: &'static Relation) -> Rule {
    rule(id, relation, same_operation)
}

/// Why a rule does not apply to a target that accepts only listed operations, where this member of them must be as it is listed.
macro_rules! only_listed {
    ($member:literal) => {
        |knowledge| {
            let operations = &Context::of(knowledge).profile.operations;
            (operations.accepts == Accepts::Listed && !operations.varies($member)).then_some(concat!(
                "the profile says that only listed operations are accepted; where their ",
                $member,
                " may vary: operations.vary = [\"",
                $member,
                "\"]"
            ))
        }
    };
}

pub(crate) const RULES: &[Rule] = &[
    requests::number_id(4, SPONSORABLE),
    requests::string_id(4, SPONSORABLE),
    lines::in_token_mode(of_same_operation("request.gas-fields-optional", &related::GAS_FIELDS)),
    of_same_operation("request.listed-fields-suffice", &related::LISTED_FIELDS),
    of_same_operation("request.sponsored-name", &related::SPONSORED_NAME),
    lines::in_token_mode(of_same_operation("request.token-quote-row", &related::TOKEN_QUOTE_ROW)),
    of_same_operation("request.calculate-gas-limits", &related::CALCULATE_GAS_LIMITS),
    of_same_operation("request.expiry-duration", &related::EXPIRY_DURATION),
    of_same_operation("request.webhook-data", &related::WEBHOOK_DATA),
    Rule {
        advice: Advice::Write(&lines::ACCOUNTS),
        ..of_same_operation("request.smart-account-info", &related::SMART_ACCOUNTS).unless(one_account)
    },
    lines::in_token_mode(of_same_operation("request.token-list", &related::LONG_TOKEN_LIST)),
    rule("request.nonce-uint256", &related::NONCES, other_operation)
        .hint("a nonce has 256 bits: read it as such")
        .unless(only_listed!("nonce")),
    rule("request.init-code", &related::INIT_CODE, other_operation).unless(only_listed!("initCode")),
    rule("request.call-data", &related::CALL_DATA, other_operation).unless(only_listed!("callData")),
    rule("request.sizes", &related::SIZES, any_operation),
];

fn one_account(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let context = Context::of(knowledge);
    (context.profile.accounts.len() == 1).then_some("the profile names only one smart account")
}

/// The operation is another one: it must be served only when the profile covers it and it is of ordinary size.
fn other_operation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    for_each_variant(views, report, |baseline, view, report| {
        // An operation that is not sponsored gets a result too: `0x`.
        let required = baseline.answer.result().is_some()
            && view.beyond.is_none()
            && (view.expectation.requires_result() || view.expectation == Expectation::Refused);
        served(view, required, report);
    });
}

/// The part that differs is in the operation, or not.
fn any_operation(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let operation = |view: &View<'_>| view.valid_call().map(|call| call.operation().clone());
    match views {
        [baseline, variant, ..] if operation(baseline) == operation(variant) => {
            same_operation(views, knowledge, report);
        }
        _ => other_operation(views, knowledge, report),
    }
}
