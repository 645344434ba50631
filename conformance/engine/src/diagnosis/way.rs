//! In which way an answer is wrong: where, with which value, and what is expected there.

use std::mem::{Discriminant, discriminant};

use paymaster_exchange::KEPT;
use paymaster_schemas::{member_validator, resolved, validator_for};
use serde_json::{Map, Value};

use crate::diagnosis::{Finding, without_indices};
use crate::generate::Place;
use crate::json::encloses;
use crate::message::Answer;
use crate::rules::errors;

/// The way in which the answer of a finding is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    /// The place in the answer, without the indices of lists: that of the whole, where another kind has it whole.
    place: String,
    /// What the answer has there.
    pub(super) found: Found,
    /// Set where the answer is wrong as a whole.
    pub(super) whole: Option<WholeAnswer>,
    /// The schema that the value at the place does not meet, where the place is a row of a result table.
    expected: Option<&'static Value>,
}

/// What an answer has at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// A value of this JSON type.
    Type(Discriminant<Value>),
    /// Nothing: the place is missing.
    Nothing,
    /// The answer is not a JSON text, there is none, or it was too long to be kept.
    NotJson,
}

/// An answer that is wrong as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WholeAnswer {
    /// There is no complete response.
    None,
    /// Another HTTP status than 200, and no JSON-RPC answer.
    Status(u16),
    /// A body that is no JSON text, with HTTP status 200.
    NotJson,
    /// An error with this code, or this text, where another answer or another code is expected. They are compared as they are written.
    Error(String),
    /// A result that has no required member of its table as it should be, or a JSON text that is no object.
    OtherShape(Discriminant<Value>),
}

impl Way {
    pub(super) fn of(finding: &Finding) -> Self {
        let pointer = &finding.violation.pointer;
        let place = without_indices(pointer);
        let answer = finding
            .exchanges
            .get(finding.violation.member)
            .filter(|exchange| {
                let response = exchange.outcome.as_ref();
                response.map_or(true, |response| response.body.len() < KEPT)
            })
            .map(Answer::of);
        let document = answer.as_ref().and_then(Answer::document);
        let value = document.and_then(|document| document.value.pointer(pointer));
        let found = match (document, value) {
            (_, Some(value)) => Found::Type(discriminant(value)),
            (Some(_), None) => Found::Nothing,
            (None, None) => Found::NotJson,
        };
        Self {
            whole: answer.as_ref().and_then(|answer| whole(answer, finding)),
            expected: value.and_then(|value| unmet(&place, value, finding)),
            place: match place.strip_prefix("/*") {
                Some(of_element) => format!("/*{}", finding.specification.places.whole_of(of_element)),
                None => finding.specification.places.whole_of(&place).to_owned(),
            },
            found,
        }
    }

    /// Whether both are wrong at the same place. What two rules say of the whole answer is about several places.
    pub(super) fn is_same_place(&self, other: &Self, is_one_rule: bool) -> bool {
        self.place == other.place && (is_one_rule || !self.place.is_empty() && self.found == other.found)
    }

    /// Whether the other place is missing because it is in this one, which has no object or list.
    pub(super) fn is_reason_for(&self, other: &Self) -> bool {
        let containers = [Value::Array(Vec::new()), Value::Object(Map::new())];
        let is_container = containers.iter().any(|value| self.found == Found::Type(discriminant(value)));
        other.found == Found::Nothing
            && self.place != other.place
            && encloses(&self.place, &other.place)
            && !is_container
    }

    /// Whether values of one type stand where one other type is expected.
    pub(super) fn is_same_type(&self, other: &Self) -> bool {
        self.expected.is_some() && self.found == other.found && self.expected == other.expected
    }
}

/// Whether the answer of a finding has a result that meets the schema of its kind.
pub(super) fn has_valid_result(finding: &Finding) -> bool {
    let answer = finding.exchanges.get(finding.violation.member).map(Answer::of);
    let result = answer.as_ref().and_then(Answer::result);
    let validator = finding.pair.and_then(|pair| validator_for(pair.result_document));
    result.zip(validator).is_some_and(|(result, validator)| validator.is_valid(result))
}

fn whole(answer: &Answer<'_>, finding: &Finding) -> Option<WholeAnswer> {
    let pointer = finding.violation.pointer.as_str();
    let (response, value) = match answer {
        Answer::None(_) => return Some(WholeAnswer::None),
        Answer::NotJson(response, _) if response.status != 200 => {
            return Some(WholeAnswer::Status(response.status));
        }
        Answer::NotJson(..) => return Some(WholeAnswer::NotJson),
        Answer::Json(response, document, _) => (response, &document.value),
    };
    if response.status != 200 && !answer.is_json_rpc() {
        return Some(WholeAnswer::Status(response.status));
    }
    let is_about_its_form = errors::RULES.iter().any(|rule| rule.id == finding.rule.id);
    if let Some(error) = answer.error().filter(|error| error.is_object() || !is_about_its_form) {
        let is_about_the_error = matches!(pointer, "" | "/error" | "/error/code" | "/result");
        // Some targets write a text in place of the object.
        let code = if error.is_object() { &error["code"] } else { error };
        return is_about_the_error.then(|| WholeAnswer::Error(code.to_string()));
    }
    let shape = match answer.result() {
        // What is beside the result has another reason.
        Some(_) if !pointer.is_empty() && !pointer.starts_with("/result") => None,
        Some(result) => is_of_another_shape(finding.pair?.result_document, result).then_some(result),
        None => (!value.is_object()).then_some(value),
    };
    shape.map(|value| WholeAnswer::OtherShape(discriminant(value)))
}

fn is_of_another_shape(document: &str, result: &Value) -> bool {
    let required = resolved(document).and_then(|schema| schema["required"].as_array());
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    let is_right = |name: &str| {
        let validator = member_validator(document, name);
        // Some targets write the names of members in lower case.
        let values = [result.get(name), result.get(name.to_ascii_lowercase())];
        let mut values = values.into_iter().flatten();
        validator.is_some_and(|validator| values.any(|value| validator.is_valid(value)))
    };
    !names.any(is_right)
}

/// The schema of the row at a place of a result, where the value does not meet it: the type or the document that the row refers to.
fn unmet(place: &str, value: &Value, finding: &Finding) -> Option<&'static Value> {
    let own = finding.pair?.result_document;
    let (document, member) = match *place.strip_prefix("/result/")?.split('/').collect::<Vec<_>>() {
        [member] => (own, member),
        // A member of the objects in a list has a document of its own.
        [list, "*", member] => {
            let items = Place::root(own).ok()?.within("properties", list)?.under("items")?;
            (items.target().ok()?.document, member)
        }
        _ => return None,
    };
    if member_validator(document, member)?.is_valid(value) {
        return None;
    }
    let row = &resolved(document)?["properties"][member];
    ["$ref", "type"].iter().find_map(|name| row.get(name))
}
