//! The use of JSON-RPC over HTTP. These rules warn.

use crate::{
    knowledge::Knowledge,
    rules::{Advice, Report, Rule, View},
};

const TOO_FEW: Advice = Advice::Look("the target answered too few requests");

pub const RULES: &[Rule] = &[
    Rule::exchange(
        "http.status-of-result",
        10,
        TOO_FEW,
        "clients that look at the status first take anything but 200 for a failure",
        status_of_result,
    ),
    Rule::exchange("http.content-type", 10, TOO_FEW, "send Content-Type: application/json", content_type),
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
    let Some(response) = view.answer.response().filter(|_| is_answer) else {
        return;
    };
    let actual = response.header("content-type");
    let meaning =
        actual.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
    let json = matches!(meaning.as_str(), "application/json" | "application/json-rpc")
        || (meaning.starts_with("application/") && meaning.ends_with("+json"));
    report.expect(json, "", "Content-Type: application/json", || {
        actual.map_or_else(|| "no Content-Type".to_owned(), |actual| format!("Content-Type: {actual}"))
    });
}
