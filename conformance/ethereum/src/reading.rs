//! Reads what the calls return.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::{Revert, SolCall, SolError, SolValue};
use serde_json::Value;

use crate::calls::{
    ECDSAInvalidSignature, ECDSAInvalidSignatureLength, ECDSAInvalidSignatureS, FailedOp, FailedOpWithRevert,
    ReturnInfo, VALIDATED, getUserOpHashCall, validatePaymasterUserOpCall,
};
use crate::operation::bytes_of;
use crate::window::Window;
use paymaster_exchange::{ContractFunctions, Refusal, Simulation};

/// The outcome of an `eth_call`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call returned this.
    Returned(Vec<u8>),
    /// The call reverted with this.
    Reverted(Vec<u8>),
}

/// Why the outcome of an `eth_call` is unknown.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NodeError(String);

impl CallOutcome {
    /// Reads the body of a node's answer to `eth_call`.
    ///
    /// # Errors
    /// When the body shows neither what the call returned nor that it reverted.
    pub fn read(body: &[u8]) -> Result<Self, NodeError> {
        let unclear = |text: &str| NodeError(text.to_owned());
        let reply: Value =
            serde_json::from_slice(body).map_err(|_| unclear("the answer is not that of a JSON-RPC node"))?;
        if let Some(text) = reply["result"].as_str() {
            return bytes_of(text).map(Self::Returned).ok_or_else(|| unclear("the node's result is not hex"));
        }
        let error = &reply["error"];
        // Nodes put the data of a revert here, one level deeper, or after the word `Reverted`.
        let places = [&error["data"], &error["data"]["data"], &error["data"]["result"]];
        let data = places
            .into_iter()
            .filter_map(Value::as_str)
            .find_map(|text| bytes_of(text.strip_prefix("Reverted ").unwrap_or(text)));
        match (data, error["message"].as_str()) {
            // How much gas a call may have is a setting of the node, so this shows nothing of the contract.
            (data, Some(message)) if is_out_of_gas(message) && data.as_ref().is_none_or(Vec::is_empty) => {
                Err(NodeError(format!("the node gave the call too little gas: {}", beginning(message))))
            }
            (Some(data), _) => Ok(Self::Reverted(data)),
            (None, Some(message)) if message.contains("revert") => Ok(Self::Reverted(Vec::new())),
            (None, Some(message)) => Err(NodeError(format!("the node says: {}", beginning(message)))),
            (None, None) => Err(unclear("the node's answer has neither result nor error")),
        }
    }
}

/// Nodes write `out of gas`, `OutOfGas` and `gas required exceeds allowance`.
fn is_out_of_gas(message: &str) -> bool {
    let words = message.to_ascii_lowercase().replace(' ', "");
    ["outofgas", "gasrequiredexceedsallowance"].into_iter().any(|known| words.contains(known))
}

/// A revert of a contract that was asked for nothing else.
const REVERTED: Refusal =
    Refusal::Reverted(ContractFunctions { verifying_signer: false, is_bundler_allowed: false });

/// The outcome of simulating the whole operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationOutcome {
    /// The final outcome.
    Final(Simulation),
    /// The account made the simulation fail, for this reason: the paymaster must be called directly.
    CallThePaymaster(String),
}

/// Reads the outcome of [`simulation_call`](crate::simulation_call). `now` is the time of the exchange by our clock, in Unix seconds: the last
/// block of an idle chain may be old.
pub fn read_simulation(called: &CallOutcome, pays_in_tokens: bool, now: u64) -> SimulationOutcome {
    let CallOutcome::Reverted(data) = called else {
        return SimulationOutcome::Final(Simulation::Unclear(
            "simulateValidation did not revert: that is no EntryPoint v0.6".to_owned(),
        ));
    };
    let validated = VALIDATED.iter().find_map(|selector| data.strip_prefix(selector));
    if let Some(Ok(ReturnInfo { sigFailed, validAfter, validUntil, .. })) =
        validated.map(ReturnInfo::abi_decode)
    {
        return if sigFailed {
            SimulationOutcome::CallThePaymaster(
                "the account or the paymaster finds its signature wrong".to_owned(),
            )
        } else {
            let window = Window { valid_after: validAfter.to(), valid_until: validUntil.to() };
            SimulationOutcome::Final(in_time(window, now))
        };
    }
    match FailedOp::abi_decode(data) {
        Ok(FailedOp { reason, .. }) if reason.starts_with("AA3") => {
            let reverted = reason.starts_with("AA33");
            let refusal = if reverted { REVERTED } else { Refusal::Other };
            SimulationOutcome::Final(refused_or_unpaid(refusal, reason, pays_in_tokens))
        }
        Ok(FailedOp { reason, .. }) => SimulationOutcome::CallThePaymaster(reason),
        Err(_) => {
            SimulationOutcome::CallThePaymaster(format!("simulateValidation reverted with {}", revert(data)))
        }
    }
}

/// Reads the outcome of [`hash_call`](crate::hash_call).
pub fn read_hash(called: &CallOutcome) -> Option<B256> {
    match called {
        CallOutcome::Returned(data) => getUserOpHashCall::abi_decode_returns(data).ok(),
        CallOutcome::Reverted(_) => None,
    }
}

/// What came of having a paymaster validate an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymasterValidation {
    /// It returned this.
    Returned {
        /// Whether the signature is right.
        signature_is_right: bool,
        window: Window,
    },
    /// It reverted, for this reason.
    Reverted(String),
    /// There is no contract at its address.
    NotDeployed,
    /// What it returned is not what the function returns.
    Unreadable,
}

/// Reads the outcome of [`validation_call`](crate::validation_call), in every version of EntryPoint.
pub fn read_validation(called: &CallOutcome) -> PaymasterValidation {
    let data = match called {
        CallOutcome::Reverted(data) => return PaymasterValidation::Reverted(revert(data)),
        CallOutcome::Returned(data) if data.is_empty() => return PaymasterValidation::NotDeployed,
        CallOutcome::Returned(data) => data,
    };
    let Ok(returned) = validatePaymasterUserOpCall::abi_decode_returns(data) else {
        return PaymasterValidation::Unreadable;
    };
    // `aggregator | validUntil << 160 | validAfter << 208`. The aggregator 1 means that the signature is wrong; EntryPoint refuses any
    // other of a paymaster as well.
    let word = returned.validationData;
    let uint48 = |shift: usize| ((word >> shift) & U256::from((1_u64 << 48) - 1)).to::<u64>();
    PaymasterValidation::Returned {
        signature_is_right: (word << 96_usize).is_zero(),
        window: Window { valid_after: uint48(208), valid_until: uint48(160) },
    }
}

/// Reads the outcome of [`bundle_call`](crate::bundle_call): why the EntryPoint refuses the operation; none where it carries it out, or where a
/// contract reverts without a reason, for which too little gas is one.
pub fn read_bundle(called: &CallOutcome) -> Option<String> {
    let CallOutcome::Reverted(data) = called else { return None };
    if let Ok(FailedOp { reason, .. }) = FailedOp::abi_decode(data) {
        return Some(reason);
    }
    let FailedOpWithRevert { reason, inner, .. } = FailedOpWithRevert::abi_decode(data).ok()?;
    (!inner.is_empty()).then(|| format!("{reason}: {}", revert(&inner)))
}

/// Reads the outcome of [`validation_call`](crate::validation_call) for EntryPoint 0.6. `now` is the time of the exchange by our clock, in
/// Unix seconds.
pub fn read_paymaster_call(called: &CallOutcome, pays_in_tokens: bool, now: u64) -> Simulation {
    match read_validation(called) {
        PaymasterValidation::Returned { signature_is_right: true, window, .. } => in_time(window, now),
        PaymasterValidation::Returned { .. } => {
            Simulation::Refused(Refusal::Signature, "AA34 signature error".to_owned())
        }
        PaymasterValidation::Reverted(reason) => {
            refused_or_unpaid(REVERTED, format!("AA33 reverted: {reason}"), pays_in_tokens)
        }
        PaymasterValidation::NotDeployed => {
            Simulation::Refused(Refusal::NotDeployed, "AA30 paymaster not deployed".to_owned())
        }
        PaymasterValidation::Unreadable => Simulation::Refused(
            Refusal::Other,
            "AA33 reverted: what validatePaymasterUserOp returned cannot be read".to_owned(),
        ),
    }
}

/// A paymaster that is paid in tokens may revert because the account has no tokens, which is not a fault of the service.
fn refused_or_unpaid(refusal: Refusal, reason: String, pays_in_tokens: bool) -> Simulation {
    if refusal == REVERTED && pays_in_tokens {
        Simulation::Unclear(format!("{reason} (does the account lack tokens or an allowance?)"))
    } else {
        Simulation::Refused(refusal, reason)
    }
}

fn in_time(window: Window, now: u64) -> Simulation {
    if window.includes_about(now) {
        return Simulation::Accepted;
    }
    let Window { valid_after, valid_until } = window;
    let reason =
        format!("AA32 paymaster expired or not due: good from {valid_after} to {valid_until}, at {now}");
    Simulation::Refused(Refusal::NotInTime, reason)
}

/// The reason of a revert, or its data.
fn revert(data: &[u8]) -> String {
    if data.is_empty() {
        return "no reason".to_owned();
    }
    if let Ok(revert) = Revert::abi_decode(data) {
        return beginning(revert.reason());
    }
    // What the common library for signatures says.
    let known = [
        (ECDSAInvalidSignature::SELECTOR, ECDSAInvalidSignature::SIGNATURE),
        (ECDSAInvalidSignatureLength::SELECTOR, ECDSAInvalidSignatureLength::SIGNATURE),
        (ECDSAInvalidSignatureS::SELECTOR, ECDSAInvalidSignatureS::SIGNATURE),
    ];
    match known.iter().find(|(selector, _)| data.starts_with(selector)) {
        Some((_, error)) => (*error).to_owned(),
        None => beginning(&hex::encode_prefixed(data)),
    }
}

fn beginning(text: &str) -> String {
    const LONGEST: usize = 160;
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_that_a_paymaster_reverts_says_why() {
        let read = |data: Vec<u8>| read_bundle(&CallOutcome::Reverted(data));
        let nested = |inner: Vec<u8>| {
            let reason = "AA33 reverted".to_owned();
            FailedOpWithRevert { opIndex: U256::ZERO, reason, inner: inner.into() }.abi_encode()
        };
        let said = Some("AA33 reverted: no such mode".to_owned());
        assert_eq!(read(nested(Revert::from("no such mode").abi_encode())), said);
        let reason = "AA33 reverted: no such mode".to_owned();
        assert_eq!(read(FailedOp { opIndex: U256::ZERO, reason }.abi_encode()), said);
        assert_eq!(read(nested(Vec::new())), None, "too little gas says nothing either");
        assert_eq!(read(Vec::new()), None);
        assert_eq!(read_bundle(&CallOutcome::Returned(Vec::new())), None);
    }
    use alloy_primitives::Bytes;

    fn returned(context: &[u8], after: u64, until: u64, aggregator: U256) -> CallOutcome {
        let word = (U256::from(after) << 208) | (U256::from(until) << 160) | aggregator;
        CallOutcome::Returned((Bytes::copy_from_slice(context), word).abi_encode_params())
    }

    #[test]
    fn an_answer_of_a_node_that_ran_out_of_gas_is_no_revert() {
        let read = |error: &str| {
            let outcome = CallOutcome::read(format!(r#"{{"error":{error}}}"#).as_bytes());
            outcome.map_err(|cause| cause.to_string())
        };
        for message in
            ["out of gas", "EVM error OutOfGas", "Out of gas: gas required exceeds allowance: 50000"]
        {
            for data in ["", r#","data":"0x""#] {
                let error = format!(r#"{{"code":-32003,"message":"{message}"{data}}}"#);
                let expected = format!("the node gave the call too little gas: {message}");
                assert_eq!(read(&error), Err(expected));
            }
        }
        let with_data = r#"{"message":"execution reverted: out of gas","data":"0x01"}"#;
        assert_eq!(
            read(with_data),
            Ok(CallOutcome::Reverted(vec![1])),
            "a contract may revert for this reason"
        );
        assert_eq!(read(r#"{"message":"execution reverted"}"#), Ok(CallOutcome::Reverted(Vec::new())));
        assert!(read(r#"{"message":"missing trie node"}"#).is_err(), "a pruned node shows nothing");
    }

    #[test]
    fn a_validation_is_read() {
        let window = Window { valid_after: 10, valid_until: 20 };
        let wanted = |signature_is_right| PaymasterValidation::Returned { signature_is_right, window };
        assert_eq!(read_validation(&returned(&[], 10, 20, U256::ZERO)), wanted(true));
        assert_eq!(read_validation(&returned(&[1], 10, 20, U256::ONE)), wanted(false));
        let aggregator = (U256::ONE << 160) - U256::ONE;
        assert_eq!(read_validation(&returned(&[], 10, 20, aggregator)), wanted(false));
        assert_eq!(read_validation(&CallOutcome::Returned(vec![])), PaymasterValidation::NotDeployed);
        assert_eq!(read_validation(&CallOutcome::Returned(vec![1])), PaymasterValidation::Unreadable);
        let of_length = ECDSAInvalidSignatureLength { length: U256::from(63) }.abi_encode();
        assert_eq!(
            read_validation(&CallOutcome::Reverted(of_length)),
            PaymasterValidation::Reverted("ECDSAInvalidSignatureLength(uint256)".to_owned())
        );
        assert_eq!(
            read_validation(&CallOutcome::Reverted(vec![])),
            PaymasterValidation::Reverted("no reason".to_owned())
        );
    }
}
