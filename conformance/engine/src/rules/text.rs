//! Values and answers as text, for the findings of rules.

use serde_json::Value;

use crate::message::Answer;

/// A JSON value for people. Long values are cut.
pub fn shown(value: &Value) -> String {
    const LONGEST: usize = 160;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((cut, _)) => format!("{}... ({} bytes)", &text[..cut], text.len()),
    }
}

/// A member of the answer for people, or a note that it is missing.
pub fn shown_member(value: Option<&Value>) -> String {
    value.map_or_else(|| "no such member".to_owned(), shown)
}

/// An answer in a few words, for violations.
pub fn describe_answer(answer: &Answer<'_>) -> String {
    match answer {
        Answer::None(failure) => failure.to_string(),
        Answer::NotJson(response, cause) => format!("HTTP {}, {cause}", response.status),
        Answer::Json(response, document, _) => {
            if let Some(error) = answer.error().filter(|error| !error.is_object()) {
                format!("error {}", shown(error))
            } else if let Some(error) = answer.error() {
                format!("error {} {}", shown_member(error.get("code")), shown_member(error.get("message")))
            } else if let Some(result) = answer.result() {
                format!("result {}", shown(result))
            } else {
                format!("HTTP {}, {}", response.status, shown(&document.value))
            }
        }
    }
}

/// `1 rule`, `2 rules`.
pub fn count(number: impl Into<u128>, one: &str) -> String {
    let number = number.into();
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
