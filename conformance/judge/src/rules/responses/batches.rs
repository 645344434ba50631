//! JSON-RPC 2.0, section 6: each call of a batch is processed like a single call.

use std::fmt;

use paymaster_schemas::{Mode, kinds};
use serde_json::{Map, Value};

use crate::knowledge::Knowledge;
use crate::message::{
    answer::{error_of, result_of},
    request::ParsedRequest,
};
use crate::rules::{Advice, Check, Report, Rule, View, shown};

pub(in crate::rules) const RULES: &[Rule] = &[Rule::new(
    "json-rpc.batch-elements",
    4,
    Advice::Look("the target answered too few batches"),
    "answer each call of a batch as if it had come alone",
    Check::Group(&crate::cases::relations::BATCH_ELEMENTS, batch_elements),
)];

/// The kind of an answer. Equal requests get answers of the same kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    Error,
    /// A result of that mode; of quotes or not.
    Result(Mode, bool),
}

impl fmt::Display for AnswerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("an error"),
            Self::Result(mode, false) => write!(f, "a result of {mode} mode"),
            Self::Result(mode, true) => write!(f, "quotes, of {mode} mode"),
        }
    }
}

fn answer_kind(answer: &Map<String, Value>) -> Option<AnswerKind> {
    if error_of(answer).is_some() {
        return Some(AnswerKind::Error);
    }
    let result = result_of(answer)?;
    let mode = result.get("MODE").or_else(|| result.get("mode"))?;
    Some(AnswerKind::Result(Mode::from_name(mode.as_str()?)?, result.get("feeQuotes").is_some()))
}

/// The kind of answer that this call must get; none when the single call gets another kind, which other rules report.
fn expected(alone: &View<'_>) -> Option<AnswerKind> {
    let sort = match &alone.request {
        ParsedRequest::Call(call) => AnswerKind::Result(Mode::of(call.pair), call.pair == kinds::QUOTE_ERC20),
        ParsedRequest::UnknownMethod { .. } => AnswerKind::Error,
        _ => return None,
    };
    (answer_kind(alone.answer.object()?)? == sort).then_some(sort)
}

/// Each call of the batch gets the kind of answer that it gets alone. Calls are matched without their ids. json-rpc.batch reports
/// refused batches and missing answers.
fn batch_elements(views: &[View<'_>], _: &dyn Knowledge, report: &mut Report) {
    let [alone @ .., batch] = views else { return };
    let ParsedRequest::Batch(calls) = &batch.request else {
        return;
    };
    let Some(answers) = batch.answer.array() else {
        return;
    };
    report.set_member(views.len() - 1);
    for call in calls {
        let same = |view: &&View<'_>| is_same(&view.request, call);
        let Some(expected) = alone.iter().find(same).and_then(expected) else {
            continue;
        };
        let own = answers.iter().enumerate().filter(|(_, answer)| answer.get("id") == call.id());
        let [(place, Value::Object(actual))] = own.collect::<Vec<_>>()[..] else {
            continue;
        };
        report.expect(
            answer_kind(actual) == Some(expected),
            format_args!("/{place}"),
            format_args!("{expected}, as the call gets alone"),
            || shown(&Value::Object(actual.clone())),
        );
    }
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
