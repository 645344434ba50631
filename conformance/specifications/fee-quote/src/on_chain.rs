//! The operation that an answer completes, and its simulation on a chain with EntryPoint v0.6.

use crate::{SPECIFICATION, call::CallParts};
use alloy_primitives::{Address, Bytes, U256};
use paymaster_engine::{
    json::number::amount,
    message::{answer::Answer, request::ParsedRequest},
    simulation::{NodeFacts, NodeStep, Simulate},
};
use paymaster_schemas::Mode;
use serde_json::{Value, json};
use std::mem;

use paymaster_ethereum::{
    CallOutcome, CompletedOperation, EntryPointVersion, SimulationOutcome, UserOperation, eth_call,
    hash_call, hex_bytes, paymaster_call, read_hash, read_paymaster_call, read_simulation, simulation_call,
};
use paymaster_exchange::{Exchange, Refusal, Simulation};

/// A well-formed signature of no account: accounts that check it report a wrong signature instead of reverting.
const DUMMY_SIGNATURE: [u8; 65] = {
    let mut signature = [0xff; 65];
    let mut place = 16;
    while place < 33 {
        signature[place] = 0;
        place += 1;
    }
    signature[32] = 0x07;
    place = 33;
    while place < 64 {
        signature[place] = 0xaa;
        place += 1;
    }
    signature[64] = 0x1c;
    signature
};

/// Simulates the operation that an exchange completes.
pub(crate) fn simulation(exchange: &Exchange, node: &NodeFacts) -> Option<Box<dyn Simulate>> {
    let completed = completed(exchange)?;
    let given = node.entry_point.as_deref().and_then(|address| address.parse().ok());
    let entry_point = given.unwrap_or(EntryPointVersion::V06.address());
    Some(Box::new(OnChain { completed, entry_point, now: 0, last: Asked::Nothing }))
}

/// The simulation of the whole operation, and of the call of its paymaster alone where the account makes the whole fail.
struct OnChain {
    completed: CompletedOperation,
    entry_point: Address,
    /// The time of the last block, in Unix seconds.
    now: u64,
    last: Asked,
}

/// What was asked last.
enum Asked {
    Nothing,
    Time,
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
        let pays_in_tokens = self.completed.pays_in_tokens;
        let (asked, step) = match mem::replace(&mut self.last, Asked::Nothing) {
            Asked::Nothing => (Asked::Time, NodeStep::Ask("eth_getBlockByNumber", json!(["latest", false]))),
            Asked::Time => {
                self.now = time(answer)?;
                (Asked::Whole, call(None, self.entry_point, &simulation_call(&self.completed)))
            }
            Asked::Whole => {
                let why = match read_simulation(&called()?, pays_in_tokens, self.now) {
                    SimulationOutcome::Final(simulation) => return Ok(NodeStep::Known(simulation)),
                    SimulationOutcome::CallThePaymaster(_) if self.completed.paymaster().is_none() => {
                        let why = "AA93 invalid paymasterAndData: it is shorter than an address";
                        return Ok(NodeStep::Known(Simulation::Refused(Refusal::Other, why.to_owned())));
                    }
                    SimulationOutcome::CallThePaymaster(why) => why,
                };
                (Asked::Hash(why), call(None, self.entry_point, &hash_call(&self.completed)))
            }
            Asked::Hash(why) => {
                let hash = read_hash(&called()?).ok_or(why)?;
                let paymaster = self.completed.paymaster().unwrap_or_default();
                let check = paymaster_call(&self.completed, hash);
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

/// The time of the last block, in Unix seconds.
fn time(answer: &[u8]) -> Result<u64, String> {
    let reply: Value =
        serde_json::from_slice(answer).map_err(|_| "the answer is not that of a JSON-RPC node".to_owned())?;
    if reply["result"].is_null() {
        return Err(format!("eth_getBlockByNumber was not answered: {}", reply["error"]));
    }
    let time = reply["result"]["timestamp"].as_str().and_then(|text| text.strip_prefix("0x"));
    time.and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| "the block of the node has no timestamp".to_owned())
}

/// The operation of an exchange whose result carries a paymasterAndData, `0x` alone excepted.
pub fn completed(exchange: &Exchange) -> Option<CompletedOperation> {
    let kind = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let call = kind.valid_call()?;
    let answer = Answer::of(exchange);
    let result = answer.result()?;
    let sent = call.operation();
    let paymaster_and_data = hex_bytes(result.get("paymasterAndData")?)?;
    if paymaster_and_data.is_empty() {
        return None;
    }
    let bytes_of = |member: &str| sent.get(member).map_or(Some(Bytes::new()), hex_bytes);
    let signature = bytes_of("signature")
        .filter(|signature| !signature.is_empty())
        .unwrap_or_else(|| Bytes::from(DUMMY_SIGNATURE));
    Some(CompletedOperation {
        operation: UserOperation {
            sender: sent.get("sender")?.as_str()?.parse().ok()?,
            nonce: uint(sent.get("nonce")?)?,
            initCode: bytes_of("initCode")?,
            callData: bytes_of("callData")?,
            callGasLimit: uint(result.get("callGasLimit")?)?,
            verificationGasLimit: uint(result.get("verificationGasLimit")?)?,
            preVerificationGas: uint(result.get("preVerificationGas")?)?,
            maxFeePerGas: uint(sent.get("maxFeePerGas")?)?,
            maxPriorityFeePerGas: uint(sent.get("maxPriorityFeePerGas")?)?,
            paymasterAndData: paymaster_and_data,
            signature,
        },
        pays_in_tokens: Mode::of(call.pair) == Mode::Erc20,
    })
}

fn uint(value: &Value) -> Option<U256> {
    U256::try_from_be_slice(&amount(value)?.to_bytes_be())
}
