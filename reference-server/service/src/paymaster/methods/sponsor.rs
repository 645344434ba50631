//! `pm_sponsorUserOperation`, and its result in ERC20 mode (section 4.2).

use alloy_primitives::Address;
use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use super::{Given, Refusal, Request, ServedMethod, Settings, write_mode};
use crate::message::{
    ErrorCode, Operation, RawObject, RequestError, SponsorshipInfo, TokenInfo, pair_of, params,
};
use crate::paymaster::GasLimits;

/// JSON pointer to the token that the user pays in.
const FEE_TOKEN_POINTER: &str = "/params/1/tokenInfo/feeTokenAddress";
/// The same under the name that the prose of the specification uses.
const TOKEN_POINTER: &str = "/params/1/tokenInfo/tokenAddress";

pub(super) const METHOD: ServedMethod = ServedMethod { name: kinds::SPONSOR, parse, document };

fn parse(text: &str) -> Result<Box<dyn Request + '_>, RequestError> {
    let (operation, members) = params(text)?;
    Ok(match members.effective_mode(kinds::SPONSOR)? {
        Mode::Sponsored => {
            let info = members.sponsorship_info.map(RawObject::read).transpose()?.unwrap_or_default();
            Box::new(Sponsorship {
                operation,
                info,
                seconds: members.expiry_duration.map(|seconds| seconds.0),
            })
        }
        Mode::Erc20 => {
            let info = members.token_info.map(RawObject::read).transpose()?.unwrap_or_default();
            Box::new(TokenPayment { operation, info })
        }
    })
}

fn document(request: &mut Value) -> &'static str {
    pair_of(request).unwrap_or(kinds::SPONSOR_SPONSORED).request_document
}

/// A request for data to pay in a token.
struct TokenPayment<'a> {
    operation: Operation<'a>,
    info: TokenInfo<'a>,
}

impl Request for TokenPayment<'_> {
    /// The `paymasterAndData` of the token paymaster.
    fn write_result(&self, out: &mut Vec<u8>, given: Given<'_>) -> Result<(), Refusal> {
        let (Self { operation, info }, Given { settings, now, .. }) = (self, given);
        let (named, pointer) = match (&info.fee_token_address, &info.token_address) {
            (Some(named), _) => (named, FEE_TOKEN_POINTER),
            (None, Some(named)) => (named, TOKEN_POINTER),
            (None, None) => {
                let reason = "is required in ERC20 mode";
                return Err(Refusal::new(ErrorCode::TokenAbsent, FEE_TOKEN_POINTER, reason));
            }
        };
        let Some(token) = settings.tokens.get(&named.address) else {
            let reason = format!("{} is not a supported token", named.text);
            return Err(Refusal::new(ErrorCode::TokenUnsupported, pointer, reason));
        };
        let gas = GasLimits::of(operation);
        write_mode(out, Mode::Erc20);
        out.extend_from_slice(br#""paymasterAndData":""#);
        settings.signer.write_token_payment(out, operation, &gas, now, token);
        out.extend_from_slice(br#"","#);
        gas.write(out);
        out.push(b'}');
        Ok(())
    }
}

// The result of both methods in SPONSORED mode (section 2.6).

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
