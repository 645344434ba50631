//! The two methods, each a pure function of the request, the service's settings and the time.

mod quote;
mod sponsor;

pub(crate) use quote::quote;
pub(crate) use sponsor::sponsor;

use crate::chain::World;
use crate::error_codes::ErrorCode;
use crate::gas::GasLimits;
use crate::policy::Policy;
use crate::request::{Mode, ModeObject, Operation, RawObject, SponsorshipInfo};
use crate::signing::Signer;
use crate::tokens::TokenTable;

/// What the methods know beside the request.
pub(crate) struct Settings {
    pub(crate) policy: Policy,
    pub(crate) tokens: TokenTable,
    pub(crate) signer: Signer,
    pub(crate) token_paymaster: String,
    pub(crate) quote_valid_seconds: u64,
}

/// A request of one of the two methods.
pub(crate) struct Request<'a> {
    pub(crate) operation: Operation<'a>,
    pub(crate) mode: ModeObject<'a>,
    pub(crate) world: World<'a>,
}

/// Where a request names its sender.
const SENDER_POINTER: &str = "/params/0/sender";

/// Why a method gives no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The params are not well formed; the schemas say where.
    Malformed(String),
    /// They are, but cannot be served.
    Refused {
        code: ErrorCode,
        /// JSON pointer into the request.
        pointer: String,
        reason: String,
    },
}

impl Refusal {
    fn malformed(reason: impl std::fmt::Display) -> Self {
        Self::Malformed(reason.to_string())
    }
}

/// Appends the result of SPONSORED mode (section 2.6), the same for both methods.
fn write_sponsored(
    out: &mut Vec<u8>,
    settings: &Settings,
    request: &Request<'_>,
    info: Option<RawObject<'_>>,
    seconds: Option<u64>,
) -> Result<(), Refusal> {
    let info = match info {
        Some(raw) => raw.read::<SponsorshipInfo<'_>>().map_err(Refusal::malformed)?,
        None => SponsorshipInfo::default(),
    };
    let gas = GasLimits::of(&request.operation);
    write_mode(out, Mode::Sponsored);
    out.extend_from_slice(br#""paymasterAndData":""#);
    if settings.policy.sponsors(&request.operation, &info) {
        let operation = &request.operation;
        let nonce = settings
            .signer
            .sender_nonce(request.world.nonces, operation.sender)
            .map_err(|reason| Refusal::Refused {
                code: ErrorCode::ChainUnavailable,
                pointer: SENDER_POINTER.to_owned(),
                reason,
            })?;
        settings
            .signer
            .write_sponsorship(out, operation, &gas, nonce, request.world.now, seconds);
    } else {
        out.extend_from_slice(b"0x");
    }
    out.extend_from_slice(br#"","#);
    gas.write(out);
    out.push(b'}');
    Ok(())
}

/// Opens a result object with the mode, under the specification's name and the one that published clients read.
fn write_mode(out: &mut Vec<u8>, mode: Mode) {
    for part in [r#"{"MODE":""#, mode.name(), r#"","mode":""#, mode.name(), r#"","#] {
        out.extend_from_slice(part.as_bytes());
    }
}
