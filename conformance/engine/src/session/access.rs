//! Whether any valid request reached the service, by the HTTP status of the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use paymaster_exchange::Exchange;

use crate::cases::Group;
use crate::knowledge::Knowledge;
use crate::rules::{View, describe_answer, is_unknown_method};
use crate::session::{Outcomes, add_counts, judge};

/// Counts the valid requests that HTTP refused. When all of them get 401, 403 or 404, the service was not tested: the body may
/// come from a gateway or a framework, or be a JSON-RPC error about a missing key. When it knows no method, it is another service.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Valid requests that were refused or redirected, by status.
    refused: BTreeMap<u16, u64>,
    /// The location that the first redirect named.
    redirected_to: Option<String>,
    /// The methods that it does not know, and the error.
    unknown_methods: BTreeSet<&'static str>,
    /// How many methods there are, where one is unknown.
    methods: usize,
    unknown: Option<String>,
    /// Whether any request got a JSON-RPC answer, and the first answer to a valid request that is none.
    is_json_rpc: bool,
    other: Option<String>,
    /// Whether the service answered a valid request, with anything but the error for an unknown method.
    answered: bool,
    /// How many requests got no answer.
    unanswered: usize,
    /// What valid requests got.
    pub outcomes: Outcomes,
}

impl Access {
    /// Counts the exchanges of a group.
    pub fn see_group(&mut self, group: &Group, exchanges: &[Exchange], context: &dyn Knowledge) {
        for view in judge::read(group, exchanges, context) {
            self.see(group.relation.id, &view);
        }
    }

    /// Counts one exchange of a relation.
    pub fn see(&mut self, relation: &'static str, view: &View<'_>) {
        self.is_json_rpc = self.is_json_rpc || view.answer.resembles_json_rpc();
        if view.refused_for_headers {
            return; // a plain request shows whether the service can be reached
        }
        self.outcomes.see(relation, view);
        self.unanswered += usize::from(view.answer.response().is_none());
        let (Some(call), Some(response)) = (view.valid_call(), view.answer.response()) else { return };
        let status = response.status;
        if view.rejected_before_service() || is_denial(status) && view.answer.result().is_none() {
            *self.refused.entry(status).or_default() += 1;
            if self.redirected_to.is_none() && is_redirect(status) {
                self.redirected_to = response.header("location").map(str::to_owned);
            }
        } else if !view.refused_by_status() {
            let error = view.answer.error();
            if error.is_some_and(is_unknown_method) {
                self.methods = view.specification.methods().len();
                self.unknown_methods.insert(call.pair.method);
                self.unknown.get_or_insert_with(|| describe_answer(&view.answer));
                return;
            }
            self.answered = true;
            if !self.is_json_rpc && self.other.is_none() {
                let content_type = response.header("content-type").unwrap_or("none");
                let came = describe_answer(&view.answer);
                self.other = Some(format!("{came} (content type {content_type})"));
            }
        }
    }

    /// Whether it knows neither method.
    fn is_another_service(&self) -> bool {
        self.refused.is_empty()
            && !self.unknown_methods.is_empty()
            && self.unknown_methods.len() == self.methods
    }

    /// Adds the counts of another part of the run.
    pub fn merge(&mut self, other: Self) {
        add_counts(&mut self.refused, other.refused);
        self.redirected_to = self.redirected_to.take().or(other.redirected_to);
        self.is_json_rpc |= other.is_json_rpc;
        self.other = self.other.take().or(other.other);
        self.unknown_methods.extend(other.unknown_methods);
        self.methods = self.methods.max(other.methods);
        self.unknown = self.unknown.take().or(other.unknown);
        self.answered |= other.answered;
        self.unanswered += other.unanswered;
        self.outcomes.merge(other.outcomes);
    }

    /// Whether every valid request was refused with a status that more requests will not change.
    pub fn is_permanently_denied(&self) -> bool {
        let for_good = |status: &u16| is_denial(*status) || is_redirect(*status);
        let by_status =
            self.unknown_methods.is_empty() && !self.refused.is_empty() && self.refused.keys().all(for_good);
        !self.answered && (by_status || self.is_another_service())
    }

    /// What the target answers where no answer is one of JSON-RPC.
    fn no_json_rpc(&self) -> Option<&str> {
        self.other.as_deref().filter(|_| self.answered && !self.is_json_rpc)
    }

    /// Whether the target answers, and never with JSON-RPC.
    pub fn is_no_json_rpc(&self) -> bool {
        self.no_json_rpc().is_some()
    }

    /// Why nothing of the service was tested, and what to check; none when the service answered, or nothing was refused.
    pub fn denied(&self) -> Option<String> {
        if self.answered {
            let came = self.no_json_rpc()?;
            let unanswered = match self.unanswered {
                0 => String::new(),
                number => format!(", and {number} requests got no answer"),
            };
            return Some(format!(
                "no answer is one of JSON-RPC: is this the URL of the service? It answers {came}{unanswered}"
            ));
        }
        if self.is_another_service() {
            let error = self.unknown.as_deref().unwrap_or_default();
            return Some(format!(
                "the target knows neither method: is this the URL of the service? It answers {error}"
            ));
        }
        let (most, _) = self.refused.iter().max_by_key(|(_, times)| **times)?;
        if !self.unknown_methods.is_empty() {
            return None;
        }
        let mut text = String::from("HTTP ");
        for (place, status) in self.refused.keys().enumerate() {
            let between = if place > 0 { " or " } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(text, "{between}{status}");
        }
        text.push_str(" for every valid request");
        if self.refused.len() > 1 {
            let _ = write!(text, ", most often {most}");
        }
        if let Some(place) = self.redirected_to.as_ref().filter(|_| is_redirect(*most)) {
            let _ = write!(text, ", a redirect to {place}");
        }
        text.push_str(match *most {
            status if is_redirect(status) => ": redirects are not followed; give the URL that they lead to",
            401 => ": check the key, which the target expects in a header or in the URL",
            403 => ": check the key and the headers, and whether they give access to this service",
            404 => ": check the path of the URL, and the key where it is part of the path",
            502..=504 => ": a gateway answered, and the service behind it did not",
            _ => ": check the path, the headers and the key",
        });
        Some(text)
    }
}

/// A status that a target gives to every request when key, headers or path are wrong.
fn is_denial(status: u16) -> bool {
    matches!(status, 401 | 403 | 404)
}

fn is_redirect(status: u16) -> bool {
    (300..400).contains(&status)
}
