//! `pm_sponsorUserOperation` (section 4.2).

use super::{Refusal, Request, Settings, write_mode, write_sponsored};
use crate::error_codes::ErrorCode;
use crate::gas::GasLimits;
use crate::request::{Mode, TokenInfo};

/// Where a token sponsorship names its token.
const FEE_TOKEN_POINTER: &str = "/params/1/tokenInfo/feeTokenAddress";
/// The other name, which the prose of the specification uses.
const TOKEN_POINTER: &str = "/params/1/tokenInfo/tokenAddress";

/// Appends the result: the `paymasterAndData` of the sponsor, or of the token paymaster.
pub(crate) fn sponsor(out: &mut Vec<u8>, settings: &Settings, request: &Request<'_>) -> Result<(), Refusal> {
    match request.mode.mode {
        None => Err(Refusal::malformed("mode is missing")),
        Some(Mode::Sponsored) => {
            let seconds = request.mode.expiry_duration.map(|seconds| seconds.0);
            write_sponsored(out, settings, request, request.mode.sponsorship_info, seconds)
        }
        Some(Mode::Erc20) => write_token_payment(out, settings, request),
    }
}

fn write_token_payment(out: &mut Vec<u8>, settings: &Settings, request: &Request<'_>) -> Result<(), Refusal> {
    let info = match request.mode.token_info {
        Some(raw) => raw.read::<TokenInfo<'_>>().map_err(Refusal::malformed)?,
        None => TokenInfo::default(),
    };
    let (named, pointer) = match (info.fee_token_address, info.token_address) {
        (Some(named), _) => (named, FEE_TOKEN_POINTER),
        (None, Some(named)) => (named, TOKEN_POINTER),
        (None, None) => {
            return Err(Refusal::Refused {
                code: ErrorCode::TokenAbsent,
                pointer: FEE_TOKEN_POINTER.to_owned(),
                reason: "is required in ERC20 mode".to_owned(),
            });
        }
    };
    let Some(token) = settings.tokens.get(&named.address) else {
        return Err(Refusal::Refused {
            code: ErrorCode::TokenUnsupported,
            pointer: pointer.to_owned(),
            reason: format!("{} is not a supported token", named.text.0),
        });
    };
    let gas = GasLimits::of(&request.operation);
    write_mode(out, Mode::Erc20);
    out.extend_from_slice(br#""paymasterAndData":""#);
    settings
        .signer
        .write_token_payment(out, &request.operation, &gas, request.world.now, token);
    out.extend_from_slice(br#"","#);
    gas.write(out);
    out.push(b'}');
    Ok(())
}
