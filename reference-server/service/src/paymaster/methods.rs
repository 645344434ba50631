//! The results of the two methods, each a pure function of the request, the settings, the time and the chain's nonces.

mod quote;
mod sponsor;

use alloy_primitives::Address;
use paymaster_schemas::Mode;

use crate::message::error_codes::ErrorCode;
use crate::message::request::{Operation, Request, SponsorshipInfo, Terms};
use crate::paymaster::chain::SenderNonces;
use crate::paymaster::gas::GasLimits;
use crate::paymaster::policy::Policy;
use crate::paymaster::signing::Signer;
use crate::paymaster::tokens::TokenTable;

/// What a result depends on beside the request: fixed for the life of a service.
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    pub(crate) tokens: TokenTable,
    pub(crate) signer: Signer,
    pub(crate) token_paymaster: String,
    pub(crate) quote_valid_seconds: u64,
}

/// JSON pointer to the sender of a request.
const SENDER_POINTER: &str = "/params/0/sender";

/// Why a well-formed request gets an error.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    /// JSON pointer into the request.
    pub(crate) pointer: &'static str,
    pub(crate) reason: String,
}

impl Settings {
    /// Appends the result of a request. `now` is Unix time, in seconds.
    pub(crate) fn write_result(
        &self,
        out: &mut Vec<u8>,
        request: &Request<'_>,
        now: u64,
        nonces: &SenderNonces,
    ) -> Result<(), Refusal> {
        let operation = &request.operation;
        match &request.terms {
            Terms::Sponsorship { info, seconds } => {
                self.write_sponsorship(out, operation, info, now, *seconds, nonces)
            }
            Terms::Quotes(info) => {
                self.write_quotes(out, operation, info, now);
                Ok(())
            }
            Terms::TokenPayment(info) => self.write_token_payment(out, operation, info, now),
        }
    }

    /// The sender whose nonce the result of a request needs, if it needs one.
    pub(crate) fn sender_to_look_up(&self, request: &Request<'_>) -> Option<Address> {
        match &request.terms {
            Terms::Sponsorship { info, .. }
                if self.signer.is_enabled() && self.policy.sponsors(&request.operation, info) =>
            {
                Some(request.operation.sender)
            }
            _ => None,
        }
    }

    /// Appends the result of SPONSORED mode (section 2.6), which both methods share.
    fn write_sponsorship(
        &self,
        out: &mut Vec<u8>,
        operation: &Operation<'_>,
        info: &SponsorshipInfo<'_>,
        now: u64,
        seconds: Option<u64>,
        nonces: &SenderNonces,
    ) -> Result<(), Refusal> {
        let gas = GasLimits::of(operation);
        write_mode(out, Mode::Sponsored);
        out.extend_from_slice(br#""paymasterAndData":""#);
        if self.policy.sponsors(operation, info) {
            let nonce = self.signer.sender_nonce(nonces, operation.sender).map_err(|cause| Refusal {
                code: ErrorCode::ChainUnavailable,
                pointer: SENDER_POINTER,
                reason: cause.to_string(),
            })?;
            self.signer.write_sponsorship(out, operation, &gas, nonce, now, seconds);
        } else {
            out.extend_from_slice(b"0x");
        }
        out.extend_from_slice(br#"","#);
        gas.write(out);
        out.push(b'}');
        Ok(())
    }
}

/// Opens a result object with the mode, under the name of the specification and under the one that published clients read.
fn write_mode(out: &mut Vec<u8>, mode: Mode) {
    for part in [r#"{"MODE":""#, mode.name(), r#"","mode":""#, mode.name(), r#"","#] {
        out.extend_from_slice(part.as_bytes());
    }
}
