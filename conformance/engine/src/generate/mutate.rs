//! Mutations: requests and other messages that break one keyword of the schema with one edit at one place.
//!
//! The list of [`sites`] of a document is fixed, so that the same site can be applied to another base: a failure shrinks by
//! applying its site to simpler bases. A mutation counts only when the schema rejects it for this keyword.

mod edits;
mod misfits;
mod sites;

use crate::json::encloses;
use crate::specification::Specification;
use paymaster_schemas::{Kind, document, validator_for};
use serde_json::Value;

pub use crate::generate::mutate::edits::{Edit, TextEdit};
pub use crate::generate::mutate::sites::sites;

/// A way to break one keyword at one place of any message.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The document that the broken message is invalid against.
    pub message: &'static str,
    /// The place in the message, as a JSON pointer; `*` is the last item of a list.
    pub location: String,
    /// The document that has the keyword.
    pub document: &'static str,
    /// The place of the keyword in that document, as a JSON pointer.
    pub schema_pointer: String,
    /// The keyword.
    pub keyword: &'static str,
    /// The edit at the place.
    pub edit: Edit,
}

/// A message broken at a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// The place that was edited, as a JSON pointer into the message.
    pub pointer: String,
    /// The whole broken message.
    pub broken: Value,
}

impl Site {
    /// `valid`, broken at this site. None when the message is not valid, when it has no such place, when the edit does not break
    /// this keyword, or when it breaks anything outside of the place.
    pub fn apply(&self, valid: &Value) -> Option<Mutation> {
        if !validator_for(self.message)?.is_valid(valid) {
            return None;
        }
        let pointer = edits::place(&self.location, valid)?;
        let mut broken = valid.clone();
        self.edit.perform(&mut broken, &pointer)?;
        self.is_broken_here(&broken, &pointer).then_some(Mutation { pointer, broken })
    }

    /// Whether the schema rejects the message for this keyword and for nothing outside of the place.
    fn is_broken_here(&self, broken: &Value, pointer: &str) -> bool {
        let (Some(validator), Some(document)) = (validator_for(self.message), document(self.document)) else {
            return false;
        };
        // A missing member is reported at its parent.
        let place = match self.edit {
            Edit::Remove => pointer.rsplit_once('/').map_or("", |(parent, _)| parent),
            _ => pointer,
        };
        let claimed = format!("{}#{}", document.id, self.schema_pointer);
        let mut found = false;
        for error in validator.iter_errors(broken) {
            let path = error.instance_path().as_str();
            if !encloses(place, path) {
                return false;
            }
            found |= path == place
                && error.absolute_keyword_location().is_some_and(|location| location.as_str() == claimed);
        }
        found
    }
}

impl Mutation {
    /// The pair for which the broken request is valid: another method or mode name can turn it into a valid request of another
    /// pair.
    pub fn valid_pair(&self, specification: &Specification) -> Option<Kind> {
        specification.kinds.iter().copied().find(|pair| {
            validator_for(pair.request_document).is_some_and(|validator| validator.is_valid(&self.broken))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::Strategy, strategy::ValueTree};
    use serde_json::json;

    use super::*;
    use crate::generate::{Overrides, runner, strategy};

    #[test]
    fn an_edit_that_breaks_another_keyword_is_not_a_mutation() {
        let strategy = strategy("fee-quote", &Overrides::new()).unwrap();
        let valid = strategy.new_tree(&mut runner(1)).unwrap().current();
        let too_large = |decimal: Value| Site {
            message: "fee-quote",
            location: "/decimal".to_owned(),
            document: "fee-quote",
            schema_pointer: "/properties/decimal/maximum".to_owned(),
            keyword: "maximum",
            edit: Edit::Set(decimal),
        };
        assert!(too_large(json!(256)).apply(&valid).is_some());
        assert_eq!(too_large(json!("7")).apply(&valid), None);
    }
}
