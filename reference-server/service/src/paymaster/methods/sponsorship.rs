//! The result of both methods in SPONSORED mode (section 2.6).

use alloy_primitives::Address;
use paymaster_schemas::Mode;

use super::{Given, Refusal, Request, Settings, write_mode};
use crate::message::request::{Operation, SponsorshipInfo};
use crate::paymaster::gas::GasLimits;

/// A request to sponsor an operation.
pub(super) struct Sponsorship<'a> {
    pub(super) operation: Operation<'a>,
    pub(super) info: SponsorshipInfo<'a>,
    /// How long it holds, in seconds; none takes the configured time.
    pub(super) seconds: Option<u64>,
}

impl Request for Sponsorship<'_> {
    fn write_result(&self, out: &mut Vec<u8>, given: Given<'_>) -> Result<(), Refusal> {
        let Self { operation, info, seconds } = self;
        let Given { settings, now, nonces } = given;
        let signer = &settings.signer;
        let gas = GasLimits::of(operation);
        write_mode(out, Mode::Sponsored);
        out.extend_from_slice(br#""paymasterAndData":""#);
        if settings.policy.sponsors(operation, info) {
            let nonce = signer.sender_nonce(nonces, operation.sender.address)?;
            signer.write_sponsorship(out, operation, &gas, nonce, now, *seconds);
        } else {
            out.extend_from_slice(b"0x");
        }
        out.extend_from_slice(br#"","#);
        gas.write(out);
        out.push(b'}');
        Ok(())
    }

    fn sender_to_look_up(&self, settings: &Settings) -> Option<Address> {
        let is_signed = settings.signer.is_enabled() && settings.policy.sponsors(&self.operation, &self.info);
        is_signed.then_some(self.operation.sender.address)
    }
}
