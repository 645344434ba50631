//! The result of `pm_sponsorUserOperation` in ERC20 mode (section 4.2).

use paymaster_schemas::Mode;

use super::{Refusal, Settings, write_mode};
use crate::message::error_codes::ErrorCode;
use crate::message::request::{Operation, TokenInfo};
use crate::paymaster::gas::GasLimits;

/// JSON pointer to the token that the user pays in.
const FEE_TOKEN_POINTER: &str = "/params/1/tokenInfo/feeTokenAddress";
/// The same under the name that the prose of the specification uses.
const TOKEN_POINTER: &str = "/params/1/tokenInfo/tokenAddress";

impl Settings {
    /// Appends the result: the `paymasterAndData` of the token paymaster.
    pub(super) fn write_token_payment(
        &self,
        out: &mut Vec<u8>,
        operation: &Operation<'_>,
        info: &TokenInfo<'_>,
        now: u64,
    ) -> Result<(), Refusal> {
        let (named, pointer) = match (&info.fee_token_address, &info.token_address) {
            (Some(named), _) => (named, FEE_TOKEN_POINTER),
            (None, Some(named)) => (named, TOKEN_POINTER),
            (None, None) => {
                return Err(Refusal {
                    code: ErrorCode::TokenAbsent,
                    pointer: FEE_TOKEN_POINTER,
                    reason: "is required in ERC20 mode".to_owned(),
                });
            }
        };
        let Some(token) = self.tokens.get(&named.address) else {
            return Err(Refusal {
                code: ErrorCode::TokenUnsupported,
                pointer,
                reason: format!("{} is not a supported token", named.text.0),
            });
        };
        let gas = GasLimits::of(operation);
        write_mode(out, Mode::Erc20);
        out.extend_from_slice(br#""paymasterAndData":""#);
        self.signer.write_token_payment(out, operation, &gas, now, token);
        out.extend_from_slice(br#"","#);
        gas.write(out);
        out.push(b'}');
        Ok(())
    }
}
