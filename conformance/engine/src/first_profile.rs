//! The first profile of a target: a specification asks what it can state, and writes its tables.
//!
//! It promises nothing that the target did not show, and nothing that one answer cannot show: whether other operations get a result, or
//! a larger size is always served. A lawful target is never accused with it.

use std::collections::BTreeMap;

use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;

use crate::{
    cases::case::Group,
    message::{answer::Answer, request::ParsedRequest},
    rules::MissingLine,
    session::access::Access,
    specification::Specification,
    verdict::{line::count, summary::Reached},
};

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

    /// Lines that only the vendor can write, under a comment.
    pub fn only_you(&mut self, comment: &str, lines: &[&str]) {
        self.under(comment, "#: ", lines);
    }

    /// What the target showed, under a comment.
    pub fn found(&mut self, comment: &str, lines: &[&str]) {
        self.under(comment, "", lines);
    }

    fn under(&mut self, comment: &str, before_each: &str, lines: &[&str]) {
        self.comment(comment);
        for line in lines {
            self.line(&format!("{before_each}{line}"));
        }
    }

    /// The head of a table.
    pub fn table(&mut self, name: &str) {
        self.line(&format!("\n[{name}]"));
    }
}
