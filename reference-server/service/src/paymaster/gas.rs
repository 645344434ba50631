//! The gas limits of a result: those of the request, and estimates for those that it omits.
//!
//! The specification describes no effect of `calculateGasLimits`, so it has none here: a limit of the request is returned
//! unchanged, and the signature covers the returned limits. The estimates simulate nothing. They grow with the data of the
//! operation, so that they are plausible and the same each time.

use alloy_primitives::U256;

use crate::message::Operation;
use crate::paymaster::{Wide, widen, write_whole};

/// Base gas of a transaction.
const TRANSACTION_GAS: u64 = 21_000;
/// Gas that a bundler spends on an operation in addition to executing it.
const BUNDLE_OVERHEAD_GAS: u64 = 24_000;
/// Gas for each nonzero byte of transaction data (EIP-2028).
const DATA_BYTE_GAS: u64 = 16;
/// Gas to validate an account that exists and its paymaster.
const VALIDATION_GAS: u64 = 120_000;
/// Gas to deploy an account, without its data.
const DEPLOYMENT_GAS: u64 = 250_000;
/// Gas for each stored byte of deployed code.
const DEPLOYED_BYTE_GAS: u64 = 200;
/// Gas of a call without data.
const CALL_GAS: u64 = 60_000;
/// Gas for each byte of call data.
const CALL_BYTE_GAS: u64 = 40;

/// The three gas limits of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GasLimits {
    pub(crate) call: U256,
    pub(crate) verification: U256,
    pub(crate) pre_verification: U256,
}

impl GasLimits {
    /// The limits of `operation`, with estimates for the missing ones.
    pub(crate) fn of(operation: &Operation<'_>) -> Self {
        let call_bytes = operation.call_data.len() as u64;
        let init_bytes = operation.init_code().len() as u64;
        let deployment = if init_bytes == 0 { 0 } else { DEPLOYMENT_GAS + DEPLOYED_BYTE_GAS * init_bytes };
        let limit_or = |limit: Option<crate::message::request::Amount>, estimate: u64| {
            limit.map_or_else(|| U256::from(estimate), |amount| amount.0)
        };
        Self {
            call: limit_or(operation.call_gas_limit, CALL_GAS + CALL_BYTE_GAS * call_bytes),
            verification: limit_or(operation.verification_gas_limit, VALIDATION_GAS + deployment),
            pre_verification: limit_or(
                operation.pre_verification_gas,
                TRANSACTION_GAS + BUNDLE_OVERHEAD_GAS + DATA_BYTE_GAS * (call_bytes + init_bytes),
            ),
        }
    }

    /// The highest cost of the operation, in wei: the sum of all limits at the highest fee.
    pub(crate) fn max_cost(&self, max_fee_per_gas: U256) -> Wide {
        let narrow = self
            .call
            .checked_add(self.verification)
            .and_then(|sum| sum.checked_add(self.pre_verification))
            .and_then(|sum| sum.checked_mul(max_fee_per_gas));
        narrow.map_or_else(
            || {
                let gas = widen(self.call) + widen(self.verification) + widen(self.pre_verification);
                gas * widen(max_fee_per_gas)
            },
            widen,
        )
    }

    /// Appends the three members in the types of sections 2.6 and 2.9: a digit string and two numbers.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#""preVerificationGas":""#);
        write_whole(out, self.pre_verification);
        out.extend_from_slice(br#"","verificationGasLimit":"#);
        write_whole(out, self.verification);
        out.extend_from_slice(br#","callGasLimit":"#);
        write_whole(out, self.call);
    }
}
