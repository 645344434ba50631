//! The first profile of a target: a specification asks what it can state, and writes its tables.
//!
//! It promises nothing that the target did not show, and nothing that one answer cannot show: whether other operations get a result, or
//! a larger size is always served. A lawful target is never accused with it.

use std::{collections::BTreeMap, iter};

use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;

use crate::cases::Group;
use crate::message::{Answer, ParsedRequest};
use crate::rules::{MissingLine, count};
use crate::session::Access;
use crate::specification::Specification;
use crate::verdict::Reached;

/// The requests of `init`: any sender can drive them.
pub trait Survey: Send {
    /// Takes the answers of the previous round (none at first) and returns the groups of the next round; none at the end.
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>>;

    /// What was found so far. `is_public` says whether a text of the target has no secret.
    fn finish(self: Box<Self>, is_public: &dyn Fn(&str) -> bool) -> FirstProfile;
}

/// What a survey found.
#[derive(Debug)]
pub struct FirstProfile {
    /// Whether requests got past HTTP to the service.
    pub access: Access,
    /// What was found, for people, one thing a line.
    pub findings: Vec<String>,
    /// The tables of the specification, as the file has them.
    pub tables: String,
    /// The line to write first, where no valid request got a result.
    pub needs: Option<&'static MissingLine>,
}

/// How valid requests were answered, by kind.
#[derive(Debug, Default)]
pub struct ReachedKinds(BTreeMap<Kind, Reached>);

impl ReachedKinds {
    /// Counts the answer to a request.
    pub fn see(&mut self, exchange: &Exchange, specification: &'static Specification) {
        let request = ParsedRequest::of(&exchange.request, specification);
        if let Some(call) = request.valid_call() {
            self.0.entry(call.pair).or_default().count(&Answer::of(exchange));
        }
    }

    /// Whether a valid request of any of these kinds got a result.
    pub fn serves_any(&self, kinds: &[Kind]) -> bool {
        kinds.iter().any(|kind| self.0.get(kind).is_some_and(|reached| reached.results > 0))
    }

    /// The numbers, for people, a line for each kind.
    pub fn lines(&self, kinds: &[Kind]) -> impl Iterator<Item = String> {
        kinds.iter().map(|kind| {
            let Reached { results, errors, .. } = self.0.get(kind).copied().unwrap_or_default();
            format!("{}: {}, {}", kind.name, count(results, "result"), count(errors, "error"))
        })
    }
}

/// The text of a profile while it is written.
#[derive(Debug, Default)]
pub struct ProfileText(pub String);

impl ProfileText {
    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// A comment of one line.
    pub fn comment(&mut self, text: &str) {
        self.line(&format!("# {text}"));
    }

    /// An example of what only the vendor can write, under a comment.
    pub fn example(&mut self, comment: &str, lines: &str) {
        self.comment(comment);
        for line in lines.lines() {
            self.line(&format!("#: {line}"));
        }
    }

    /// A key that only the vendor can write, with the value that it may have, under a comment.
    pub fn only_you(&mut self, comment: &str, key: &str, value: impl Into<toml_edit::Value>) {
        self.example(comment, &entry(key, value.into()));
    }

    /// A key that the target showed, under a comment.
    pub fn found(&mut self, comment: &str, key: &str, value: impl Into<toml_edit::Value>) {
        self.comment(comment);
        self.line(&entry(key, value.into()));
    }

    /// A table of an array of tables, under a comment: what the target showed, or only the vendor can say.
    pub fn element(&mut self, comment: &str, is_found: bool, table: &str, entries: &[(&str, &str)]) {
        self.line("");
        self.comment(comment);
        let head = format!("[[{table}]]");
        let entries = entries.iter().map(|(key, value)| entry(key, (*value).into()));
        for line in iter::once(head).chain(entries) {
            self.line(&format!("{}{line}", if is_found { "" } else { "#: " }));
        }
    }

    /// The head of a table.
    pub fn table(&mut self, name: &str) {
        self.line(&format!("\n[{name}]"));
    }
}

/// A key with its value, as a line of a file.
pub fn entry(key: &str, value: toml_edit::Value) -> String {
    format!("{key} = {}", value.decorated("", ""))
}

/// An array with a line for each value.
pub fn list(values: impl IntoIterator<Item = toml_edit::InlineTable>) -> toml_edit::Array {
    let mut list = toml_edit::Array::new();
    for value in values {
        list.push_formatted(toml_edit::Value::from(value).decorated("\n  ", ""));
    }
    list.set_trailing("\n");
    list.set_trailing_comma(true);
    list
}
