//! Sections 1 and 2.10: the form of a JSON-RPC answer.

use serde_json::Value;

use crate::cases::protocol as related;
use crate::json::{is_rounded, same_number};
use crate::knowledge::Knowledge;
use crate::message::{Answer, ParsedRequest};
use crate::rules::{Advice, ExchangeCheck, Report, Rule, View, describe_answer, shown, shown_member};
use paymaster_exchange::Failure;

const UNANSWERED: Advice = Advice::Look(
    "too few requests got an answer that the rule judges: look at the address of the target, at its headers and its log",
);

const fn rule(id: &'static str, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, 10, UNANSWERED, check)
}

pub const RULES: &[Rule] = &[
    rule("answer.http-message", http_message)
        .hint("look at Content-Length, the end of chunks, closed connections and unanswered requests"),
    rule("answer.json-text", json_text)
        .hint(
            "write the answer with a JSON library and send its bytes, all of them and nothing else; an empty body with HTTP 500 is often an \
             exception that nothing catches",
        ),
    rule("answer.single-valued-members", single_valued_members),
    rule("answer.object", object),
    rule("answer.result-or-error", result_or_error)
        .hint("leave out the member that does not apply; a member that is null is present"),
    rule("answer.jsonrpc", jsonrpc).hint("copy jsonrpc from the request"),
    rule("answer.id", id)
        .hint("copy the id of the request without converting it; falsy ids such as 0 are valid")
        .exercised_above_all_by(
            const { &[&related::NUMBER_IDS, &related::STRING_IDS, &related::MALFORMED_PARAMS] },
            &[],
        )
        .about_mix_ups(),
    rule("answer.result-object", result_object),
];

/// A valid request gets a complete HTTP response.
fn http_message(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    // A target may close the connection of a request that is too large for it.
    if view.beyond.is_some() || view.valid_call().is_none() && !view.answer_is_shown() {
        return;
    }
    match &view.answer {
        Answer::None(Failure::Connect(_) | Failure::TooLarge { .. }) => {}
        Answer::None(failure) => report.broken("", "a complete HTTP response", failure.to_string()),
        _ => report.held(),
    }
}

/// The body of an answer is one complete JSON text in UTF-8.
fn json_text(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if !view.must_be_answered() {
        return;
    }
    match &view.answer {
        Answer::None(_) => {}
        Answer::NotJson(_, cause) if cause.is_our_limit => {}
        Answer::NotJson(response, _) if matches!(response.status, 404 | 405) => {} // for endpoint.both-methods
        Answer::NotJson(response, cause) => {
            let body = String::from_utf8_lossy(&response.body);
            let body = shown(&Value::String(body.into_owned()));
            // Which value decides is for the cause to say, which is checked.
            let beside =
                if view.refused_value.is_some() { ", while others were served in the run" } else { "" };
            let actual = format!("{cause} (HTTP {}{beside}, body {body})", response.status);
            report.broken("", "one JSON text", actual);
        }
        Answer::Json(..) => report.held(),
    }
}

/// No member of an answer occurs twice with different values.
fn single_valued_members(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(document) = view.due_document() else { return };
    match document.duplicates.iter().find(|duplicate| duplicate.conflicting) {
        Some(duplicate) => {
            report.broken(&duplicate.pointer, "one value", "two different values");
        }
        None => report.held(),
    }
}

/// The answer to one request is one JSON object.
fn object(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if let Some(document) = view.due_document() {
        report.expect(document.value.is_object(), "", "one JSON object", || shown(&document.value));
    }
}

/// An answer carries either result or error.
fn result_or_error(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.due_object() else { return };
    let actual = match (object.contains_key("result"), object.contains_key("error")) {
        (true, false) | (false, true) => return report.held(),
        (true, true) => {
            format!("both: result {} and error {}", shown(&object["result"]), shown(&object["error"]))
        }
        (false, false) => format!("neither, in {}", describe_answer(&view.answer)),
    };
    // The error is the answer, and the member beside it is too many.
    let pointer = if object.get("result").is_some_and(Value::is_null) { "/result" } else { "" };
    report.broken(pointer, "either result or error", actual);
}

/// An answer has the jsonrpc version of the request. `2.0` is also a lawful answer to `2.0.0`, which only the field table of
/// section 2.1 has. A request in the version that the target does not use may be refused in the other version.
fn jsonrpc(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.due_object() else { return };
    let sent = match &*view.request {
        ParsedRequest::Call(call) => call.envelope["jsonrpc"].as_str().unwrap_or_default(),
        ParsedRequest::UnknownMethod { .. } | ParsedRequest::WithoutKind { .. } => "2.0",
        _ => return,
    };
    let actual = object.get("jsonrpc");
    let foreign = sent != knowledge.jsonrpc_version();
    let holds = actual
        .and_then(Value::as_str)
        .is_some_and(|actual| actual == sent || actual == "2.0" || foreign && actual == "2.0.0");
    report.expect(holds, "/jsonrpc", format_args!("\"{sent}\""), || shown_member(actual));
}

/// An answer has the id of its request. Numbers are compared by exact value. An error may have the id null when the request goes
/// beyond the tables, which includes ids with a fraction: the target may not have read it.
fn id(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.due_object() else { return };
    let Some(sent) = view.request.id() else { return };
    let actual = object.get("id");
    // For json-rpc.large-ids.
    if actual.is_some_and(|actual| is_rounded(sent, actual)) {
        return;
    }
    // What was refused for its form may have been refused before its id was read.
    let may_be_unread = view.beyond_the_tables() || view.beyond.is_some();
    if may_be_unread && view.answer.error().is_some() && actual == Some(&Value::Null) {
        return;
    }
    if actual.is_some_and(|actual| same_id(sent, actual)) {
        report.held();
    } else {
        report.broken("/id", shown(sent), shown_member(actual));
    }
}

/// Whether two ids are equal: numbers by their exact value, however they are written.
pub(super) fn same_id(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        _ => one == other,
    }
}

/// The result of an answer is an object.
fn result_object(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let Some(object) = view.answer.object().filter(|_| matches!(*view.request, ParsedRequest::Call(_)))
    else {
        return;
    };
    if object.contains_key("error") {
        return;
    }
    if let Some(result) = object.get("result") {
        report.expect(result.is_object(), "/result", "an object", || shown(result));
    }
}
