//! Reads requests from their bytes alone, so that recorded traffic is judged like the traffic of a run.

use std::borrow::Cow;

use paymaster_exchange::Body;
use paymaster_schemas::Kind;
use serde_json::{Number, Value};

use crate::json::Exact;
use crate::specification::Specification;
use crate::spending::Spending;

/// What kind of body a request has.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedRequest {
    /// A call of a known kind, with an id.
    Call(Call),
    /// A valid envelope with an id and an unknown method.
    UnknownMethod {
        /// The id that the answer must have.
        id: Value,
    },
    /// A valid envelope with an id and a known method, whose parameters select no kind of its calls.
    WithoutKind {
        /// The id that the answer must have.
        id: Value,
        /// The method called.
        method: &'static str,
        /// Whether the parameter that selects the kind is absent; otherwise it has an unknown value.
        is_absent: bool,
    },
    /// A request object without an id.
    Notification,
    /// An array of requests.
    Batch(Vec<ParsedRequest>),
    /// An empty array.
    EmptyBatch,
    /// A valid envelope with the id null, which JSON-RPC discourages and does not forbid.
    NullId,
    /// JSON that is not a request object.
    NotARequest,
    /// A request object whose params are neither an array nor an object.
    UnstructuredParams,
    /// Not JSON.
    NotJson,
}

/// What a request calls, by its method and the parameter that selects a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// A call of this kind.
    Kind(Kind),
    /// A known method without a kind.
    WithoutKind {
        /// The method called.
        method: &'static str,
        /// Whether the parameter that selects the kind is absent.
        is_absent: bool,
    },
    /// An unknown method.
    Unknown,
}

/// A call of a known kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id that the answer must have.
    pub id: Value,
    /// Its kind.
    pub pair: Kind,
    /// The whole envelope.
    pub envelope: Value,
    /// Whether the request is valid against the schema of its kind.
    pub valid: bool,
}

impl Call {
    /// Whether the id is a number with a fraction. JSON-RPC discourages such ids, so a target may refuse the request.
    pub fn has_fractional_id(&self) -> bool {
        let is_fraction =
            |id: &Number| !id.is_u64() && Exact::parse(id.as_str()).is_some_and(|id| !id.is_integer());
        self.id.as_number().is_some_and(is_fraction)
    }
}

/// What is read of a request body.
pub(crate) struct ReadRequest {
    /// The name of the specification that it was read by.
    specification: &'static str,
    request: ParsedRequest,
    /// What it asks the target to pay for, batches included.
    pub(crate) asked: Spending,
}

impl ReadRequest {
    /// Reads a request body.
    pub(crate) fn of(body: &[u8], specification: &Specification) -> Self {
        let value = serde_json::from_slice::<Value>(body);
        let asked = value.as_ref().map(|value| Spending::of(value, specification)).unwrap_or_default();
        let one = |envelope| ParsedRequest::of_one(envelope, specification);
        let request = match value {
            Ok(Value::Array(items)) if items.is_empty() => ParsedRequest::EmptyBatch,
            Ok(Value::Array(items)) => ParsedRequest::Batch(items.into_iter().map(one).collect()),
            Ok(value) => one(value),
            Err(_) => ParsedRequest::NotJson,
        };
        Self { specification: specification.name, request, asked }
    }

    /// What was read of a body by this specification; none where it was read by another one.
    pub(crate) fn kept<'a>(body: &'a Body, specification: &Specification) -> Option<&'a Self> {
        let kept: Option<&Self> = body.read(|body| Self::of(body, specification));
        kept.filter(|kept| kept.specification == specification.name)
    }
}

impl ParsedRequest {
    /// Reads a request body.
    pub fn of(body: &[u8], specification: &Specification) -> Self {
        ReadRequest::of(body, specification).request
    }

    /// Reads a request body once: what was read of it is kept with it.
    pub fn read<'a>(body: &'a Body, specification: &Specification) -> Cow<'a, Self> {
        match ReadRequest::kept(body, specification) {
            Some(kept) => Cow::Borrowed(&kept.request),
            None => Cow::Owned(Self::of(body, specification)),
        }
    }

    fn of_one(envelope: Value, specification: &Specification) -> Self {
        let version = matches!(envelope["jsonrpc"].as_str(), Some("2.0" | "2.0.0"));
        if !version || !envelope["method"].is_string() {
            return Self::NotARequest;
        }
        let params_in_order = matches!(envelope["params"], Value::Array(_) | Value::Object(_))
            || envelope.get("params").is_none();
        if !params_in_order {
            return Self::UnstructuredParams;
        }
        let id = match envelope.get("id") {
            None => return Self::Notification,
            Some(Value::Null) => return Self::NullId,
            Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
            Some(_) => return Self::NotARequest,
        };
        match (specification.called)(&envelope) {
            Called::Unknown => Self::UnknownMethod { id },
            Called::WithoutKind { method, is_absent } => Self::WithoutKind { id, method, is_absent },
            Called::Kind(pair) => {
                let valid = paymaster_schemas::validator_for(pair.request_document)
                    .is_some_and(|validator| validator.is_valid(&envelope));
                Self::Call(Call { id, pair, envelope, valid })
            }
        }
    }

    /// The id that the answer must have, when the request has one.
    pub fn id(&self) -> Option<&Value> {
        match self {
            Self::Call(call) => Some(&call.id),
            Self::UnknownMethod { id } | Self::WithoutKind { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The call, when it is valid.
    pub fn valid_call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) if call.valid => Some(call),
            _ => None,
        }
    }

    /// The kind of the call, when it is known.
    pub fn pair(&self) -> Option<Kind> {
        if let Self::Call(call) = self { Some(call.pair) } else { None }
    }
}
