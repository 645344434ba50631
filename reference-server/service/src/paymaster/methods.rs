//! The methods of the service: one table, [`METHODS`], with a file for each of them.

mod paymaster_data;
mod quote;
mod sponsor;

use alloy_primitives::Address;
use paymaster_schemas::Mode;
use serde_json::Value;

use crate::message::{ErrorCode, RequestError};
use crate::paymaster::{NonceError, PaymasterData, Policy, SenderNonces, Signer, TokenTable};

/// Every method of the service. Another specification adds its methods here.
static METHODS: [ServedMethod; 4] =
    [quote::METHOD, sponsor::METHOD, paymaster_data::STUB, paymaster_data::DATA];

/// A method of the service.
pub(crate) struct ServedMethod {
    /// The name on the wire.
    pub(crate) name: &'static str,
    /// Parses the params in the text of a request.
    pub(crate) parse: fn(&str) -> Result<Box<dyn Request + '_>, RequestError>,
    /// The schema document of a request, which explains why `parse` refuses it. Adds the members that the document requires and that a
    /// request may omit.
    pub(crate) document: fn(&mut Value) -> &'static str,
}

impl ServedMethod {
    /// The method of that exact name, letter case included.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }
}

/// What a result depends on beside the request.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) settings: &'a Settings,
    /// Unix time, in seconds.
    pub(crate) now: u64,
    pub(crate) nonces: &'a SenderNonces,
}

/// A well-formed request. Its result is a pure function of it and of what is given.
pub(crate) trait Request: Send + Sync {
    /// Appends the result.
    fn write_result(&self, out: &mut Vec<u8>, given: Given<'_>) -> Result<(), Refusal>;

    /// The sender whose nonce the result needs, if it needs one.
    fn sender_to_look_up(&self, _: &Settings) -> Option<Address> {
        None
    }
}

/// What is fixed for the life of a service.
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    pub(crate) tokens: TokenTable,
    pub(crate) signer: Signer,
    pub(crate) token_paymaster: String,
    pub(crate) quote_valid_seconds: u64,
    pub(crate) paymaster_data: PaymasterData,
}

/// Why a well-formed request gets an error.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    /// JSON pointer into the request.
    pub(crate) pointer: &'static str,
    pub(crate) reason: String,
}

impl Refusal {
    fn new(code: ErrorCode, pointer: &'static str, reason: impl Into<String>) -> Self {
        Self { code, pointer, reason: reason.into() }
    }
}

impl From<NonceError> for Refusal {
    fn from(cause: NonceError) -> Self {
        Self::new(ErrorCode::ChainUnavailable, "/params/0/sender", cause.to_string())
    }
}

/// Opens a result object with the mode, under the name of the specification and under the one that published clients read.
fn write_mode(out: &mut Vec<u8>, mode: Mode) {
    for part in [r#"{"MODE":""#, mode.into_str(), r#"","mode":""#, mode.into_str(), r#"","#] {
        out.extend_from_slice(part.as_bytes());
    }
}
