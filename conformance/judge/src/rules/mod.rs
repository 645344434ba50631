//! The rules: each checks one clause, as a function of requests and answers.
//!
//! A rule uses no clock, socket or output. To add one, add a literal and a function to the file of its group, or a new file and
//! its line in `GROUPS`. When no request exercises it, add a relation in [`crate::cases::relations`].

mod accepted;
mod answer_form;
mod batches;
mod decision;
mod errors;
mod headers;
mod http;
mod interoperability;
mod json_rpc;
mod notation;
pub mod observers;
mod on_chain;
mod plausibility;
mod quoted_tokens;
mod rows;
mod served;
mod times;
mod token_facts;

use std::{fmt, time::SystemTime};

use paymaster_schemas::{Basis, Clause, Pair, find_clause};
use serde_json::Value;

use crate::{
    cases::case::{Relation, Role},
    message::{
        answer::Answer,
        request::{Call, ParsedRequest},
    },
    target::{
        context::{Context, Expectation},
        ordinary::Bound,
    },
};
use paymaster_exchange::{Exchange, HeaderSet, Simulation};

pub(crate) use decision::SAME_AGAIN;
pub use rows::check as check_row;

/// The id of the rule about request headers, and of its clause.
pub(crate) const HEADERS: &str = "request.headers";

/// The groups of rules, in the order of the reports.
const GROUPS: &[&[Rule]] = &[
    answer_form::RULES,
    rows::RULES,
    served::RULES,
    decision::RULES,
    quoted_tokens::RULES,
    token_facts::RULES,
    times::RULES,
    errors::RULES,
    accepted::RULES,
    notation::RULES,
    headers::RULES,
    json_rpc::RULES,
    batches::RULES,
    http::RULES,
    interoperability::RULES,
    plausibility::RULES,
    on_chain::RULES,
];

/// Every rule, in the order of the reports.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// How many rules are not selected. Rules about a chain do not count.
pub fn left_out(selected: &[&Rule]) -> usize {
    rules()
        .filter(|rule| rule.basis() != Basis::OnChain && !selected.iter().any(|other| other.id == rule.id))
        .count()
}

/// The rule of that id.
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name: the id of its clause when it is the only rule of that clause.
    pub id: &'static str,
    /// The id of the clause that it checks.
    pub clause: &'static str,
    /// How often it must hold before it passes.
    pub quota: u64,
    /// What to add to the profile, or to check, when the rule stays inconclusive.
    pub advice: &'static str,
    /// What to check in an implementation that breaks the rule.
    pub hint: &'static str,
    /// Why the profile excludes the rule; none when it applies.
    pub not_applicable: fn(&Context) -> Option<&'static str>,
    /// How it judges.
    pub check: Check,
}

/// For rules that apply to every target.
pub(crate) fn always(_: &Context) -> Option<&'static str> {
    None
}

/// For rules about results that contain a token.
pub(crate) fn no_token(context: &Context) -> Option<&'static str> {
    let none = context.profile.tokens.is_none_supported();
    none.then_some("the profile says that the target supports no token")
}

/// How a rule judges.
pub enum Check {
    /// One exchange at a time.
    Exchange(fn(&View<'_>, &Context, &mut Report)),
    /// One row of a result table, in every result of that document.
    Row {
        /// The schema document of the table.
        document: &'static str,
        /// The member of the row.
        member: &'static str,
        /// The expected value, for people.
        expected: &'static str,
    },
    /// All exchanges of a group of that relation together.
    Group(&'static Relation, fn(&[View<'_>], &Context, &mut Report)),
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(_) => f.write_str("Exchange"),
            Self::Row { document, member, .. } => write!(f, "Row({document}.{member})"),
            Self::Group(relation, _) => write!(f, "Group({})", relation.id),
        }
    }
}

impl Rule {
    /// A rule about single exchanges that applies to every target and is the only rule of its clause.
    const fn exchange(
        id: &'static str,
        quota: u64,
        advice: &'static str,
        hint: &'static str,
        check: fn(&View<'_>, &Context, &mut Report),
    ) -> Self {
        Self {
            id,
            clause: id,
            quota,
            advice,
            hint,
            not_applicable: always,
            check: Check::Exchange(check),
        }
    }

    /// The clause that it checks.
    pub fn clause(&self) -> &'static Clause {
        find_clause(self.clause).expect("a test holds that every rule names a clause")
    }

    /// The basis of its clause.
    pub fn basis(&self) -> Basis {
        self.clause().basis
    }
}

/// The longest body of ordinary size that is no valid call, in bytes.
const ORDINARY_BODY: usize = 24 * 1024;

/// One parsed exchange, as rules see it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Its part in the group.
    pub role: Role,
    /// What is different about the request.
    pub label: &'a str,
    /// The request.
    pub request: ParsedRequest,
    /// The length of the request, in bytes.
    pub request_bytes: usize,
    /// The published HTTP client whose request headers were sent; none for the plain headers.
    pub sent_as: Option<&'static HeaderSet>,
    /// The answer.
    pub answer: Answer<'a>,
    /// Whether the request is a call that keeps to the tables of sections 2.1 to 2.5.
    pub within_tables: bool,
    /// Whether the request is larger than the target must serve: it may then refuse it, and the refusal is observed.
    pub beyond: Option<&'static Bound>,
    /// What the request must be answered with.
    pub expectation: Expectation,
    /// When the answer came; none where that is not known.
    pub received: Option<SystemTime>,
    /// The result of simulating the answer on a chain, when a chain is used.
    pub on_chain: Option<&'a Simulation>,
}

impl<'a> View<'a> {
    /// Reads an exchange.
    pub fn new(role: Role, label: &'a str, exchange: &'a Exchange, context: &Context) -> Self {
        let request = ParsedRequest::of(&exchange.request);
        let requirement = request.valid_call().map(|call| context.requirement(call));
        Self {
            role,
            label,
            request,
            request_bytes: exchange.request.len(),
            sent_as: exchange.sent_as,
            answer: Answer::of(exchange),
            within_tables: requirement.is_some_and(|requirement| requirement.within_tables),
            beyond: requirement.and_then(|requirement| requirement.beyond),
            expectation: requirement.map_or(Expectation::Unknown, |requirement| requirement.expectation),
            received: exchange.received,
            on_chain: exchange.on_chain.as_ref(),
        }
    }

    /// The call, when the request is a valid call of a known method in a known mode.
    pub fn valid_call(&self) -> Option<&Call> {
        self.request.valid_call()
    }

    /// Whether the request is one request object with an id, so that it must get one JSON-RPC answer.
    pub fn must_be_answered(&self) -> bool {
        self.request.id().is_some() && !self.rejected_before_service() && !self.refused_by_status()
    }

    /// Whether the request sponsors in token mode and its fee token is missing, null or an empty string. It is not valid, but the
    /// specification shows its answer (section 4.2, rule 4).
    pub fn omits_fee_token(&self) -> bool {
        let ParsedRequest::Call(call) = &self.request else {
            return false;
        };
        let absent = match call.mode_object().get("tokenInfo") {
            None => true,
            Some(Value::Object(info)) => ["feeTokenAddress", "tokenAddress"]
                .iter()
                .filter_map(|name| info.get(*name))
                .all(|token| token.is_null() || token == ""),
            Some(_) => false,
        };
        call.pair == Pair::SPONSOR_ERC20 && absent
    }

    /// Whether the specification leaves the answer to the request open: it does not keep to the tables, and is not a request
    /// whose only fault is a missing fee token.
    pub fn beyond_the_tables(&self) -> bool {
        !self.within_tables && !self.omits_fee_token()
    }

    /// Whether a request beyond the tables, or larger than ordinary, was refused with an HTTP status and without JSON-RPC: 400 to 499,
    /// or 500 to 599 for an invalid request. Sections 7 and 8 do not show the answer to such requests, so this is lawful.
    pub fn refused_by_status(&self) -> bool {
        let by_status = self
            .answer
            .response()
            .is_some_and(|response| match response.status {
                400..500 => true,
                500..600 => self.valid_call().is_none(),
                _ => false,
            });
        let may_be_refused = self.beyond_the_tables() || self.beyond.is_some();
        may_be_refused && by_status && !self.answer.is_json_rpc()
    }

    /// The HTTP status of a gateway, proxy or limiter that answered instead of the service, for a request within the tables that
    /// is of ordinary size. A refusal of a larger request is lawful.
    pub fn gateway_status(&self) -> Option<u16> {
        let status = self.answer.response()?.status;
        let is_unexpected = self.is_of_ordinary_size() && !self.refused_for_headers();
        (self.within_tables && self.rejected_before_service() && is_unexpected).then_some(status)
    }

    /// Whether the request is not larger than what wallets send. Section 8 shows no limits.
    pub fn is_of_ordinary_size(&self) -> bool {
        match self.valid_call() {
            Some(_) => self.beyond.is_none(),
            None => self.request_bytes <= ORDINARY_BODY,
        }
    }

    /// Whether the request was sent with the headers of a published client, and refused with an HTTP status that such headers may
    /// get. `request.headers` compares such requests with the same ones in plain headers, and warns; no other rule judges them.
    pub fn refused_for_headers(&self) -> bool {
        let Some(response) = self.answer.response().filter(|_| self.sent_as.is_some()) else {
            return false;
        };
        match response.status {
            406 | 415 => self.answer.result().is_none(),
            400 | 403 => !self.answer.is_json_rpc(),
            _ => false,
        }
    }

    /// Whether a gateway, a limiter or a redirect rejected the request before it reached the service, with any body but a JSON-RPC
    /// answer. That is lawful, and there is no answer of the service to judge.
    pub fn rejected_before_service(&self) -> bool {
        let by_status = self.answer.response().is_some_and(|response| {
            matches!(
                response.status,
                301..=303 | 307 | 308 | 401 | 403 | 407 | 408 | 413 | 414 | 415 | 421 | 425 | 426 | 429 | 431 | 502..=504
                    | 511 | 520..=527 | 530
            )
        });
        by_status && !self.answer.is_json_rpc()
    }
}

/// The findings of a check: how often the rule held, and where it was broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How often the rule held.
    pub held: u64,
    /// Where it was broken.
    pub violations: Vec<Violation>,
    member: usize,
}

impl Report {
    /// Sets the member of the group that the following calls are about.
    pub fn set_member(&mut self, member: usize) {
        self.member = member;
    }

    /// The rule was exercised and held.
    pub fn held(&mut self) {
        self.held += 1;
    }

    /// The rule was broken at `pointer` of the answer.
    pub fn broken(
        &mut self,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) {
        self.violations.push(Violation {
            member: self.member,
            pointer: pointer.into(),
            expected: expected.into(),
            actual: actual.into(),
        });
    }

    /// Records that the rule held, or was broken when `holds` is false. The texts are only formatted for a violation.
    pub fn expect(
        &mut self,
        holds: bool,
        pointer: impl fmt::Display,
        expected: impl fmt::Display,
        actual: impl FnOnce() -> String,
    ) {
        if holds {
            self.held();
        } else {
            self.broken(pointer.to_string(), expected.to_string(), actual());
        }
    }
}

/// A broken rule at one place of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which member of the group, from 0.
    pub member: usize,
    /// The place in the answer: a JSON pointer, empty for the whole answer.
    pub pointer: String,
    /// What the rule expected there.
    pub expected: String,
    /// What the answer has there.
    pub actual: String,
}

/// A JSON value for people. Long values are cut.
pub(crate) fn shown(value: &Value) -> String {
    const LONGEST: usize = 160;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((cut, _)) => format!("{}... ({} bytes)", &text[..cut], text.len()),
    }
}

/// A member of the answer for people, or a note that it is missing.
pub(crate) fn shown_member(value: Option<&Value>) -> String {
    value.map_or_else(|| "the member is missing".to_owned(), shown)
}

/// An answer in a few words, for violations.
pub(crate) fn describe_answer(answer: &Answer<'_>) -> String {
    match answer {
        Answer::None(failure) => failure.to_string(),
        Answer::NotJson(response, cause) => format!("HTTP {}, {cause}", response.status),
        Answer::Json(response, document) => {
            if let Some(error) = answer.error() {
                format!(
                    "error {} {}",
                    shown_member(error.get("code")),
                    shown_member(error.get("message"))
                )
            } else if let Some(result) = answer.result() {
                format!("result {}", shown(result))
            } else {
                format!("HTTP {}, {}", response.status, shown(&document.value))
            }
        }
    }
}
