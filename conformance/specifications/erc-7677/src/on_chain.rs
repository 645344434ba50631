//! What a node is asked about a result: whether the paymaster's contract accepts it. The contract is called as the EntryPoint would call it,
//! which takes no account, no deposit, no bundler and no signature of a user.

use std::{collections::VecDeque, time::UNIX_EPOCH};

use alloy_primitives::{Address, U256};
use paymaster_engine::cases::{NodeFacts, NodeStep, Simulate};
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_ethereum::{
    CallOutcome, EntryPointVersion, NodeError, Operation, PaymasterValidation, bundle_call, bundler_call,
    eth_call, limited_call, read_bundle, read_validation, signer_call, validation_call,
};
use paymaster_exchange::{ContractFunctions, Exchange, Refusal, Simulation};

use crate::SPECIFICATION;
use crate::kinds::{CallParts, is_stub};
use crate::rules::signatures::{completed, is_open};

/// More gas than any validation needs, beside the limit of the operation.
const AMPLE_GAS: U256 = U256::from_limbs([3_000_000, 0, 0, 0]);

/// What an exchange completes, and what the node can show of it.
struct Completed {
    operation: Operation,
    /// The chain of the node.
    chain_id: u64,
    is_stub: bool,
    is_final: bool,
    /// Who is asked after a revert, where the context names no token: a sender may lack it.
    bundler: Option<Address>,
    /// The gas limit of validation that the result has.
    gas_limit: Option<U256>,
    /// Why the node is not asked.
    unclear: Option<String>,
}

impl Completed {
    fn of(exchange: &Exchange, node: &NodeFacts) -> Option<Self> {
        let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
        let call = request.valid_call()?;
        let answer = Answer::of(exchange);
        let result = answer.result()?.as_object()?;
        let operation = completed(call, result)?;
        operation.paymaster()?;
        let other_chain = (call.chain_id() != Some(node.chain)).then(|| {
            let asked = &call.envelope["params"][2];
            format!("the node is of chain {}, and the request names {asked}", node.chain)
        });
        // The account's delegate enters the hash, and an invented account has none.
        let is_delegated = operation.members.initCode.starts_with(&[0x77, 0x02]);
        let context = call.envelope["params"][3].to_string().to_ascii_lowercase();
        let may_take_tokens = ["0x", "token"].iter().any(|word| context.contains(word));
        Some(Self {
            bundler: node.bundler.as_ref().filter(|_| !may_take_tokens).and_then(|text| text.parse().ok()),
            chain_id: node.chain,
            is_stub: is_stub(call.pair),
            is_final: result.get("isFinal").is_some_and(|value| *value == true),
            gas_limit: result
                .get("paymasterVerificationGasLimit")
                .is_some_and(|limit| !limit.is_null())
                .then(|| operation.paymaster_gas_limits()[0]),
            unclear: is_delegated.then(|| "the account delegates by EIP-7702".to_owned()).or(other_chain),
            operation,
        })
    }

    /// The data of the call that has the paymaster validate this operation, and the address of the EntryPoint that makes it.
    fn validation(&self, operation: &Operation) -> (Address, Vec<u8>) {
        let entry_point = operation.version.address();
        (entry_point, validation_call(operation, operation.hash(entry_point, self.chain_id)))
    }

    fn paymaster(&self) -> Address {
        self.operation.paymaster().unwrap_or_default()
    }
}

/// Asks the contract of the operation that an exchange completes; none where it completes none.
pub(crate) fn simulation(exchange: &Exchange, node: &NodeFacts) -> Option<Box<dyn Simulate>> {
    let completed = Completed::of(exchange, node)?;
    let received = exchange.received.and_then(|received| received.duration_since(UNIX_EPOCH).ok());
    let other_limits = completed.is_final.then_some(Question::OtherLimits);
    Some(Box::new(OnChain {
        may_be_unsigned: completed.is_stub && !completed.is_final,
        completed,
        received: received.map(|since| since.as_secs()),
        questions: [Question::AsItIs].into_iter().chain(other_limits).collect(),
        asked: None,
        found: Simulation::Accepted,
    }))
}

/// Asks whether validation fits the gas limit that a stub returns; none where an exchange returns none.
pub(crate) fn gas_of_stubs(exchange: &Exchange, node: &NodeFacts) -> Option<Box<dyn Simulate>> {
    let completed = Completed::of(exchange, node).filter(|completed| completed.is_stub)?;
    let limit = completed.gas_limit.filter(|_| completed.operation.version != EntryPointVersion::V06)?;
    Some(Box::new(GasOfStub { completed, limits: vec![limit, AMPLE_GAS], asked: None }))
}

/// The validation of a stub, first with ample gas, then with its limit.
struct GasOfStub {
    completed: Completed,
    /// The limits that were not asked for yet.
    limits: Vec<U256>,
    asked: Option<U256>,
}

impl Simulate for GasOfStub {
    fn next(&mut self, answer: Option<&[u8]>) -> NodeStep {
        let unclear = |reason: String| NodeStep::Known(Simulation::Unclear(reason));
        if let Some(reason) = self.completed.unclear.take() {
            return unclear(reason);
        }
        if let (Some(limit), Some(answer)) = (self.asked, answer) {
            let word = match CallOutcome::read(answer) {
                Ok(CallOutcome::Returned(data)) => {
                    U256::try_from_be_slice(&data).filter(|_| data.len() == 32)
                }
                Ok(CallOutcome::Reverted(_)) => None,
                Err(cause) => return unclear(cause.to_string()),
            };
            match word {
                Some(U256::ONE) => {}
                Some(U256::ZERO) if limit == AMPLE_GAS => return unclear("validation reverts".to_owned()),
                Some(U256::ZERO) => {
                    let reason = format!("AA36: validation takes more than {limit} gas");
                    return NodeStep::Known(Simulation::Refused(Refusal::OverGasLimit, reason));
                }
                _ => return unclear("the node takes no other code for a call (a state override)".to_owned()),
            }
        }
        self.asked = self.limits.pop();
        let Some(limit) = self.asked else { return NodeStep::Known(Simulation::WithinGas) };
        let (entry_point, data) = self.completed.validation(&self.completed.operation);
        let params = limited_call(entry_point, self.completed.paymaster(), &data, limit.min(AMPLE_GAS).to());
        NodeStep::Ask("eth_call", params)
    }
}

/// The calls of one operation's paymaster, one after the other.
struct OnChain {
    completed: Completed,
    /// When the answer came, by our clock, in Unix seconds: the last block of an idle chain may be old.
    received: Option<u64>,
    /// Whether the result is a stub, of which neither the signature nor the times must hold.
    may_be_unsigned: bool,
    questions: VecDeque<Question>,
    asked: Option<Question>,
    found: Simulation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// Whether the contract accepts the operation.
    AsItIs,
    /// Whether the contract accepts the operation with the gas limits that a bundler estimates.
    OtherLimits,
    /// After a revert: whether the contract has one signer.
    HasSigner,
    /// After a revert: whether the contract has a list of bundlers.
    HasBundlers,
    /// After a revert: whether it reverts for the same reason where this bundler sends the operation.
    OfBundler(Address),
}

impl Simulate for OnChain {
    fn next(&mut self, answer: Option<&[u8]>) -> NodeStep {
        if let Some(reason) = self.completed.unclear.take() {
            return NodeStep::Known(Simulation::Unclear(reason));
        }
        if let (Some(asked), Some(answer)) = (self.asked, answer) {
            self.note(asked, CallOutcome::read(answer));
        }
        self.asked = self.questions.pop_front();
        match self.asked {
            Some(question) => NodeStep::Ask("eth_call", self.call(question)),
            None => NodeStep::Known(self.found.clone()),
        }
    }
}

impl OnChain {
    /// Notes the answer to a question.
    fn note(&mut self, asked: Question, called: Result<CallOutcome, NodeError>) {
        if let Simulation::Refused(refusal @ Refusal::Reverted(_), reason) = &mut self.found {
            let returned = matches!(&called, Ok(CallOutcome::Returned(data)) if data.len() == 32);
            match (asked, &mut *refusal) {
                (Question::HasSigner, Refusal::Reverted(functions)) => functions.verifying_signer = returned,
                (Question::HasBundlers, Refusal::Reverted(functions)) => {
                    functions.is_bundler_allowed = returned;
                }
                _ if called.ok().and_then(|called| read_bundle(&called)).as_ref() == Some(reason) => {
                    *refusal = Refusal::RevertedForBundler;
                }
                _ => {}
            }
            return;
        }
        let outcome = match called {
            Ok(called) => self.read(asked, &called),
            Err(cause) => Simulation::Unclear(cause.to_string()),
        };
        match outcome {
            Simulation::Accepted => return,
            Simulation::Refused(Refusal::Reverted(_), _) => {
                let of_bundler = self.completed.bundler.map(Question::OfBundler);
                self.questions =
                    [Question::HasSigner, Question::HasBundlers].into_iter().chain(of_bundler).collect();
            }
            _ => self.questions.clear(),
        }
        self.found = outcome;
    }

    fn call(&self, question: Question) -> serde_json::Value {
        let paymaster = self.completed.paymaster();
        match question {
            Question::HasSigner => return eth_call(None, paymaster, &signer_call(), None),
            Question::HasBundlers => return eth_call(None, paymaster, &bundler_call(), None),
            _ => {}
        }
        let mut operation = self.completed.operation.clone();
        // The limits of a request for a stub may be zero, and nothing is signed in it.
        let is_open = self.may_be_unsigned && matches!(question, Question::OfBundler(_));
        if question == Question::OtherLimits || is_open {
            operation.members.callGasLimit = U256::from(77_000);
            operation.members.verificationGasLimit = U256::from(210_000);
            operation.members.preVerificationGas = U256::from(61_000);
        }
        if let Question::OfBundler(bundler) = question {
            let entry_point = operation.version.address();
            return eth_call(Some(bundler), entry_point, &bundle_call(&operation, bundler), None);
        }
        let (entry_point, data) = self.completed.validation(&operation);
        let [limit, _] = operation.paymaster_gas_limits();
        let gas = limit.min(AMPLE_GAS).saturating_add(AMPLE_GAS).to();
        eth_call(Some(entry_point), paymaster, &data, Some(gas))
    }

    fn read(&self, question: Question, called: &CallOutcome) -> Simulation {
        match read_validation(called) {
            PaymasterValidation::Returned { signature_is_right: false, .. } => {
                if !self.may_be_unsigned && question == Question::AsItIs && !self.has_real_limits() {
                    return Simulation::Unclear("a gas limit of the operation is 0".to_owned());
                }
                let with = if question == Question::OtherLimits { ", with other gas limits" } else { "" };
                Simulation::Refused(Refusal::Signature, format!("AA34 signature error{with}"))
            }
            PaymasterValidation::Returned { window, .. } => match self.received {
                Some(now)
                    if !self.may_be_unsigned && !is_open(self.completed.operation.version, window, now) =>
                {
                    let (after, until) = (window.valid_after, window.valid_until);
                    let reason =
                        format!("AA32 paymaster expired or not due: good from {after} to {until}, at {now}");
                    Simulation::Refused(Refusal::NotInTime, reason)
                }
                _ => Simulation::Accepted,
            },
            PaymasterValidation::Reverted(reason) => {
                let functions = ContractFunctions::default();
                Simulation::Refused(Refusal::Reverted(functions), format!("AA33 reverted: {reason}"))
            }
            PaymasterValidation::NotDeployed => {
                let (paymaster, chain) = (self.completed.paymaster(), self.completed.chain_id);
                let reason = format!("the paymaster {paymaster} has no code on chain {chain}");
                Simulation::Refused(Refusal::NotDeployed, reason)
            }
            PaymasterValidation::Unreadable => {
                Simulation::Unclear("what validatePaymasterUserOp returned cannot be read".to_owned())
            }
        }
    }

    /// Whether no gas limit is 0. Without gas for its paymaster, no operation of 0.7 and later is valid.
    fn has_real_limits(&self) -> bool {
        let operation = &self.completed.operation;
        let [of_paymaster, _] = operation.paymaster_gas_limits();
        ![
            operation.members.callGasLimit,
            operation.members.verificationGasLimit,
            operation.members.preVerificationGas,
        ]
        .contains(&U256::ZERO)
            && (operation.version == EntryPointVersion::V06 || !of_paymaster.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use alloy_primitives::hex;
    use bytes::Bytes;
    use paymaster_ethereum::ContractKind;
    use paymaster_exchange::Response;
    use serde_json::{Value, json};

    use super::*;
    use crate::kinds::{DATA, STUB};

    const CHAIN: u64 = 31_337;
    const NOW: u64 = 1_700_000_000;
    const PAYMASTER: &str = "0x2222222222222222222222222222222222222222";

    const NODE: NodeFacts = NodeFacts { chain: CHAIN, entry_point: None, bundler: None };

    fn started(method: &str, operation: Value, more: Value) -> Box<dyn Simulate> {
        simulation(&exchange(method, operation, more), &NODE).unwrap()
    }

    /// An exchange with a result for 0.7, and a change of the operation.
    fn exchange(method: &str, operation: Value, more: Value) -> Exchange {
        let mut sent = json!({
            "sender": "0x1306b01bc3e4ad202612d3843387e94737673f53", "nonce": "0x1", "callData": "0x",
            "callGasLimit": "0x1", "verificationGasLimit": "0x2", "preVerificationGas": "0x4",
            "maxFeePerGas": "0xa", "maxPriorityFeePerGas": "0x1",
        });
        let mut result = json!({ "paymaster": PAYMASTER, "paymasterData": "0x01" });
        for (into, members) in [(&mut sent, operation), (&mut result, more)] {
            for (name, value) in members.as_object().unwrap() {
                into[name] = value.clone();
            }
        }
        let entry_point = EntryPointVersion::V07.address().to_string();
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": [sent, entry_point, "0x7a69", {}] });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string().into();
        let mut exchange = Exchange::new(
            Bytes::from(request.to_string()),
            Ok(Response { status: 200, headers: Vec::new(), body }),
            Duration::ZERO,
        );
        exchange.received = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        exchange
    }

    /// What the contract returns: the aggregator, and the time until which the data are valid.
    fn returned(aggregator: u8, until: u64) -> Vec<u8> {
        let word = (U256::from(until) << 160) | U256::from(aggregator);
        let words = [U256::from(64), word, U256::ZERO].map(|word| word.to_be_bytes::<32>()).concat();
        json!({ "result": hex::encode_prefixed(words) }).to_string().into_bytes()
    }

    /// The gas of each call that is asked for while the node answers so, and the outcome.
    fn driven(mut simulation: Box<dyn Simulate>, answers: &[Vec<u8>]) -> (Vec<u64>, Simulation) {
        let mut gas = Vec::new();
        let mut answer = None;
        for next in answers.iter().map(Some).chain([None]) {
            match simulation.next(answer) {
                NodeStep::Known(outcome) => return (gas, outcome),
                NodeStep::Ask(method, params) => {
                    assert_eq!((method, params[0]["to"].as_str()), ("eth_call", Some(PAYMASTER)));
                    let digits = params[0]["gas"].as_str().and_then(|gas| gas.strip_prefix("0x"));
                    gas.extend(digits.map(|digits| u64::from_str_radix(digits, 16).unwrap()));
                }
            }
            answer = next.map(Vec::as_slice);
        }
        panic!("more is asked than answered");
    }

    fn is(outcome: &Simulation, refusal: Refusal) -> bool {
        matches!(outcome, Simulation::Refused(found, _) if *found == refusal)
    }

    #[test]
    fn times_are_compared_with_our_clock_and_those_of_a_stub_are_not() {
        let data = || started(DATA, json!({}), json!({}));
        for (until, is_accepted) in [(0, true), (NOW + 300, true), (NOW - 60, true), (NOW - 300, false)] {
            let (_, outcome) = driven(data(), &[returned(0, until)]);
            assert_eq!(outcome == Simulation::Accepted, is_accepted, "{until}: {outcome:?}");
            assert_eq!(is(&outcome, Refusal::NotInTime), !is_accepted, "{until}");
        }
        let stub = started(STUB, json!({}), json!({}));
        assert_eq!(driven(stub, &[returned(0, NOW - 300)]).1, Simulation::Accepted);
    }

    #[test]
    fn a_wrong_signature_accuses_only_with_real_limits() {
        let zero = || json!({ "callGasLimit": "0x0" });
        let signed = |operation, more| driven(started(DATA, operation, more), &[returned(1, 0)]).1;
        let of_paymaster = |limit| json!({ "paymasterVerificationGasLimit": limit });
        assert!(is(&signed(of_paymaster("0x7530"), json!({})), Refusal::Signature));
        assert!(is(&signed(json!({}), of_paymaster("0x7530")), Refusal::Signature));
        let mut without_gas_for_calls = of_paymaster("0x7530");
        without_gas_for_calls["callGasLimit"] = json!("0x0");
        for without_gas in [without_gas_for_calls, of_paymaster("0x0"), json!({})] {
            assert!(matches!(signed(without_gas, json!({})), Simulation::Unclear(_)));
        }
        // A final stub must hold with other limits too, whatever the request has.
        let is_final = || started(STUB, zero(), json!({ "isFinal": true }));
        let (gas, outcome) = driven(is_final(), &[returned(0, 0), returned(1, 0)]);
        assert!(gas.len() == 2 && is(&outcome, Refusal::Signature), "{outcome:?}");
        assert_eq!(driven(is_final(), &[returned(0, 0), returned(0, 0)]).1, Simulation::Accepted);
    }

    #[test]
    fn the_gas_that_a_stub_announces_is_tried_where_validation_returns() {
        let stub = |limit| exchange(STUB, json!({}), json!({ "paymasterVerificationGasLimit": limit }));
        let word = |word: u8| json!({ "result": format!("0x{word:064x}") }).to_string().into_bytes();
        let no_node = br#"{"error":{"code":-32602,"message":"too many params"}}"#.to_vec();
        let reverted = br#"{"error":{"code":3,"message":"execution reverted","data":"0x"}}"#.to_vec();
        let found = |answers: &[Vec<u8>]| {
            let mut simulation = gas_of_stubs(&stub("0x2710"), &NODE).unwrap();
            let mut answers = answers.iter();
            let mut answer = None;
            loop {
                match simulation.next(answer) {
                    NodeStep::Known(outcome) => return outcome,
                    NodeStep::Ask(..) => answer = Some(answers.next().unwrap().as_slice()),
                }
            }
        };
        assert_eq!(found(&[word(1), word(1)]), Simulation::WithinGas);
        assert!(is(&found(&[word(1), word(0)]), Refusal::OverGasLimit));
        for unclear in [word(0), word(2), no_node, reverted] {
            assert!(matches!(found(&[unclear]), Simulation::Unclear(_)));
        }
        let data = exchange(DATA, json!({}), json!({ "paymasterVerificationGasLimit": "0x2710" }));
        assert!(gas_of_stubs(&data, &NODE).is_none());
        for nothing in [json!({}), json!({ "paymasterVerificationGasLimit": null })] {
            assert!(gas_of_stubs(&exchange(STUB, json!({}), nothing), &NODE).is_none());
        }
    }

    #[test]
    fn a_contract_that_reverts_is_told_by_its_functions() {
        let data = || started(DATA, json!({}), json!({}));
        let reverted = || br#"{"error":{"code":3,"message":"execution reverted","data":"0x"}}"#.to_vec();
        let word = || json!({ "result": format!("0x{}", "0".repeat(64)) }).to_string().into_bytes();
        for (answers, kind) in [
            ([word(), reverted()], Some(ContractKind::Verifying07)),
            ([reverted(), word()], Some(ContractKind::Singleton07)),
            ([word(), word()], Some(ContractKind::Coinbase07)),
            ([reverted(), br#"{"result":"0x"}"#.to_vec()], None),
        ] {
            let [signer, bundlers] = answers;
            let (_, outcome) = driven(data(), &[reverted(), signer, bundlers]);
            let functions = kind.map(ContractKind::functions).unwrap_or_default();
            assert!(is(&outcome, Refusal::Reverted(functions)), "{kind:?}: {outcome:?}");
        }
    }

    #[test]
    fn what_a_node_cannot_show_is_unclear() {
        let unclear = |simulation, answer: &[u8]| match driven(simulation, &[answer.to_vec()]).1 {
            Simulation::Unclear(reason) => reason,
            other => panic!("{other:?}"),
        };
        let pruned = br#"{"error":{"code":-32000,"message":"missing trie node"}}"#;
        assert_eq!(unclear(started(DATA, json!({}), json!({})), pruned), "the node says: missing trie node");
        for message in ["out of gas", "gas required exceeds allowance (50000000)"] {
            let body = json!({ "error": { "code": -32_000, "message": message } }).to_string();
            let expected = format!("the node gave the call too little gas: {message}");
            assert_eq!(unclear(started(DATA, json!({}), json!({})), body.as_bytes()), expected);
        }
        let delegated = started(DATA, json!({ "factory": "0x7702", "factoryData": "0x" }), json!({}));
        assert_eq!(unclear(delegated, b""), "the account delegates by EIP-7702");
        let (_, outcome) = driven(started(DATA, json!({}), json!({})), &[br#"{"result":"0x"}"#.to_vec()]);
        assert!(is(&outcome, Refusal::NotDeployed), "{outcome:?}");
    }
}
