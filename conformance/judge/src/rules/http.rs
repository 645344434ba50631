//! The use of JSON-RPC over HTTP: recommendations, which warn.

use crate::rules::{Check, Report, Rule, View, always};
use crate::target::context::Context;

const ADVICE: &str = "the target answered too few requests";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "http.status-of-result",
        clause: "http.status-of-result",
        quota: 10,
        advice: ADVICE,
        hint: "clients that look at the status first take anything but 200 for a failure",
        not_applicable: always,
        check: Check::Exchange(status_of_result),
    },
    Rule {
        id: "http.content-type",
        clause: "http.content-type",
        quota: 10,
        advice: ADVICE,
        hint: "send Content-Type: application/json",
        not_applicable: always,
        check: Check::Exchange(content_type),
    },
];

/// An answer with a result comes with an HTTP status of 200.
fn status_of_result(view: &View<'_>, _: &Context, report: &mut Report) {
    if let Some(response) = view.answer.response().filter(|_| view.answer.result().is_some()) {
        report.expect(response.status == 200, "", "HTTP status 200", || {
            format!("HTTP status {}", response.status)
        });
    }
}

/// An answer comes with the content type application/json.
fn content_type(view: &View<'_>, _: &Context, report: &mut Report) {
    let Some(response) = view.answer.response().filter(|_| view.answer.object().is_some()) else {
        return;
    };
    let actual = response.header("content-type");
    let meaning = actual
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let json = matches!(meaning.as_str(), "application/json" | "application/json-rpc")
        || (meaning.starts_with("application/") && meaning.ends_with("+json"));
    report.expect(json, "", "Content-Type: application/json", || {
        actual.map_or_else(
            || "no Content-Type".to_owned(),
            |actual| format!("Content-Type: {actual}"),
        )
    });
}
