//! Explains why a request is refused: first the causes that JSON-RPC defines, then the violations of the schemas.
//!
//! It runs only for requests that the fast path has refused.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use paymaster_schemas::{resolved, validator_for};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{DEFAULT_VERSION, ErrorCode, RawMembers, Violation, id_text, known_version, text_of};
use crate::paymaster::ServedMethod;

/// Most violations that an error lists.
const MOST_VIOLATIONS: usize = 16;

/// The content of the error for a refused request.
pub(crate) struct Explanation<'a> {
    pub(crate) version: &'static str,
    /// JSON text of the id; none when it could not be read.
    pub(crate) id: Option<&'a str>,
    pub(crate) code: ErrorCode,
    pub(crate) violations: Vec<Violation>,
}

/// Explains why `text` is refused; none when it is a notification, which gets no answer. `typed` is the error of the fast
/// path. It is used where the schemas accept the request: they cannot see that a member occurs twice.
pub(crate) fn explain<'a>(text: &'a str, typed: &str) -> Option<Explanation<'a>> {
    let refused = |version, id, code, violations| Some(Explanation { version, id, code, violations });
    let invalid = |version, id, pointer: &str, reason: &str| {
        refused(version, id, ErrorCode::InvalidRequest, vec![Violation::new(pointer, reason)])
    };

    let call = match serde_json::from_str::<RawMembers<'_>>(text) {
        Ok(call) => call,
        Err(error) => {
            let code = match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => ErrorCode::InvalidRequest,
                Err(_) => ErrorCode::ParseError,
            };
            let violations = vec![Violation::new("", error.to_string())];
            return refused(DEFAULT_VERSION, None, code, violations);
        }
    };
    let version = call.jsonrpc.and_then(text_of).and_then(|text| known_version(&text));
    let answered = version.unwrap_or(DEFAULT_VERSION);
    let id = call.id.and_then(id_text);
    if call.id.is_some() && id.is_none() {
        return invalid(answered, None, "/id", "must be a string or a number");
    }
    if version.is_none() {
        return invalid(answered, id, "/jsonrpc", r#"must be "2.0" or "2.0.0""#);
    }
    let Some(method) = call.method.and_then(text_of) else {
        return invalid(answered, id, "/method", "must be a string");
    };
    if call.params.is_some_and(|params| !params.get().starts_with(['[', '{'])) {
        return invalid(answered, id, "/params", "must be an array or an object");
    }
    id?;
    let Some(method) = ServedMethod::find(&method) else {
        let violations = vec![Violation::new("/method", "is not a method of this service")];
        return refused(answered, id, ErrorCode::MethodNotFound, violations);
    };
    let violations = match serde_json::from_str::<Value>(text) {
        Ok(request) => schema_violations(method, request),
        Err(error) => vec![Violation::new("", error.to_string())],
    };
    let violations = if violations.is_empty() { vec![Violation::new("", typed)] } else { violations };
    refused(answered, id, ErrorCode::InvalidParams, violations)
}

/// The violations of the schema of `request`.
fn schema_violations(method: &ServedMethod, mut request: Value) -> Vec<Violation> {
    let Some(validator) = validator_for((method.document)(&mut request)) else { return Vec::new() };
    let mut violations = Vec::new();
    for error in validator.iter_errors(&request) {
        let violation = violation(&error);
        if !violations.contains(&violation) {
            violations.push(violation);
        }
        if violations.len() == MOST_VIOLATIONS {
            break;
        }
    }
    violations
}

fn violation(error: &ValidationError<'_>) -> Violation {
    let pointer = error.instance_path().as_str();
    let reason = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let member = property.as_str().unwrap_or_default();
            return Violation::new(format!("{pointer}/{member}"), "is required");
        }
        // The one `anyOf` of the request documents: the token to pay in has two names.
        ValidationErrorKind::AnyOf { .. } => {
            return Violation::new(format!("{pointer}/feeTokenAddress"), "is required in ERC20 mode");
        }
        ValidationErrorKind::Type { kind } => type_words(kind, error.instance()),
        ValidationErrorKind::Pattern { pattern } => pattern_words(pattern),
        ValidationErrorKind::Enum { options } => format!("must be one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} elements"),
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} elements"),
        ValidationErrorKind::MinLength { .. } => "must not be empty".to_owned(),
        _ => error.masked().to_string(),
    };
    Violation::new(pointer, reason)
}

fn type_words(kind: &TypeKind, found: &Value) -> String {
    let wanted: Vec<String> = match kind {
        TypeKind::Single(wanted) => vec![wanted.to_string()],
        TypeKind::Multiple(wanted) => wanted.iter().map(|wanted| wanted.to_string()).collect(),
    };
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        // An integer in any notation is valid.
        Value::Number(_) if wanted.iter().any(|wanted| wanted == "integer") => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let wanted: Vec<String> = wanted
        .iter()
        .map(|noun| {
            let article = if noun.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
            format!("{article} {noun}")
        })
        .collect();
    format!("must be {}, not {found}", wanted.join(" or "))
}

/// Descriptions of the patterns of the schema documents.
const PATTERN_WORDS: [(&str, &str); 4] = [
    ("address", "must be an address: 0x and 40 hex digits"),
    ("hex-bytes", "must be bytes in hex: 0x and two digits a byte"),
    ("hex-quantity", "must be a number in hex: 0x and at least one digit"),
    ("amount", "must be an integer from 0 to 2^256-1: 0x and hex digits, or decimal digits"),
];

fn pattern_words(pattern: &str) -> String {
    PATTERN_WORDS
        .iter()
        .find(|(document, _)| {
            let of_document = resolved(document).and_then(|schema| schema.get("pattern"));
            of_document.and_then(Value::as_str) == Some(pattern)
        })
        .map_or_else(|| format!("must match {pattern}"), |(_, words)| (*words).to_owned())
}
