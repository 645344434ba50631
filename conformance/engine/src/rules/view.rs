//! One exchange as rules see it.

use crate::cases::Role;
use crate::json::Document;
use crate::knowledge::{Expectation, Knowledge};
use crate::message::{Answer, Call, ParsedRequest};
use crate::specification::Specification;
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use paymaster_exchange::{Exchange, HeaderSet, RefusedValue, Simulation};
use serde_json::{Map, Value};

/// The longest body of ordinary size that is no valid call, in bytes.
const ORDINARY_BODY: usize = 24 * 1024;

/// One parsed exchange, as rules see it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The specification that it is judged by.
    pub specification: &'static Specification,
    /// Its part in the group.
    pub role: Role,
    /// What is different about the request.
    pub label: &'a str,
    /// The request.
    pub request: Cow<'a, ParsedRequest>,
    /// The length of the request, in bytes.
    pub request_bytes: usize,
    /// The published HTTP client whose request headers were sent; none for the plain headers.
    pub sent_as: Option<&'a HeaderSet>,
    /// Whether the target refuses requests with these headers, as discovery found. `request.headers` compares such requests with the same
    /// ones in plain headers, and warns; no other rule judges them.
    pub refused_for_headers: bool,
    /// The answer.
    pub answer: Answer<'a>,
    /// Whether the request is a call that keeps to the tables of the specification.
    pub within_tables: bool,
    /// The bound of ordinary size that the request exceeds: the target may then refuse it, and the refusal is observed.
    pub beyond: Option<&'static str>,
    /// What the request must be answered with.
    pub expectation: Expectation,
    /// Whether the request must get a result, and the profile says that its size is taken.
    pub has_stated_size: bool,
    /// From sending the request to the end of the answer.
    pub took: Duration,
    /// When the answer came; none where that is not known.
    pub received: Option<SystemTime>,
    /// The value of the request for which alone the service refuses requests so; none where the answer may have an excuse.
    pub refused_value: Option<&'a RefusedValue>,
    /// The result of simulating the answer on a chain, when a chain is used.
    pub on_chain: Option<&'a Simulation>,
}

impl<'a> View<'a> {
    /// Reads an exchange.
    pub fn new(role: Role, label: &'a str, exchange: &'a Exchange, context: &dyn Knowledge) -> Self {
        let specification = context.specification();
        let request = ParsedRequest::read(&exchange.request, specification);
        let requirement = request.valid_call().map(|call| context.requirement(call));
        Self {
            specification,
            role,
            label,
            request,
            request_bytes: exchange.request.len(),
            sent_as: exchange.sent_as.as_deref(),
            refused_for_headers: exchange
                .sent_as
                .as_ref()
                .is_some_and(|client| context.refused_clients().contains(client.name)),
            answer: Answer::of(exchange),
            within_tables: requirement.is_some_and(|requirement| requirement.within_tables),
            beyond: requirement.and_then(|requirement| requirement.beyond),
            expectation: requirement.map_or(Expectation::Unknown, |requirement| requirement.expectation),
            has_stated_size: context.states_sizes()
                && requirement.is_some_and(|requirement| requirement.expectation.requires_result()),
            took: exchange.took,
            received: exchange.received,
            refused_value: exchange.refused_value.as_deref(),
            on_chain: exchange.on_chain.as_ref(),
        }
    }

    /// The call, when the request is a valid call of a known kind.
    pub fn valid_call(&self) -> Option<&Call> {
        self.request.valid_call()
    }

    /// Whether the request is a call whose answer the specification shows, although it may be invalid.
    pub fn answer_is_shown(&self) -> bool {
        matches!(&*self.request, ParsedRequest::Call(call) if (self.specification.shows_answer)(call))
    }

    /// `served` for a result, `refused` for an error; none without a JSON-RPC answer.
    pub fn outcome(&self) -> Option<&'static str> {
        if self.answer.result().is_some() { Some("served") } else { self.answer.error().map(|_| "refused") }
    }

    /// Whether the request is one request object with an id, so that it must get one JSON-RPC answer.
    pub fn must_be_answered(&self) -> bool {
        self.request.id().is_some() && !self.rejected_before_service() && !self.refused_by_status()
    }

    /// The answer as a JSON text, where the request must be answered.
    pub fn due_document(&self) -> Option<&Document> {
        self.answer.document().filter(|_| self.must_be_answered())
    }

    /// The answer as a JSON object, where the request must be answered.
    pub fn due_object(&self) -> Option<&Map<String, Value>> {
        self.answer.object().filter(|_| self.must_be_answered())
    }

    /// Whether the specification leaves the answer to the request open: it does not keep to the tables, and its answer is not shown.
    pub fn beyond_the_tables(&self) -> bool {
        !self.within_tables && !self.answer_is_shown()
    }

    /// Whether a request beyond the tables, or larger than ordinary, was refused with an HTTP status and without JSON-RPC: 400 to 499,
    /// or 500 to 599 for an invalid request that is no probe: a probe is nearly valid. No specification shows the answer to such requests,
    /// so this is lawful.
    pub fn refused_by_status(&self) -> bool {
        let by_status = self.answer.response().is_some_and(|response| match response.status {
            400..500 => true,
            500..600 => self.valid_call().is_none() && self.role != Role::Probe,
            _ => false,
        });
        let may_be_refused = self.beyond_the_tables() || self.beyond.is_some();
        may_be_refused && by_status && !self.answer.is_json_rpc()
    }

    /// The HTTP status of a gateway, proxy or limiter that answered instead of the service, for a request within the tables that
    /// is of ordinary size. A refusal of a larger request is lawful.
    pub fn gateway_status(&self) -> Option<u16> {
        let status = self.answer.response()?.status;
        let is_unexpected = self.is_of_ordinary_size() && !self.refused_for_headers;
        (self.within_tables && self.rejected_before_service() && is_unexpected).then_some(status)
    }

    /// Whether the request is not larger than what wallets send.
    pub fn is_of_ordinary_size(&self) -> bool {
        match self.valid_call() {
            Some(_) => self.beyond.is_none(),
            None => self.request_bytes <= ORDINARY_BODY,
        }
    }

    /// Whether a gateway, a limiter or a redirect rejected the request before it reached the service, with any body but a JSON-RPC
    /// answer. That is lawful, and there is no answer of the service to judge. That a request is too large depends on its size alone: where the
    /// profile says that such a size is taken, it is the answer of the service.
    pub fn rejected_before_service(&self) -> bool {
        const TOO_LARGE: u16 = 413;
        let by_status = self.answer.response().is_some_and(|response| {
            is_of_gateway(response.status) && !(response.status == TOO_LARGE && self.has_stated_size)
        });
        by_status && !self.answer.is_json_rpc() && self.refused_value.is_none()
    }
}

/// Whether a status may come from a gateway, a limiter or a redirect before the service.
pub fn is_of_gateway(status: u16) -> bool {
    matches!(
        status,
        301..=303 | 307 | 308 | 401 | 403 | 407 | 408 | 413 | 414 | 415 | 421 | 425 | 426 | 429 | 431 | 502..=504
            | 511 | 520..=527 | 530
    )
}
