//! JSON-RPC 2.0, section 6: each call of a batch is processed like a single call.

use serde_json::{Map, Value, json};

use paymaster_exchange::{Body, Exchange, Response};
use paymaster_schemas::Basis;

use crate::cases::{BATCH_ELEMENTS, Role};
use crate::knowledge::Knowledge;
use crate::message::{Answer, ParsedRequest, error_of, result_of, speaks_of_rate};
use crate::rules::{Advice, Report, Rule, View, Violation, same_id, shown};
use crate::specification::Specification;

pub const RULES: &[Rule] = &[Rule::group(
    "json-rpc.batch-elements",
    4,
    Advice::Look("too few batches got an answer that the rule judges"),
    &BATCH_ELEMENTS,
    batch_elements,
)];

/// Of which sort an answer is, in words. Equal requests get answers of the same sort.
fn sort_of(answer: &Map<String, Value>, specification: &Specification) -> Option<&'static str> {
    if error_of(answer).is_some() { Some(ERROR) } else { (specification.sort_of_result)(result_of(answer)?) }
}

const ERROR: &str = "an error";

/// The sort of answer that this call must get; none when the single call gets another sort, which other rules report.
fn expected(alone: &View<'_>) -> Option<&'static str> {
    let sort = match &*alone.request {
        ParsedRequest::Call(call) => (alone.specification.sort_of_kind)(call.pair),
        ParsedRequest::UnknownMethod { .. } => ERROR,
        _ => return None,
    };
    (sort_of(alone.answer.object()?, alone.specification)? == sort).then_some(sort)
}

/// Each call of the batch gets an answer of the sort that it gets alone, and one that breaks no rule for single answers which the other one
/// keeps. Calls are matched without their ids. json-rpc.batch reports refused batches and missing answers.
fn batch_elements(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let Some(place_of_batch) = views.iter().position(|view| view.role == Role::Batch) else { return };
    let batch = &views[place_of_batch];
    let ParsedRequest::Batch(calls) = &*batch.request else { return };
    let Some(answers) = batch.answer.array() else { return };
    report.set_member(place_of_batch);
    for call in calls {
        let same = |view: &&View<'_>| is_same(&view.request, call);
        let Some(alone) = views.iter().find(same) else { continue };
        let own = answers.iter().enumerate().filter(|(_, answer)| {
            answer.get("id").zip(call.id()).is_some_and(|(own, sent)| same_id(own, sent))
        });
        let [(place, Value::Object(actual))] = own.collect::<Vec<_>>()[..] else { continue };
        let grants = |answer| result_of(answer).is_some_and(batch.specification.grants);
        if alone.expectation.forbids_grant() {
            // Another rule reports that it is granted alone.
            if alone.answer.object().is_none_or(grants) {
                continue;
            }
            report.expect(
                !grants(actual),
                format_args!("/{place}"),
                "a refusal, which the profile asks for and the call gets alone",
                || shown(&Value::Object(actual.clone())),
            );
            continue;
        }
        // How many calls of a batch a service takes is its own.
        if error_of(actual).is_some_and(speaks_of_rate) {
            continue;
        }
        let Some(expected) = expected(alone) else { continue };
        let is_of_sort = sort_of(actual, batch.specification) == Some(expected);
        if is_of_sort && let Some(wrong) = broken_in_batch_only(alone, call, actual, knowledge) {
            report.broken(format!("/{place}{}", wrong.pointer), wrong.expected, wrong.actual);
            continue;
        }
        report.expect(
            is_of_sort,
            format_args!("/{place}"),
            format_args!("{expected}, as the call gets alone"),
            || shown(&Value::Object(actual.clone())),
        );
    }
}

/// The violation of a rule about single answers by this answer to a call of a batch, where the answer that the call gets alone keeps the rule.
/// Both answers are serialized again, so that rules which read the bytes find no difference between them.
fn broken_in_batch_only(
    alone: &View<'_>,
    call: &ParsedRequest,
    actual: &Map<String, Value>,
    knowledge: &dyn Knowledge,
) -> Option<Violation> {
    let single = |request: &ParsedRequest, answer: &Map<String, Value>| {
        let Answer::Json(response, ..) = &alone.answer else { return None };
        let envelope = match request {
            ParsedRequest::Call(call) => call.envelope.clone(),
            ParsedRequest::UnknownMethod { id } => {
                json!({ "jsonrpc": "2.0", "id": id, "method": "unknown", "params": [] })
            }
            _ => return None,
        };
        let body = Value::Object(answer.clone()).to_string().into();
        let response = Response { body, ..(*response).clone() };
        let request: Body = envelope.to_string().into();
        Some(Exchange { received: alone.received, ..Exchange::new(request, Ok(response), alone.took) })
    };
    let (in_batch, by_itself) = (single(call, actual)?, single(&alone.request, alone.answer.object()?)?);
    let view = |exchange| View::new(alone.role, alone.label, exchange, knowledge);
    let (in_batch, by_itself) = (view(&in_batch), view(&by_itself));
    let broken_by = |rule: &Rule, view: &View<'_>| {
        let mut report = Report::default();
        rule.judge_one(view, knowledge, &mut report);
        report.violations.into_iter().next()
    };
    // Prices and times may change between two answers.
    let is_settled = |rule: &&Rule| {
        let basis = rule.basis();
        !basis.is_observed() && basis != Basis::Plausibility && !rule.needs_chain()
    };
    let mut rules = alone.specification.rules().filter(is_settled);
    rules.find_map(|rule| broken_by(rule, &in_batch).filter(|_| broken_by(rule, &by_itself).is_none()))
}

/// Whether two requests are equal except for their ids.
fn is_same(one: &ParsedRequest, other: &ParsedRequest) -> bool {
    match (one, other) {
        (ParsedRequest::Call(one), ParsedRequest::Call(other)) => {
            ["method", "params"].iter().all(|name| one.envelope[name] == other.envelope[name])
        }
        (ParsedRequest::UnknownMethod { .. }, ParsedRequest::UnknownMethod { .. }) => true,
        _ => false,
    }
}
