//! The operation that an answer completes, and its simulation on a chain with EntryPoint v0.6.

use crate::SPECIFICATION;
use crate::call::CallParts;
use crate::tables::{FEES, GAS};
use alloy_primitives::{Address, Bytes, hex};
use paymaster_engine::cases::{NodeFacts, NodeStep, Simulate};
use paymaster_engine::json::amount;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_schemas::Mode;
use serde_json::json;
use std::{mem, time::UNIX_EPOCH};

use paymaster_ethereum::{
    CallOutcome, EntryPointVersion, Operation, SimulationOutcome, eth_call, hash_call, hex_bytes, read_hash,
    read_paymaster_call, read_simulation, simulation_call, validation_call,
};
use paymaster_exchange::{Exchange, Refusal, Simulation};

/// A well-formed signature of no account: accounts that check it report a wrong signature instead of reverting.
const DUMMY_SIGNATURE: [u8; 65] = hex!(
    "ffffffffffffffffffffffffffffffff00000000000000000000000000000000"
    "07aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c"
);

/// Simulates the operation that an exchange completes.
pub(crate) fn simulation(exchange: &Exchange, node: &NodeFacts) -> Option<Box<dyn Simulate>> {
    let (operation, pays_in_tokens) = (completed(exchange)?, pays_in_tokens(exchange));
    let given = node.entry_point.as_deref().and_then(|address| address.parse().ok());
    let entry_point = given.unwrap_or(EntryPointVersion::V06.address());
    let now = exchange.received?.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(Box::new(OnChain { operation, pays_in_tokens, entry_point, now, last: Asked::Nothing }))
}

/// The simulation of the whole operation, and of the call of its paymaster alone where the account makes the whole fail.
struct OnChain {
    operation: Operation,
    pays_in_tokens: bool,
    entry_point: Address,
    /// When the answer came, by our clock, in Unix seconds.
    now: u64,
    last: Asked,
}

/// What was asked last.
enum Asked {
    Nothing,
    Whole,
    /// The hash of the operation, because the simulation of the whole failed for this reason.
    Hash(String),
    Paymaster,
}

impl Simulate for OnChain {
    fn next(&mut self, answer: Option<&[u8]>) -> NodeStep {
        let step = self.step(answer.unwrap_or_default());
        step.unwrap_or_else(|why| NodeStep::Known(Simulation::Unclear(why)))
    }
}

impl OnChain {
    fn step(&mut self, answer: &[u8]) -> Result<NodeStep, String> {
        let called = || CallOutcome::read(answer).map_err(|cause| cause.to_string());
        let (operation, pays_in_tokens) = (&self.operation, self.pays_in_tokens);
        let (asked, step) = match mem::replace(&mut self.last, Asked::Nothing) {
            Asked::Nothing => (Asked::Whole, call(None, self.entry_point, &simulation_call(operation))),
            Asked::Whole => {
                let why = match read_simulation(&called()?, pays_in_tokens, self.now) {
                    SimulationOutcome::Final(simulation) => return Ok(NodeStep::Known(simulation)),
                    SimulationOutcome::CallThePaymaster(_) if operation.paymaster().is_none() => {
                        let why = "AA93 invalid paymasterAndData: it is shorter than an address";
                        return Ok(NodeStep::Known(Simulation::Refused(Refusal::Other, why.to_owned())));
                    }
                    SimulationOutcome::CallThePaymaster(why) => why,
                };
                (Asked::Hash(why), call(None, self.entry_point, &hash_call(operation)))
            }
            Asked::Hash(why) => {
                let hash = read_hash(&called()?).ok_or(why)?;
                let paymaster = operation.paymaster().unwrap_or_default();
                let check = validation_call(operation, hash);
                (Asked::Paymaster, call(Some(self.entry_point), paymaster, &check))
            }
            Asked::Paymaster => {
                let outcome = read_paymaster_call(&called()?, pays_in_tokens, self.now);
                return Ok(NodeStep::Known(outcome));
            }
        };
        self.last = asked;
        Ok(step)
    }
}

fn call(from: Option<Address>, to: Address, data: &[u8]) -> NodeStep {
    NodeStep::Ask("eth_call", eth_call(from, to, data, None))
}

/// The operation of an exchange whose result carries a paymasterAndData, `0x` alone excepted.
pub fn completed(exchange: &Exchange) -> Option<Operation> {
    let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let sent = request.valid_call()?.operation();
    let answer = Answer::of(exchange);
    let result = answer.result()?;
    // Amounts are read in every notation that they may have.
    let mut own = json!({ "paymasterAndData": result.get("paymasterAndData")?, "signature": "0x" });
    let of_request = ["nonce"].into_iter().chain(FEES).map(|name| (name, sent));
    for (name, source) in of_request.chain(GAS.map(|name| (name, result))) {
        own[name] = json!(format!("{:#x}", amount(&source[name])?));
    }
    let without_call = json!({ "callData": "0x" });
    let mut operation = Operation::read(EntryPointVersion::V06, &[&without_call, sent, &own]).ok()?;
    let signature = sent.get("signature").and_then(hex_bytes).filter(|signature| !signature.is_empty());
    operation.members.signature = signature.unwrap_or_else(|| Bytes::from(DUMMY_SIGNATURE));
    (!operation.members.paymasterAndData.is_empty()).then_some(operation)
}

/// Whether the sender of an exchange's operation pays the paymaster in tokens. A paymaster may then revert because the sender has none.
pub fn pays_in_tokens(exchange: &Exchange) -> bool {
    let kind = ParsedRequest::of(&exchange.request, &SPECIFICATION).pair();
    kind.is_some_and(|kind| Mode::of(kind) == Mode::Erc20)
}
