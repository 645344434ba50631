//! What an operation can cost whoever pays its gas.

use alloy_primitives::U256;
use serde_json::Value;

use crate::operation::quantity;

/// The gas limits of an operation, those of its paymaster included.
const GAS: [&str; 5] = [
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "paymasterVerificationGasLimit",
    "paymasterPostOpGasLimit",
];

/// The most wei that an operation can cost, in decimal or hexadecimal notation: all of its gas at its maximum fee. What is no amount counts
/// as 0, and what does not fit as the largest amount.
pub fn most_cost(operation: &Value) -> u128 {
    let amount = |name: &str| quantity(&operation[name]).unwrap_or_default();
    let gas = GAS.into_iter().fold(U256::ZERO, |sum, name| sum.saturating_add(amount(name)));
    gas.saturating_mul(amount("maxFeePerGas")).try_into().unwrap_or(u128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_gas_at_the_maximum_fee() {
        let operation = json!({
            "callGasLimit": "0x10", "verificationGasLimit": "4", "preVerificationGas": 5, "maxFeePerGas": "0x2",
            "paymasterPostOpGasLimit": "no amount",
        });
        assert_eq!(most_cost(&operation), 50);
        assert_eq!(most_cost(&json!({})), 0);
        let huge = format!("0x{}", "f".repeat(64));
        assert_eq!(most_cost(&json!({ "callGasLimit": huge, "maxFeePerGas": "0x2" })), u128::MAX);
    }
}
