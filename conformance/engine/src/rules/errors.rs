//! The form of an error.

use serde_json::Value;

use crate::json::is_integer;
use crate::knowledge::Knowledge;
use crate::rules::{Advice, Report, Rule, View, shown, shown_member};

pub const NO_ERRORS: Advice = Advice::Look("too few answers had an error in the form that the rule judges");
pub const RULES: &[Rule] = &[
    Rule::exchange("error.object", 3, NO_ERRORS, object),
    Rule::exchange("error.code", 3, NO_ERRORS, code),
    Rule::exchange("error.message", 3, NO_ERRORS, message),
];

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
