//! Sections 1, 2, 4, 7 and 8: what must be served, and what must be refused.
//!
//! A form of published clients is compared with the same call without it, so that a target which refuses the operation for another reason
//! is not blamed. Another operation must be served only where the profile states that any operation is.

use paymaster_engine::cases::Role;
use paymaster_engine::knowledge::{Expectation, Knowledge};
use paymaster_engine::message::speaks_of_quota;
use paymaster_engine::rules::requests;
use paymaster_engine::rules::{
    Advice, Check, ExchangeCheck, GroupCheck, Report, Rule, View, a_result, an_error, describe_answer,
    for_each_variant, has_error_code, is_of_gateway, is_refusal, is_unknown_method, method_is_served,
};
use serde_json::Value;

use crate::kinds::{OF_DATA, OF_STUBS, is_stub};
use crate::lines;
use crate::relations::{
    CALLS, FORMS, HEADERS, OTHER_OPERATION, REFUSED, UNKNOWN_ENTRY_POINT, WITHOUT_STUB, form_of,
};
use crate::rules::results::{without_06, without_07_and_later};
use crate::target::Target;

const SPONSORABLE: Advice = Advice::Write(&lines::SPONSORABLE);

/// A rule that waits until operations are known that the target serves.
pub(super) const fn rule(id: &'static str, quota: u64, check: Check) -> Rule {
    Rule::new(id, quota, SPONSORABLE, check).waiting_first(&lines::CHAIN_ID)
}

/// Such a rule about single exchanges.
pub(super) const fn exchange(id: &'static str, quota: u64, check: ExchangeCheck) -> Rule {
    rule(id, quota, Check::Exchange(check))
}

const fn group(
    id: &'static str,
    relation: &'static paymaster_engine::cases::Relation,
    check: GroupCheck,
) -> Rule {
    rule(id, 2, Check::Group(relation, check))
}

/// A rule about one of the forms of published clients.
macro_rules! form {
    ($clause:literal) => {
        rule(
            $clause,
            1,
            Check::Group(&FORMS, |views, knowledge, report| form($clause, views, knowledge, report)),
        )
    };
}

pub(crate) const RULES: &[Rule] = &[
    exchange("endpoint.stub-and-data", 5, both_methods),
    exchange("stub.sponsorable-is-served", 5, served::<OF_STUBS>)
        .exercised_above_all_by(const { &[&CALLS] }, &[]),
    exchange("data.sponsorable-is-served", 5, served::<OF_DATA>)
        .exercised_above_all_by(const { &[&CALLS] }, &[]),
    requests::number_id(2, SPONSORABLE).waiting_first(&lines::CHAIN_ID),
    requests::string_id(2, SPONSORABLE).waiting_first(&lines::CHAIN_ID),
    requests::headers(&HEADERS),
    form!("operation.unsigned"),
    form!("operation.dummy-signature"),
    form!("operation.stub-members")
        .hint("clients send the paymaster members of the stub again, and empty ones before"),
    form!("operation.null-members").unless(without_07_and_later),
    form!("operation.factory").unless(lines::only_listed),
    form!("operation.eip-7702")
        .hint("ignore eip7702Auth if it is not needed, and take the factory 0x7702")
        .unless(|knowledge| lines::only_listed(knowledge).or_else(|| without_07_and_later(knowledge))),
    form!("operation.nonce").hint("a nonce has 256 bits: read it as such").unless(lines::only_listed),
    form!("stub-request.zero-limits").hint("gas limits are not known in a stub request: take 0x0"),
    form!("stub-request.zero-fees").hint("take fees of 0x0 in a stub request, and divide by none"),
    form!("entry-point.letter-case").hint("compare addresses as bytes"),
    form!("call.letter-case"),
    rule("context.null", 1, Check::Group(&FORMS, null_context)),
    group("entry-point.unknown-refused", &UNKNOWN_ENTRY_POINT, unknown_entry_point)
        .hint("refuse an EntryPoint that is not served: its members are not known")
        .unless(serves_one_entry_point),
    group("entry-point.other-operation", &OTHER_OPERATION, other_operation).unless(without_06),
    group("data-request.without-stub", &WITHOUT_STUB, without_stub).unless(lines::only_listed),
    refusal("refusal.early", refused::<OF_STUBS>),
    refusal("refusal.of-data", refused::<OF_DATA>),
];

const fn refusal(id: &'static str, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, 2, Advice::Write(&lines::REFUSED), check)
        .unless(lines::refuses_nothing)
        .exercised_above_all_by(const { &[&REFUSED] }, &[])
}

fn serves_one_entry_point(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let target = Target::of(knowledge);
    let why = match target.served_versions().count() {
        2.. => {
            "the target served an EntryPoint that does not exist, and may read none: list those that it serves in service.entry-points"
        }
        _ => {
            "the target serves one EntryPoint, as far as profile and discovery show, and may then ignore the parameter"
        }
    };
    (!target.serves_several()).then_some(why)
}

fn both_methods(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if view.valid_call().is_some() && view.within_tables && !view.rejected_before_service() {
        method_is_served(view, report);
    }
}

fn served<const STUBS: bool>(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some(call) = view.valid_call().filter(|call| is_stub(call.pair) == STUBS) else { return };
    // A target may refuse the same request a second time, and the headers of a client that it does not list.
    let is_first = matches!(view.role, Role::Call | Role::Baseline | Role::Recorded);
    let is_promised = is_first && view.sent_as.is_none() && view.expectation.requires_result();
    if view.rejected_before_service() || !is_promised && !Target::of(knowledge).is_listed(call) {
        return;
    }
    let error = view.answer.error();
    let is_of_limits = error.is_some() && !STUBS && Target::of(knowledge).may_refuse_limits(call);
    if is_of_limits || error.is_some_and(speaks_of_quota) {
        return;
    }
    if view.answer.result().is_some() || is_promised && !view.answer.error().is_some_and(is_unknown_method) {
        a_result(view, "a result", report);
    }
}

/// The baseline and the variant of a form by turns, where every baseline was served.
fn served_baselines<'a>(clause: &str, views: &'a [View<'a>]) -> Option<(bool, Vec<&'a View<'a>>)> {
    let form = form_of(views.get(1)?.label).filter(|form| form.clause == clause)?;
    let (baselines, variants): (Vec<_>, Vec<_>) =
        views.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).unzip();
    // The members of a wrong stub make no valid request, and may be refused.
    if !variants.iter().all(|view: &&View<'_>| view.valid_call().is_some()) {
        return None;
    }
    let is_served = baselines.iter().all(|view: &&View<'_>| view.answer.result().is_some());
    is_served.then_some((form.is_other_operation, variants))
}

/// A request in a form of published clients is served when the plain one is. Nothing is judged when only some of the same requests are.
fn form(clause: &str, views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((is_other, variants)) = served_baselines(clause, views) else { return };
    report.set_member(1);
    if variants.iter().all(|view| view.answer.result().is_some()) {
        report.held();
    } else if variants.iter().all(|view| {
        let is_of_quota = view.answer.error().is_some_and(speaks_of_quota);
        is_refusal(&view.answer) && !view.rejected_before_service() && !is_of_quota
    }) && (!is_other || Target::of(knowledge).accepts_any())
    {
        let expected = format!("a result, which the plain request gets (the form: {})", variants[0].label);
        report.broken("", expected, describe_answer(&variants[0].answer));
    }
}

/// The code of an error within the service.
const INTERNAL_ERROR: i64 = -32_603;

/// A request with the context null is served, or refused in a way that is no failure of the service.
fn null_context(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let Some((_, variants)) = served_baselines("context.null", views) else { return };
    let has_failed = |view: &&View<'_>| {
        let is_internal = |error: &Value| has_error_code(error, INTERNAL_ERROR);
        // A gateway may answer with its own page.
        let by_status = view.answer.response().is_some_and(|response| {
            response.status == 500 || !view.answer.is_json_rpc() && !is_of_gateway(response.status)
        });
        view.answer.result().is_none() && by_status || view.answer.error().is_some_and(is_internal)
    };
    report.set_member(1);
    let holds = !variants.iter().all(has_failed);
    report.expect(holds, "", "a result, or a refusal in JSON-RPC that is no failure of the service", || {
        describe_answer(&variants[0].answer)
    });
}

fn unknown_entry_point(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    if serves_one_entry_point(knowledge).is_some() {
        return;
    }
    for_each_variant(views, report, |baseline, view, report| {
        refused_unlike(baseline, view, "an error: there is no such EntryPoint", report);
    });
}

fn other_operation(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    for_each_variant(views, report, |baseline, view, report| {
        refused_unlike(baseline, view, "an error: the operation has not the form of EntryPoint 0.6", report);
    });
}

/// The variant of a served call is refused.
fn refused_unlike(baseline: &View<'_>, view: &View<'_>, expected: &str, report: &mut Report) {
    if baseline.answer.result().is_some() && (is_refusal(&view.answer) || view.answer.result().is_some()) {
        report.expect(view.answer.result().is_none(), "/result", expected, || describe_answer(&view.answer));
    }
}

/// Data are served before their stub when they are after it, for one of three operations at least.
fn without_stub(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let is_served = |role: Role| {
        let mut of_role = views.iter().filter(move |view| view.role == role);
        move |wanted: bool| of_role.all(|view| view.answer.result().is_some() == wanted)
    };
    if !is_served(Role::Again)(true) {
        return;
    }
    report.set_member(0);
    if is_served(Role::Variant)(false)
        && views.iter().all(|view| view.role != Role::Variant || view.answer.error().is_some())
    {
        report.broken("/error", "a result, as after the stub request", describe_answer(&views[0].answer));
    } else {
        report.held();
    }
}

fn refused<const STUBS: bool>(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let is_of_rule = view.valid_call().is_some_and(|call| is_stub(call.pair) == STUBS);
    if is_of_rule && view.expectation == Expectation::NotSponsored && !view.rejected_before_service() {
        an_error(view, "an error", report);
    }
}
