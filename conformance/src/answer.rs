//! What an answer says, read from its bytes by the judge's own eyes and never by the server's types.

use serde_json::{Map, Value};

use crate::{
    exchange::{Exchange, Failure, Response},
    json::document::{Document, NotJson},
};

/// What came back for a request.
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// No complete response.
    None(&'a Failure),
    /// A response whose body is no JSON text.
    NotJson(&'a Response, NotJson),
    /// A response whose body is a JSON text.
    Json(&'a Response, Document),
}

impl<'a> Answer<'a> {
    /// Reads the answer of an exchange.
    pub fn of(exchange: &'a Exchange) -> Self {
        match &exchange.outcome {
            Err(failure) => Self::None(failure),
            Ok(response) => match Document::parse(&response.body) {
                Ok(document) => Self::Json(response, document),
                Err(cause) => Self::NotJson(response, cause),
            },
        }
    }

    /// The response, when there is a complete one.
    pub fn response(&self) -> Option<&'a Response> {
        match self {
            Self::None(_) => None,
            Self::NotJson(response, _) | Self::Json(response, _) => Some(response),
        }
    }

    /// The JSON text.
    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Json(_, document) => Some(document),
            _ => None,
        }
    }

    /// The answer as an object.
    pub fn object(&self) -> Option<&Map<String, Value>> {
        self.document().and_then(|document| document.value.as_object())
    }

    /// The result, when the answer carries one and no error.
    pub fn result(&self) -> Option<&Value> {
        let object = self.object()?;
        if has_error(object) {
            None
        } else {
            object.get("result").filter(|result| !result.is_null())
        }
    }

    /// The error, when the answer carries one.
    pub fn error(&self) -> Option<&Value> {
        self.object()
            .filter(|object| has_error(object))
            .and_then(|object| object.get("error"))
    }
}

/// `error: null` beside a result is what some libraries write for "no error": it is judged as a member that should not be
/// there, but the result is read.
fn has_error(object: &Map<String, Value>) -> bool {
    object
        .get("error")
        .is_some_and(|error| !error.is_null() || !object.contains_key("result"))
}
