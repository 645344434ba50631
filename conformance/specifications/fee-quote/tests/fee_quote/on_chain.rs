//! What nodes and EntryPoint v0.6 return, put together here word by word, and what is read from it. The whole way, with a real
//! chain: `interop/chain`.

use alloy_primitives::hex;
use paymaster_engine::cases::case::{NodeFacts, NodeStep};
use paymaster_ethereum::{
    CallOutcome, SimulationOutcome, read_paymaster_call, read_simulation, simulation_call, validation_call,
};
use paymaster_exchange::{Refusal, Simulation};
use paymaster_fee_quote::on_chain::{completed, pays_in_tokens};
use paymaster_fee_quote::relations::ON_CHAIN;

use crate::*;

const NOW: u64 = 1_700_000_000;
const LATER: u64 = NOW + 300;

fn word(number: u64) -> String {
    format!("{number:064x}")
}

/// `FailedOp(0, reason)` of a reason of up to 32 bytes.
fn failed_op(reason: &str) -> CallOutcome {
    let text = hex::encode(reason);
    let parts = [word(0), word(64), word(reason.len() as u64), format!("{text:0<64}")];
    reverted(&format!("220266b6{}", parts.concat()))
}

/// `ValidationResult` with an empty context and stakes of 0.
fn validation_result(signature_failed: bool, after: u64, until: u64) -> CallOutcome {
    let stakes = word(0).repeat(6);
    let info = [21_000, 1, u64::from(signature_failed), after, until, 6 * 32, 0].map(word).concat();
    reverted(&format!("e0cff05f{}{stakes}{info}", word(7 * 32)))
}

/// `(context, validationData)` of a paymaster.
fn validated(aggregator: u64, after: u64, until: u64) -> CallOutcome {
    let data = format!("{after:012x}{until:012x}{aggregator:040x}");
    CallOutcome::Returned(bytes(&[word(64), data, word(0)].concat()))
}

fn reverted(digits: &str) -> CallOutcome {
    CallOutcome::Reverted(bytes(digits))
}

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

#[test]
fn the_whole_simulation_is_read() {
    let read = |called: &CallOutcome| read_simulation(called, false, NOW);
    assert_eq!(read(&validation_result(false, 0, LATER)), SimulationOutcome::Final(Simulation::Accepted));
    assert_eq!(read(&validation_result(false, 0, 0)), SimulationOutcome::Final(Simulation::Accepted));
    for called in [
        validation_result(false, 0, NOW - 200),
        validation_result(false, LATER, 0),
        failed_op("AA31 paymaster deposit too low"),
    ] {
        let SimulationOutcome::Final(Simulation::Refused(_, reason)) = read(&called) else {
            panic!("{:?}", read(&called));
        };
        assert!(reason.starts_with("AA3"), "{reason}");
    }
    // What the account does is nothing that the paymaster answers for.
    for called in [validation_result(true, 0, LATER), failed_op("AA20 account not deployed"), reverted("")] {
        assert!(matches!(read(&called), SimulationOutcome::CallThePaymaster(_)), "{:?}", read(&called));
    }
    assert!(matches!(
        read(&CallOutcome::Returned(Vec::new())),
        SimulationOutcome::Final(Simulation::Unclear(_))
    ));
}

#[test]
fn the_outcome_of_calling_the_paymaster_directly_is_read() {
    let read = |called: &CallOutcome| read_paymaster_call(called, false, NOW);
    assert_eq!(read(&validated(0, 0, LATER)), Simulation::Accepted);
    // The clocks of service and run may differ.
    assert_eq!(read(&validated(0, NOW + 100, LATER)), Simulation::Accepted);
    for (called, code) in [
        (validated(1, 0, LATER), "AA34"),
        (validated(0, 0, NOW - 200), "AA32"),
        (validated(0, LATER, 0), "AA32"),
        (CallOutcome::Returned(Vec::new()), "AA30"),
        (CallOutcome::Returned(vec![0; 7]), "AA33"),
        (reverted(""), "AA33"),
    ] {
        let simulation = read(&called);
        assert!(
            matches!(&simulation, Simulation::Refused(_, reason) if reason.starts_with(code)),
            "{simulation:?}"
        );
    }
    // An account without tokens is no fault of the service.
    assert!(matches!(read_paymaster_call(&reverted(""), true, NOW), Simulation::Unclear(_)));
    assert!(matches!(read_paymaster_call(&validated(1, 0, 0), true, NOW), Simulation::Refused(..)));
}

#[test]
fn reverts_are_read_from_several_places_of_an_answer() {
    let read = |body: &Value| CallOutcome::read(body.to_string().as_bytes()).ok();
    let error = |error: Value| json!({ "jsonrpc": "2.0", "id": 1, "error": error });
    assert_eq!(read(&json!({ "result": "0x0a" })), Some(CallOutcome::Returned(vec![10])));
    for data in [json!("0x0a"), json!({ "data": "0x0a" }), json!("Reverted 0x0a")] {
        let body = error(json!({ "code": 3, "message": "execution reverted", "data": data }));
        assert_eq!(read(&body), Some(CallOutcome::Reverted(vec![10])), "{body}");
    }
    let bare = error(json!({ "code": -32000, "message": "execution reverted" }));
    assert_eq!(read(&bare), Some(CallOutcome::Reverted(Vec::new())));
    for body in [
        error(json!({ "code": -32005, "message": "too many requests" })),
        json!({}),
        json!({ "result": "x" }),
    ] {
        assert!(read(&body).is_none(), "{body}");
    }
    assert!(CallOutcome::read(b"<html>").is_err());
}

fn exchange(result: &Value) -> Exchange {
    let operation = json!({
        "sender": "0x1306b01bC3e4AD202612D3843387e94737673F53", "nonce": "0x2a", "initCode": "0x", "callData": "0xb61d27f6",
        "maxFeePerGas": "20", "maxPriorityFeePerGas": "15",
    });
    let mode = json!({ "mode": "SPONSORED", "calculateGasLimits": true });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "pm_sponsorUserOperation", "params": [operation, mode] });
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    exchanged(request.to_string(), 200, answer.to_string())
}

fn sponsored(paymaster_and_data: &str) -> Value {
    json!({ "MODE": "SPONSORED", "paymasterAndData": paymaster_and_data, "preVerificationGas": "1001",
        "verificationGasLimit": 1002, "callGasLimit": 1003 })
}

#[test]
fn the_operation_is_the_one_of_the_request_with_what_the_answer_returned() {
    let paymaster = "00000f79b7faf42eebadba19acc07cd08af44789";
    let exchange = exchange(&sponsored(&format!("0x{paymaster}aabb")));
    let operation = completed(&exchange).unwrap();
    assert!(!pays_in_tokens(&exchange));
    assert_eq!(format!("{:#x}", operation.paymaster().unwrap()), format!("0x{paymaster}"));
    let call = hex::encode(simulation_call(&operation));
    // The first four bytes of keccak256 of simulateValidation's signature, and the offset of its one argument.
    assert!(call.starts_with(&format!("ee219423{}", word(32))), "{call}");
    let head: Vec<&str> = (0..11).map(|place| &call[8 + 64 * (place + 1)..8 + 64 * (place + 2)]).collect();
    assert_eq!(head[0], "0000000000000000000000001306b01bc3e4ad202612d3843387e94737673f53");
    assert_eq!(
        [head[1], head[4], head[5], head[6], head[7], head[8]],
        [42, 1003, 1002, 1001, 20, 15].map(word)
    );
    assert!(call.contains(&format!("{}{paymaster}aabb", word(22))), "{call}");
    // Limits of call and verification, the latter for account, paymaster and postOp, and the third limit, at the highest fee.
    let own = validation_call(&operation, [7; 32].into());
    assert_eq!(own[4..][32..64], [7; 32]);
    assert_eq!(own[4..][64..96], bytes(&word((1003 + 3 * 1002 + 1001) * 20)));
}

#[test]
fn the_times_are_compared_with_our_clock_whatever_the_last_block_of_the_chain_says() {
    let simulated = |after: u64, until: u64| {
        let mut exchange = exchange(&sponsored(&format!("0x{}aabb", "22".repeat(20))));
        exchange.received = Some(UNIX_EPOCH + Duration::from_secs(NOW));
        let node = NodeFacts { chain: 1, entry_point: None, bundler: None };
        let mut simulation = ON_CHAIN.simulation.unwrap()(&exchange, &node).unwrap();
        let asked = simulation.next(None);
        assert!(matches!(asked, NodeStep::Ask("eth_call", _)), "{asked:?}");
        let CallOutcome::Reverted(data) = validation_result(false, after, until) else { panic!() };
        let error = json!({ "message": "execution reverted", "data": hex::encode_prefixed(data) });
        match simulation.next(Some(json!({ "error": error }).to_string().as_bytes())) {
            NodeStep::Known(outcome) => outcome,
            NodeStep::Ask(method, params) => panic!("{method} {params}"),
        }
    };
    assert_eq!(simulated(NOW, LATER), Simulation::Accepted);
    let refused = simulated(0, NOW - 200);
    assert!(matches!(refused, Simulation::Refused(Refusal::NotInTime, _)), "{refused:?}");
}

#[test]
fn an_operation_that_is_not_sponsored_is_not_simulated() {
    assert!(completed(&exchange(&sponsored("0x"))).is_none());
    assert!(completed(&exchange(&sponsored("no hex"))).is_none());
    assert!(completed(&exchange(&json!(null))).is_none());
    assert!(completed(&exchange(&sponsored("0xaa"))).unwrap().paymaster().is_none());
}

#[test]
fn only_a_refused_simulation_breaks_the_rule() {
    let judge = Judge::new(vec![SPECIFICATION.find_rule("on-chain.accepted").unwrap()]);
    let found = |on_chain: Option<Simulation>| {
        let exchange = Exchange { on_chain, ..exchange(&sponsored("0xaa")) };
        let mut context = Context::default();
        context.on_chain = true;
        let view = View::new(Role::Call, "", &exchange, &context);
        let judgement = judge.views(&[view], None, &context).pop();
        judgement.map(|judgement| (judgement.report.held, judgement.report.violations.len()))
    };
    assert_eq!(found(None), None);
    assert_eq!(found(Some(Simulation::Unclear("AA20".to_owned()))), None);
    assert_eq!(found(Some(Simulation::Accepted)), Some((1, 0)));
    let refused = Simulation::Refused(Refusal::Signature, "AA34 signature error".to_owned());
    assert_eq!(found(Some(refused)), Some((0, 1)));
}
