//! What JSON-RPC 2.0 recommends beyond the specification: reserved codes, batches, notifications. These rules warn.

use std::fmt::from_fn;

use serde_json::Value;

use crate::cases::protocol as related;
use crate::json::{is_large_integer, is_rounded, same_number};
use crate::knowledge::Knowledge;
use crate::message::{Answer, ParsedRequest};
use crate::rules::{
    Advice, ExchangeCheck, Report, Rule, View, describe_answer, has_error_code, same_id, shown_member,
};
use paymaster_exchange::Failure;

const fn rule(id: &'static str, check: ExchangeCheck) -> Rule {
    Rule::exchange(
        id,
        2,
        Advice::Look("too few malformed requests got an answer that the rule judges"),
        check,
    )
}

pub const RULES: &[Rule] = &[
    rule("json-rpc.parse-error", parse_error).exercised_by(const { &[&related::MALFORMED_BODIES] }, &[]),
    rule("json-rpc.invalid-request", invalid_request),
    rule("json-rpc.method-not-found", method_not_found),
    rule("json-rpc.invalid-params", invalid_params)
        .exercised_by(const { &[&related::MALFORMED_PARAMS] }, &[]),
    rule("json-rpc.reserved-codes", reserved_codes),
    rule("json-rpc.any-answer", any_answer)
        .hint("look for an exception that nobody catches: the client waits until its own time limit")
        .exercised_by(const { &[&related::MALFORMED_PARAMS] }, &[]),
    rule("json-rpc.null-id", null_id),
    rule("json-rpc.batch", batch).exercised_by(const { &[&related::BATCHES, &related::BATCH_ELEMENTS] }, &[]),
    rule("json-rpc.empty-batch", empty_batch).exercised_by(const { &[&related::BATCHES] }, &[]),
    rule("json-rpc.notification", notification).exercised_by(
        const { &[&related::BATCHES, &related::BATCH_ELEMENTS, &related::MALFORMED_BODIES] },
        &[],
    ),
    rule("json-rpc.large-ids", large_ids)
        .hint("do not read ids as floating-point numbers, which round integers above 2^53")
        .exercised_by(const { &[&related::NUMBER_IDS] }, &[]),
    rule("json-rpc.unique-members", unique_members),
];

/// The request got an error with one of these codes.
fn has_code(codes: &[i64], view: &View<'_>, report: &mut Report) {
    // HTTP 200 without a JSON object is not an error answer. Other rules report its form.
    let attempt = view.answer.object().is_some()
        || view.answer.response().is_some_and(|response| response.status != 200);
    if view.rejected_before_service() || !attempt {
        return;
    }
    let actual = view.answer.error().and_then(|error| error.get("code"));
    let holds =
        view.answer.error().is_some_and(|error| codes.iter().any(|code| has_error_code(error, *code)));
    let expected = from_fn(|f| {
        let codes: Vec<String> = codes.iter().map(i64::to_string).collect();
        f.write_str(&codes.join(" or "))?;
        // The headline names what decides, and that may be well-formed: the label says what is not.
        if view.label.is_empty() { Ok(()) } else { write!(f, " ({})", view.label) }
    });
    report.expect(holds, "/error/code", expected, || match actual {
        Some(_) => shown_member(actual),
        None => describe_answer(&view.answer),
    });
}

fn parse_error(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if *view.request != ParsedRequest::NotJson {
        return;
    }
    match &view.answer {
        Answer::NotJson(response, cause) if response.status == 200 && !cause.is_our_limit => {
            report.broken("", "the error -32700", describe_answer(&view.answer));
        }
        _ => has_code(&[-32700], view, report),
    }
}

fn invalid_request(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    match *view.request {
        ParsedRequest::NotARequest => has_code(&[-32600], view, report),
        // The text is not a request object, and its parameters are invalid: JSON-RPC has a code for each.
        ParsedRequest::UnstructuredParams => has_code(&[-32600, -32602], view, report),
        _ => {}
    }
}

fn method_not_found(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if matches!(*view.request, ParsedRequest::UnknownMethod { .. }) {
        has_code(&[-32601], view, report);
    }
}

/// Refused parameters of the wrong shape get -32602. The specification may leave the code open.
fn invalid_params(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let malformed = match &*view.request {
        ParsedRequest::Call(call) => !call.valid && !(view.specification.any_code)(call),
        ParsedRequest::WithoutKind { .. } => true,
        _ => false,
    };
    if malformed && view.answer.error().is_some() {
        has_code(&[-32602], view, report);
    }
}

/// A request that is JSON and names a known method is refused neither as unreadable nor as an unknown method.
/// endpoint.both-methods reports a valid call with the code of an unknown method.
fn reserved_codes(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if !matches!(*view.request, ParsedRequest::Call(_) | ParsedRequest::WithoutKind { .. }) {
        return;
    }
    if let Some(code) = view.answer.error().and_then(|error| error.get("code")) {
        let text = code.to_string();
        report.expect(
            text != "-32700" && text != "-32601",
            "/error/code",
            "neither -32700 nor -32601: the request is JSON and its method exists",
            || text.clone(),
        );
    }
}

/// A request that may be refused gets an answer. A gateway may close the connection instead; what is lawful and served is for
/// answer.http-message.
fn any_answer(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let may_be_refused = view.valid_call().is_none() && !view.answer_is_shown() && view.beyond.is_none();
    if view.request.id().is_none() || !may_be_refused {
        return;
    }
    match &view.answer {
        Answer::None(failure @ Failure::Timeout { .. }) => {
            report.broken("", "an answer", failure.to_string());
        }
        Answer::None(_) => {}
        _ => report.held(),
    }
}

/// Where the id could not be read, the error carries the id null.
fn null_id(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if *view.request != ParsedRequest::NotJson || view.answer.error().is_none() {
        return;
    }
    let actual = view.answer.object().and_then(|object| object.get("id"));
    report.expect(actual == Some(&Value::Null), "/id", "null", || shown_member(actual));
}

/// The most calls of a small batch. A target may refuse larger batches.
const FEW: usize = 3;

/// A batch is answered with one answer for each request that has an id, and for each element that is no request, in any order.
fn batch(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let ParsedRequest::Batch(requests) = &*view.request else { return };
    // A server may take the id null for none.
    if requests.contains(&ParsedRequest::NullId) || view.rejected_before_service() {
        return;
    }
    let ids: Vec<&Value> = requests.iter().filter_map(ParsedRequest::id).collect();
    let silent = requests.iter().filter(|request| **request == ParsedRequest::Notification).count();
    let due = requests.len() - silent;
    let is_unanswered = matches!(view.answer, Answer::None(_));
    // JSON-RPC does not limit the size of a batch, so a target may.
    if requests.len() > FEW && (is_unanswered || view.answer.error().is_some()) || due == 0 && is_unanswered {
        return;
    }
    if due == 0 {
        return nothing(view, report);
    }
    let Some(answers) = view.answer.array() else {
        let expected = format!("an array of {due} answers");
        return report.broken("", expected, describe_answer(&view.answer));
    };
    let actual: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("id")).collect();
    let matched = ids.iter().all(|id| actual.iter().filter(|actual| same_id(actual, id)).count() == 1);
    // json-rpc.notification reports answers to notifications.
    let as_many = answers.len() == due || silent > 0;
    let expected = format_args!("one answer for each of {due} requests");
    report.expect(matched && as_many, "", expected, || {
        let actual: Vec<String> = actual.iter().map(ToString::to_string).collect();
        format!("{} answers, with the ids {}", answers.len(), actual.join(", "))
    });
}

/// An empty batch gets one error object.
fn empty_batch(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let is_answered = !view.rejected_before_service() && view.answer.response().is_some();
    if *view.request == ParsedRequest::EmptyBatch && is_answered {
        let holds = view.answer.error().is_some();
        report.expect(holds, "", "one error object", || describe_answer(&view.answer));
    }
}

/// A request without an id gets no JSON-RPC answer, alone or in a batch.
fn notification(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    match &*view.request {
        ParsedRequest::Notification => nothing(view, report),
        ParsedRequest::Batch(requests) if requests.contains(&ParsedRequest::Notification) => {
            let ids = requests.iter().filter_map(ParsedRequest::id).count();
            let Some(answers) = view.answer.array() else { return };
            let expected = format_args!("{ids} answers: the other requests have no id");
            report.expect(answers.len() <= ids, "", expected, || format!("{} answers", answers.len()));
        }
        _ => {}
    }
}

fn nothing(view: &View<'_>, report: &mut Report) {
    // The page of a gateway is no answer of the service.
    let Some(response) = view.answer.response().filter(|_| !view.rejected_before_service()) else { return };
    let silent = response.body.iter().all(u8::is_ascii_whitespace);
    report.expect(silent, "", "no JSON-RPC answer: the request has no id", || describe_answer(&view.answer));
}

/// An integer id above 2^53 comes back exactly. Parsers with 64-bit floating-point numbers round it.
fn large_ids(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.due_object() else { return };
    let Some(Value::Number(sent)) = view.request.id().filter(|id| is_large_integer(id)) else { return };
    let actual = object.get("id");
    // answer.id reports every other id.
    if matches!(actual, Some(Value::Number(actual)) if same_number(sent, actual)) {
        report.held();
    } else if actual.is_some_and(|actual| is_rounded(&Value::Number(sent.clone()), actual)) {
        report.broken("/id", sent.to_string(), shown_member(actual));
    }
}

/// No member of an answer occurs twice, not even with the same value.
fn unique_members(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(document) = view.due_document() else { return };
    if document.duplicates.iter().any(|duplicate| duplicate.conflicting) {
        return; // for answer.single-valued-members
    }
    match document.duplicates.first() {
        Some(duplicate) => report.broken(&duplicate.pointer, "one such member", "two of them"),
        None => report.held(),
    }
}
