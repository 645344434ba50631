//! Requests (and other messages) that break the schema on purpose: one edit at one place, which breaks one keyword there.
//!
//! The list of [`sites`] of a document is fixed, so that the same site can be applied to another base: a failure shrinks by
//! applying its site to simpler bases. Nothing counts as broken because it was meant to be: the schema has the last word.

mod edits;
mod misfits;
mod sites;

use std::fmt;

use paymaster_schemas::{Pair, document, validator_for};
use serde_json::Value;

pub use crate::cases::generate::mutate::{
    edits::{Edit, TextEdit},
    sites::sites,
};

/// A way to break one keyword at one place, whatever the message around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The document that the message is to be invalid against.
    pub message: &'static str,
    /// The place in the message, as a JSON pointer; `*` stands for the last item of a list.
    pub location: String,
    /// The document in which the keyword stands.
    pub document: &'static str,
    /// Where the keyword stands there, as a JSON pointer.
    pub schema_pointer: String,
    /// The keyword.
    pub keyword: &'static str,
    /// What is done at the place.
    pub edit: Edit,
}

/// A message broken at a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// What was broken, as a JSON pointer into the message.
    pub pointer: String,
    /// The document in which the broken keyword stands.
    pub document: &'static str,
    /// Where the keyword stands there, as a JSON pointer.
    pub schema_pointer: String,
    /// The broken keyword.
    pub keyword: &'static str,
    /// What was at the place.
    pub was: Value,
    /// What is there now; none when it was removed.
    pub now: Option<Value>,
    /// The whole broken message.
    pub broken: Value,
    /// How it was broken.
    pub site: Site,
}

/// Every mutation of `valid`, a message that the document called `document` accepts, in the order of the [`sites`].
/// Empty when there is no such document, or when it does not accept `valid`.
pub fn mutations(document: &str, valid: &Value) -> Vec<Mutation> {
    if !validator_for(document).is_some_and(|validator| validator.is_valid(valid)) {
        return Vec::new();
    }
    let mut all: Vec<Mutation> = Vec::new();
    for mutation in sites(document).iter().filter_map(|site| site.broken(valid)) {
        // Two edits can come to the same: 0x without its prefix, and nothing at all.
        let known = |known: &Mutation| known.pointer == mutation.pointer && known.now == mutation.now;
        if !all.iter().any(known) {
            all.push(mutation);
        }
    }
    all
}

impl Site {
    /// `valid`, broken here. None when the message is not valid to begin with, when it has no such place, or when the edit
    /// does not break this keyword in it, or anything outside of the place.
    pub fn apply(&self, valid: &Value) -> Option<Mutation> {
        validator_for(self.message)?
            .is_valid(valid)
            .then(|| self.broken(valid))
            .flatten()
    }

    fn broken(&self, valid: &Value) -> Option<Mutation> {
        let pointer = edits::place(&self.location, valid)?;
        let was = valid.pointer(&pointer)?.clone();
        let mut broken = valid.clone();
        self.edit.perform(&mut broken, &pointer)?;
        let now = match self.edit {
            Edit::Remove => None,
            _ => Some(broken.pointer(&pointer)?.clone()),
        };
        (now.as_ref() != Some(&was) && self.is_broken_here(&broken, &pointer)).then(|| Mutation {
            pointer,
            document: self.document,
            schema_pointer: self.schema_pointer.clone(),
            keyword: self.keyword,
            was,
            now,
            broken,
            site: self.clone(),
        })
    }

    /// Whether the schema refuses the message for this keyword, and for nothing outside of the place.
    fn is_broken_here(&self, broken: &Value, pointer: &str) -> bool {
        let (Some(validator), Some(document)) = (validator_for(self.message), document(self.document)) else {
            return false;
        };
        // What is missing is reported where it is missed.
        let place = match self.edit {
            Edit::Remove => pointer.rsplit_once('/').map_or("", |(parent, _)| parent),
            _ => pointer,
        };
        let claimed = format!("{}#{}", document.id, self.schema_pointer);
        let mut found = false;
        for error in validator.iter_errors(broken) {
            let path = error.instance_path().as_str();
            let inside = path
                .strip_prefix(place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if !inside {
                return false;
            }
            found |= path == place
                && error
                    .absolute_keyword_location()
                    .is_some_and(|location| location.as_str() == claimed);
        }
        found
    }
}

impl Mutation {
    /// The same breakage of another, usually simpler, base. None when it would not be one; see [`Site::apply`].
    pub fn reapply(&self, base: &Value) -> Option<Self> {
        self.site.apply(base)
    }

    /// Whether `shrunk` is this breakage of `base` and nothing else.
    pub fn is_mutation_of(&self, base: &Value, shrunk: &Value) -> bool {
        self.reapply(base)
            .is_some_and(|mutation| mutation.broken == *shrunk)
    }

    /// The pair for which the broken request is valid all the same: another method or mode name makes it ask for something
    /// else, which the target may well grant.
    pub fn valid_pair(&self) -> Option<Pair> {
        Pair::ALL.into_iter().find(|pair| {
            validator_for(pair.request_document()).is_some_and(|validator| validator.is_valid(&self.broken))
        })
    }
}

/// In a line, for people: `pattern of address broken at /params/0/sender: now "0x"`.
impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer values are cut, in characters.
        const LONGEST: usize = 60;
        write!(
            f,
            "{} of {} broken at {}: ",
            self.keyword, self.document, self.pointer
        )?;
        let Some(now) = &self.now else {
            return f.write_str("removed");
        };
        let text = now.to_string();
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, "now {}...", &text[..end]),
            None => write!(f, "now {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::Strategy, strategy::ValueTree};
    use serde_json::json;

    use super::*;
    use crate::cases::generate::{Overrides, runner, strategy};

    #[test]
    fn what_breaks_another_keyword_of_the_place_is_no_mutation() {
        let strategy = strategy("fee-quote", &Overrides::new()).unwrap();
        let valid = strategy.new_tree(&mut runner(1)).unwrap().current();
        let too_short = |symbol: Value| Site {
            message: "fee-quote",
            location: "/symbol".to_owned(),
            document: "fee-quote",
            schema_pointer: "/properties/symbol/minLength".to_owned(),
            keyword: "minLength",
            edit: Edit::Set(symbol),
        };
        assert!(too_short(json!("")).apply(&valid).is_some());
        assert_eq!(too_short(json!(7)).apply(&valid), None);
    }
}
