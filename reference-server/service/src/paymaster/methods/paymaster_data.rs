//! The methods of ERC-7677: `pm_getPaymasterStubData` and `pm_getPaymasterData`.

use alloy_primitives::{Address, U256};
use serde_json::Value;

use super::{Given, Refusal, Request, ServedMethod, Settings};
use crate::message::{EntryPoint, ErrorCode, PaymasterParams};
use crate::paymaster::{GasLimits, Layout, Offer, PricedToken, parse_address, write_digits};

pub(super) const STUB: ServedMethod = ServedMethod {
    name: "pm_getPaymasterStubData",
    parse: |text| Ok(Box::new(PaymasterCall { params: PaymasterParams::read(text)?, is_stub: true })),
    document: |request| document(request, ["stub-request-06", "stub-request-07"]),
};
pub(super) const DATA: ServedMethod = ServedMethod {
    name: "pm_getPaymasterData",
    parse: |text| Ok(Box::new(PaymasterCall { params: PaymasterParams::read(text)?, is_stub: false })),
    document: |request| document(request, ["data-request-06", "data-request-07"]),
};

fn document(request: &Value, documents: [&'static str; 2]) -> &'static str {
    let address = request.pointer("/params/1").and_then(Value::as_str).and_then(parse_address);
    let is_06 = address.and_then(EntryPoint::at) == Some(EntryPoint::V06);
    documents[usize::from(!is_06)]
}

/// A request of either method.
struct PaymasterCall<'a> {
    params: PaymasterParams<'a>,
    is_stub: bool,
}

/// Limits and fees from here on are refused by every EntryPoint.
const TOO_MUCH_GAS: U256 = U256::from_limbs([0, 1 << 56, 0, 0]);

impl Request for PaymasterCall<'_> {
    fn write_result(&self, out: &mut Vec<u8>, given: Given<'_>) -> Result<(), Refusal> {
        let (params, Given { settings, now, nonces }) = (&self.params, given);
        self.check(settings)?;
        let data = &settings.paymaster_data;
        let own = data.gas_limits;
        let gas_limits = if self.is_stub {
            own
        } else {
            let named = [params.verification_gas_limit, params.post_op_gas_limit];
            [0, 1].map(|index| named[index].map_or(own[index], |limit| limit.0))
        };
        let offer = Offer {
            params,
            paymaster: settings.signer.paymaster(data, params.entry_point),
            layout: data.layout(params.entry_point),
            gas_limits,
            token: self.token(settings)?,
        };
        let is_06 = params.entry_point == EntryPoint::V06;
        let (first, between) = if is_06 {
            (r#"{"paymasterAndData":"0x"#, "")
        } else {
            (r#"{"paymaster":"0x"#, r#"","paymasterData":"0x"#)
        };
        out.extend_from_slice(first.as_bytes());
        write_digits(out, &[offer.paymaster.as_slice()]);
        out.extend_from_slice(between.as_bytes());
        if self.is_stub {
            settings.signer.write_stub_data(out, &offer);
        } else {
            settings.signer.write_paymaster_data(out, &offer, nonces, now)?;
        }
        out.push(b'"');
        if !is_06 {
            let [verification, post_op] = gas_limits;
            let limits = format!(
                r#","paymasterVerificationGasLimit":"{verification:#x}","paymasterPostOpGasLimit":"{post_op:#x}""#
            );
            out.extend_from_slice(limits.as_bytes());
        }
        if self.is_stub {
            out.extend_from_slice(br#","sponsor":"#);
            out.extend_from_slice(data.sponsor.as_bytes());
            out.extend_from_slice(br#","isFinal":false"#);
        }
        out.push(b'}');
        Ok(())
    }

    fn sender_to_look_up(&self, settings: &Settings) -> Option<Address> {
        let entry_point = self.params.entry_point;
        let has_nonce = entry_point == EntryPoint::V06
            && settings.paymaster_data.layout(entry_point) == Layout::Verifying
            && !self.is_stub;
        (has_nonce && settings.signer.is_enabled() && self.check(settings).is_ok())
            .then_some(self.params.operation.sender.address)
    }
}

impl PaymasterCall<'_> {
    /// What both methods refuse, so that the stub says already what the data would say.
    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        let params = &self.params;
        let operation = &params.operation;
        let invalid = |pointer, reason: &str| Err(Refusal::new(ErrorCode::InvalidParams, pointer, reason));
        if !settings.paymaster_data.serves(params.entry_point) {
            return invalid("/params/1", "is the address of no EntryPoint that this service serves");
        }
        if params.chain_id.0 != settings.signer.chain_id {
            let reason =
                format!("must be {:#x}: this service belongs to one chain", settings.signer.chain_id);
            return invalid("/params/2", &reason);
        }
        if params.has_init_code {
            return invalid(
                "/params/0/initCode",
                "is a member of EntryPoint 0.6: later ones have factory and factoryData",
            );
        }
        let gas = GasLimits::of(operation);
        let limits = [
            ("/params/0/callGasLimit", Some(gas.call)),
            ("/params/0/verificationGasLimit", Some(gas.verification)),
            ("/params/0/preVerificationGas", Some(gas.pre_verification)),
            ("/params/0/maxFeePerGas", Some(operation.max_fee_per_gas.0)),
            ("/params/0/maxPriorityFeePerGas", Some(operation.max_priority_fee_per_gas.0)),
            ("/params/0/paymasterVerificationGasLimit", params.verification_gas_limit.map(|limit| limit.0)),
            ("/params/0/paymasterPostOpGasLimit", params.post_op_gas_limit.map(|limit| limit.0)),
        ];
        if let Some((pointer, _)) =
            limits.iter().find(|(_, limit)| limit.is_some_and(|limit| limit >= TOO_MUCH_GAS))
        {
            return invalid(pointer, "must be below 2^120");
        }
        if !settings.policy.allows(operation) {
            let reason = "is not sponsored by the policy of this service";
            return Err(Refusal::new(ErrorCode::NotSponsored, "/params/0", reason));
        }
        self.token(settings).map(|_| ())
    }

    /// The token of the context; the layout `verifying` takes none, and ignores the context.
    fn token<'s>(&self, settings: &'s Settings) -> Result<Option<&'s PricedToken>, Refusal> {
        if settings.paymaster_data.layout(self.params.entry_point) == Layout::Verifying {
            return Ok(None);
        }
        let refused = |code, reason: &str| Refusal::new(code, "/params/3/token", reason);
        let token = self.params.context.token();
        let token = token.map_err(|_| refused(ErrorCode::InvalidParams, "must be an address"))?;
        let Some(token) = token else { return Ok(None) };
        let unsupported =
            || refused(ErrorCode::TokenUnsupported, &format!("{token} is not a supported token"));
        settings.tokens.get(&token).map(Some).ok_or_else(unsupported)
    }
}
