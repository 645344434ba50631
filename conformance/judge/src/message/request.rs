//! Reads requests from their bytes alone, so that recorded traffic is judged like the traffic of a run.

use std::collections::BTreeSet;

use paymaster_schemas::{Kind, Method, Mode, Pair};
use serde_json::Value;

use crate::json::number::Exact;

/// What kind of body a request has.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedRequest {
    /// A call of one of the two methods in one of the two modes, with an id.
    Call(Call),
    /// A valid envelope with an id and an unknown method.
    UnknownMethod {
        /// The id that the answer must have.
        id: Value,
    },
    /// A valid envelope with an id and a known method, whose parameters name no mode.
    WithoutMode {
        /// The id that the answer must have.
        id: Value,
        /// The method called.
        method: Method,
        /// Whether the mode object has no member `mode` at all.
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

/// A call of a known method in a known mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id that the answer must have.
    pub id: Value,
    /// Method and mode.
    pub pair: Kind,
    /// The whole envelope.
    pub envelope: Value,
    /// Whether the request is valid against the schema of its pair.
    pub valid: bool,
    /// Tokens named by the request.
    pub tokens: RequestedTokens,
}

/// The tokens of a request, in the spelling of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedTokens {
    /// `tokenInfo.preferredToken`.
    pub preferred: Option<String>,
    /// `tokenInfo.tokenList`; none when the member is absent.
    pub list: Option<Vec<String>>,
    /// `tokenInfo.feeTokenAddress`, or its alias `tokenAddress`.
    pub fee: Option<String>,
}

impl RequestedTokens {
    fn read(info: &Value) -> Self {
        let text = |member: &str| info[member].as_str().map(str::to_owned);
        Self {
            preferred: text("preferredToken"),
            list: info["tokenList"]
                .as_array()
                .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            fee: text("feeTokenAddress").or_else(|| text("tokenAddress")),
        }
    }

    /// The tokens of preferredToken and tokenList, in lower case.
    pub fn quoted(&self) -> BTreeSet<String> {
        let listed = self.list.iter().flatten();
        listed.chain(&self.preferred).map(|address| address.to_ascii_lowercase()).collect()
    }
}

impl Call {
    /// The partial user operation.
    pub fn operation(&self) -> &Value {
        &self.envelope["params"][0]
    }

    /// The mode object.
    pub fn mode_object(&self) -> &Value {
        &self.envelope["params"][1]
    }

    /// Whether the id is a number with a fraction. JSON-RPC discourages such ids, so a target may refuse the request.
    pub fn has_fractional_id(&self) -> bool {
        self.id.is_number() && Exact::parse(&self.id.to_string()).is_some_and(|id| !id.is_integer())
    }

    /// The name of the smart account, where the request gives one.
    pub fn account(&self) -> Option<&str> {
        self.mode_object()["sponsorshipInfo"]["smartAccountInfo"]["name"].as_str()
    }
}

impl ParsedRequest {
    /// Reads a request body.
    pub fn of(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(items)) if items.is_empty() => Self::EmptyBatch,
            Ok(Value::Array(items)) => Self::Batch(items.into_iter().map(Self::of_one).collect()),
            Ok(value) => Self::of_one(value),
            Err(_) => Self::NotJson,
        }
    }

    fn of_one(envelope: Value) -> Self {
        let version = matches!(envelope["jsonrpc"].as_str(), Some("2.0" | "2.0.0"));
        let Some(method) = envelope["method"].as_str().filter(|_| version) else {
            return Self::NotARequest;
        };
        let method = Method::from_name(method);
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
        let Some(method) = method else {
            return Self::UnknownMethod { id };
        };
        let Some(mode) = envelope["params"][1]["mode"].as_str().and_then(Mode::from_name) else {
            let is_absent = envelope["params"][1].as_object().is_some_and(|mode| !mode.contains_key("mode"));
            return Self::WithoutMode { id, method, is_absent };
        };
        let pair = Pair { method, mode }.kind();
        let tokens = RequestedTokens::read(&envelope["params"][1]["tokenInfo"]);
        let valid = paymaster_schemas::validator_for(pair.request_document)
            .is_some_and(|validator| validator.is_valid(&envelope));
        Self::Call(Call { id, pair, envelope, valid, tokens })
    }

    /// The id that the answer must have, when the request has one.
    pub fn id(&self) -> Option<&Value> {
        match self {
            Self::Call(call) => Some(&call.id),
            Self::UnknownMethod { id } | Self::WithoutMode { id, .. } => Some(id),
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

    /// Method and mode, when both are known.
    pub fn pair(&self) -> Option<Kind> {
        match self {
            Self::Call(call) => Some(call.pair),
            _ => None,
        }
    }
}
