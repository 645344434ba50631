//! The calls of EntryPoint v0.6 and of a paymaster that validate an operation.

use alloy_primitives::{Address, B256, U256, hex};
use alloy_sol_types::{SolCall, SolValue, sol};
use serde_json::{Value, json};

use crate::operation::{EntryPointVersion, Operation};

sol! {
    /// An operation, as EntryPoint v0.6 takes it.
    #[derive(Debug, PartialEq, Eq)]
    struct UserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        uint256 callGasLimit;
        uint256 verificationGasLimit;
        uint256 preVerificationGas;
        uint256 maxFeePerGas;
        uint256 maxPriorityFeePerGas;
        bytes paymasterAndData;
        bytes signature;
    }

    /// An operation, as EntryPoint 0.7 and later take it.
    #[derive(Debug, PartialEq, Eq)]
    struct PackedUserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        bytes32 accountGasLimits;
        uint256 preVerificationGas;
        bytes32 gasFees;
        bytes paymasterAndData;
        bytes signature;
    }

    interface Later {
        function handleOps(PackedUserOperation[] ops, address beneficiary) external;
        function validatePaymasterUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 maxCost)
            external
            returns (bytes memory context, uint256 validationData);
    }

    /// The first param of the errors that [`VALIDATED`] names.
    #[derive(Debug)]
    struct ReturnInfo {
        uint256 preOpGas;
        uint256 prefund;
        bool sigFailed;
        uint48 validAfter;
        uint48 validUntil;
        bytes paymasterContext;
    }

    error FailedOp(uint256 opIndex, string reason);
    error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner);
    error ECDSAInvalidSignature();
    error ECDSAInvalidSignatureLength(uint256 length);
    error ECDSAInvalidSignatureS(bytes32 s);

    function verifyingSigner() external view returns (address);
    function isBundlerAllowed(address bundler) external view returns (bool);
    function handleOps(UserOperation[] ops, address beneficiary) external;
    function simulateValidation(UserOperation userOp) external;
    function getUserOpHash(UserOperation userOp) external view returns (bytes32);
    function validatePaymasterUserOp(UserOperation userOp, bytes32 userOpHash, uint256 maxCost)
        external
        returns (bytes memory context, uint256 validationData);
}

/// The selectors of the errors with which EntryPoint v0.6 reports a validation: ValidationResult and ValidationResultWithAggregation.
pub(crate) const VALIDATED: [[u8; 4]; 2] = [hex!("e0cff05f"), hex!("faecb4e4")];

/// The params of `eth_call` at the last block: from this address, and with this much gas, where they are given.
pub fn eth_call(from: Option<Address>, to: Address, data: &[u8], gas: Option<u64>) -> Value {
    let mut call = json!({ "to": to.to_string(), "data": hex::encode_prefixed(data) });
    if let Some(from) = from {
        call["from"] = json!(from.to_string());
    }
    if let Some(gas) = gas {
        call["gas"] = json!(format!("{gas:#x}"));
    }
    json!([call, "latest"])
}

/// Calls the contract whose address is the second word of the call data, with the data behind it and at most as much gas as the first word says,
/// and returns whether that call succeeded.
const LIMITED_CALL: &str = "0x60403603806040600037600060008260006000602035600035f160005260206000f3";

/// The params of an `eth_call` in which the contract `from` calls `to` with at most this much gas: `from` has other code for this one call, which
/// nodes call a state override. The call returns a word that is 1 where the inner call succeeded and 0 where it did not.
///
/// What a call costs before a contract runs depends on rules of the chain, so a limit of the call itself would show little.
pub fn limited_call(from: Address, to: Address, data: &[u8], gas: u64) -> Value {
    let words = (U256::from(gas), to).abi_encode();
    let all = hex::encode_prefixed([&words, data].concat());
    let call = json!({ "to": from.to_string(), "data": all });
    json!([call, "latest", { from.to_string(): { "code": LIMITED_CALL } }])
}

/// The data of a call of `verifyingSigner()`.
pub fn signer_call() -> Vec<u8> {
    verifyingSignerCall {}.abi_encode()
}

/// The data of a call of `isBundlerAllowed(address)`, for no bundler.
pub fn bundler_call() -> Vec<u8> {
    isBundlerAllowedCall { bundler: Address::ZERO }.abi_encode()
}

/// How often the verification gas limit counts when a paymaster pays: for the account, the paymaster and its postOp.
const VERIFICATIONS: U256 = U256::from_limbs([3, 0, 0, 0]);

/// The data of a call of EntryPoint 0.6 that simulates the validation of the whole operation.
pub fn simulation_call(operation: &Operation) -> Vec<u8> {
    simulateValidationCall { userOp: operation.members.clone() }.abi_encode()
}

/// The data of a call of EntryPoint 0.6 that returns the operation's hash.
pub fn hash_call(operation: &Operation) -> Vec<u8> {
    getUserOpHashCall { userOp: operation.members.clone() }.abi_encode()
}

/// The data of the call with which an EntryPoint of the operation's version has the paymaster validate it. `hash` is the operation's.
pub fn validation_call(operation: &Operation, hash: B256) -> Vec<u8> {
    let members = &operation.members;
    if operation.version == EntryPointVersion::V06 {
        let gas = members
            .verificationGasLimit
            .saturating_mul(VERIFICATIONS)
            .saturating_add(members.callGasLimit)
            .saturating_add(members.preVerificationGas);
        let cost = gas.saturating_mul(members.maxFeePerGas);
        return validatePaymasterUserOpCall { userOp: members.clone(), userOpHash: hash, maxCost: cost }
            .abi_encode();
    }
    let [verification, post_op] = operation.paymaster_gas_limits();
    let gas = [members.callGasLimit, members.verificationGasLimit, verification, post_op]
        .into_iter()
        .fold(members.preVerificationGas, U256::saturating_add);
    let cost = gas.saturating_mul(members.maxFeePerGas);
    Later::validatePaymasterUserOpCall { userOp: operation.packed(), userOpHash: hash, maxCost: cost }
        .abi_encode()
}

/// The data of the call with which this bundler has an EntryPoint of the operation's version carry it out.
pub fn bundle_call(operation: &Operation, bundler: Address) -> Vec<u8> {
    if operation.version == EntryPointVersion::V06 {
        return handleOpsCall { ops: vec![operation.members.clone()], beneficiary: bundler }.abi_encode();
    }
    Later::handleOpsCall { ops: vec![operation.packed()], beneficiary: bundler }.abi_encode()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_a_validation_have_their_selectors() {
        let (info, stake) = ("(uint256,uint256,bool,uint48,uint48,bytes)", "(uint256,uint256)");
        let params = [info, stake, stake, stake].join(",");
        let aggregated = format!("{params},(address,{stake})");
        let errors =
            [format!("ValidationResult({params})"), format!("ValidationResultWithAggregation({aggregated})")];
        assert_eq!(errors.map(|error| alloy_primitives::keccak256(error)[..4].to_vec()), VALIDATED);
    }

    #[test]
    fn the_paymaster_is_called_with_the_form_of_its_version_and_the_most_it_may_cost() {
        let members = json!({
            "sender": "0x1306b01bc3e4ad202612d3843387e94737673f53", "nonce": "0x1", "callData": "0x",
            "callGasLimit": "0x1", "verificationGasLimit": "0x2", "preVerificationGas": "0x4",
            "maxFeePerGas": "0xa", "maxPriorityFeePerGas": "0x1",
            "paymasterAndData": "0x2222222222222222222222222222222222222222",
            "paymaster": "0x2222222222222222222222222222222222222222",
            "paymasterVerificationGasLimit": "0x8", "paymasterPostOpGasLimit": "0x10",
        });
        let read = |version| Operation::read(version, &[&members]).unwrap();
        let hash = B256::repeat_byte(9);

        let unpacked = read(EntryPointVersion::V06);
        let call = validatePaymasterUserOpCall::abi_decode(&validation_call(&unpacked, hash)).unwrap();
        assert_eq!(call.userOp.sender, unpacked.members.sender);
        assert_eq!((call.userOpHash, call.maxCost), (hash, U256::from((3 * 2 + 1 + 4) * 10)));

        for version in [EntryPointVersion::V07, EntryPointVersion::V08, EntryPointVersion::V09] {
            let packed = read(version);
            let call = validation_call(&packed, hash);
            let call = Later::validatePaymasterUserOpCall::abi_decode(&call).unwrap();
            assert_eq!(call.userOp, packed.packed());
            assert_eq!((call.userOpHash, call.maxCost), (hash, U256::from((1 + 2 + 4 + 8 + 16) * 10)));
        }
    }
}
