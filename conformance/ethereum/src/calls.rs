//! The calls of EntryPoint v0.6 and of a paymaster that validate an operation.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{SolCall, sol};

sol! {
    /// An operation, as EntryPoint v0.6 takes it.
    #[derive(Debug)]
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

    #[derive(Debug)]
    struct ReturnInfo {
        uint256 preOpGas;
        uint256 prefund;
        bool sigFailed;
        uint48 validAfter;
        uint48 validUntil;
        bytes paymasterContext;
    }

    #[derive(Debug)]
    struct StakeInfo {
        uint256 stake;
        uint256 unstakeDelaySec;
    }

    #[derive(Debug)]
    struct AggregatorStakeInfo {
        address aggregator;
        StakeInfo stakeInfo;
    }

    error FailedOp(uint256 opIndex, string reason);
    error ValidationResult(ReturnInfo returnInfo, StakeInfo senderInfo, StakeInfo factoryInfo, StakeInfo paymasterInfo);
    error ValidationResultWithAggregation(
        ReturnInfo returnInfo,
        StakeInfo senderInfo,
        StakeInfo factoryInfo,
        StakeInfo paymasterInfo,
        AggregatorStakeInfo aggregatorInfo
    );

    function simulateValidation(UserOperation userOp) external;
    function getUserOpHash(UserOperation userOp) external view returns (bytes32);
    function validatePaymasterUserOp(UserOperation userOp, bytes32 userOpHash, uint256 maxCost)
        external
        returns (bytes memory context, uint256 validationData);
}

/// The operation of a request, completed with the values of its answer.
#[derive(Clone, Debug)]
pub struct CompletedOperation {
    /// The operation.
    pub operation: UserOperation,
    /// Whether its sender pays the paymaster in tokens. A paymaster may then revert because the sender has none.
    pub pays_in_tokens: bool,
}

impl CompletedOperation {
    /// The contract that pays: the first 20 bytes of paymasterAndData; none when there are fewer.
    pub fn paymaster(&self) -> Option<Address> {
        let data = self.operation.paymasterAndData.get(..Address::len_bytes())?;
        Some(Address::from_slice(data))
    }
}

/// How often the verification gas limit counts when a paymaster pays: for the account, the paymaster and its postOp.
const VERIFICATIONS: U256 = U256::from_limbs([3, 0, 0, 0]);

/// The data of a call of EntryPoint that simulates the validation of the whole operation.
pub fn simulation_call(completed: &CompletedOperation) -> Vec<u8> {
    simulateValidationCall { userOp: completed.operation.clone() }.abi_encode()
}

/// The data of a call of EntryPoint that returns the operation's hash.
pub fn hash_call(completed: &CompletedOperation) -> Vec<u8> {
    getUserOpHashCall { userOp: completed.operation.clone() }.abi_encode()
}

/// The data of the call with which EntryPoint has a paymaster validate the operation of that hash. It is sent alone when the
/// account makes the whole simulation fail.
pub fn paymaster_call(completed: &CompletedOperation, hash: B256) -> Vec<u8> {
    let operation = &completed.operation;
    let gas = operation
        .verificationGasLimit
        .saturating_mul(VERIFICATIONS)
        .saturating_add(operation.callGasLimit)
        .saturating_add(operation.preVerificationGas);
    validatePaymasterUserOpCall {
        userOp: operation.clone(),
        userOpHash: hash,
        maxCost: gas.saturating_mul(operation.maxFeePerGas),
    }
    .abi_encode()
}
