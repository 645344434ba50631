//! The use of JSON-RPC over HTTP. These rules warn.

use crate::cases::IDLE_CONNECTION;
use crate::knowledge::Knowledge;
use crate::rules::{Advice, Report, Rule, Settled, View, describe_answer};

/// What is said of a rule that was exercised too seldom to pass.
pub const TOO_FEW: Advice = Advice::Look("too few requests got an answer that the rule judges");

pub const RULES: &[Rule] = &[
    Rule::exchange("http.status-of-result", 10, TOO_FEW, status_of_result)
        .hint("clients that look at the status first take anything but 200 for a failure"),
    Rule::exchange("http.content-type", 10, TOO_FEW, content_type),
    Rule::group("http.idle-connection", 1, TOO_FEW, &IDLE_CONNECTION, idle_connection)
        .hint("look for what expires meanwhile: a session, a buffer; close what is not served any more"),
];

/// An answer with a result comes with an HTTP status of 200.
fn status_of_result(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    if let Some(response) = view.answer.response().filter(|_| view.answer.result().is_some()) {
        report.expect(response.status == 200, "", "HTTP status 200", || {
            format!("HTTP status {}", response.status)
        });
    }
}

/// An answer comes with the content type application/json.
fn content_type(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    let is_answer = view.answer.object().is_some() && !view.rejected_before_service();
    let Some(response) = view.answer.response().filter(|_| is_answer) else { return };
    let actual = response.header("content-type");
    let meaning =
        actual.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
    let json = matches!(meaning.as_str(), "application/json" | "application/json-rpc")
        || (meaning.starts_with("application/") && meaning.ends_with("+json"));
    report.expect(json, "", "Content-Type: application/json", || {
        actual.map_or_else(|| "no Content-Type".to_owned(), |actual| format!("Content-Type: {actual}"))
    });
}

/// A request is answered on a connection that was idle as on new ones. Nothing is judged where the answers on the two new connections differ: a
/// quota may have ended between them.
fn idle_connection(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let [first, idle, last] = views else { return };
    let of = |view: &View<'_>| Settled::of(&view.answer, knowledge);
    let Some(expected) = of(first).filter(|expected| *expected != Settled::Error) else { return };
    if of(last).as_ref() == Some(&expected) && !idle.rejected_before_service() {
        report.set_member(1);
        let words = format_args!("{}, as on a new connection", describe_answer(&first.answer));
        report.expect(of(idle) == Some(expected), "", words, || describe_answer(&idle.answer));
    }
}
