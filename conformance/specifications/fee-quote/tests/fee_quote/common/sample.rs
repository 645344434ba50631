//! A request in sponsored mode that keeps to the tables, typed by hand.

use serde_json::{Value, json};

/// That request to that method.
pub(crate) fn sponsor_request(method: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": method,
        "params": [
            {
                "sender": "0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1", "nonce": "7", "initCode": "0x", "callData": "0x",
                "callGasLimit": "50000", "verificationGasLimit": "100000", "preVerificationGas": "21000",
                "maxFeePerGas": "30000000000", "maxPriorityFeePerGas": "1000000000"
            },
            {
                "mode": "SPONSORED", "calculateGasLimits": true, "expiryDuration": 300,
                "sponsorshipInfo": {"webhookData": {}, "smartAccountInfo": {"name": "BICONOMY", "version": "2.0.0"}}
            }
        ]
    })
}
