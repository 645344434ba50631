//! Targets with policies of their own, as real ones have. They must do only what the profile states.

use crate::common::runs as common;
use crate::common::runs::RuleCounts;
use crate::*;

const KNOWN: &str = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4";

fn operation(nonce: &str, max_fee: &str) -> Map<String, Value> {
    let operation = json!({
        "sender": KNOWN, "nonce": nonce, "initCode": "0x", "callData": "0xb61d27f6",
        "callGasLimit": "35000", "verificationGasLimit": "100000", "preVerificationGas": "48000",
        "maxFeePerGas": max_fee, "maxPriorityFeePerGas": "0x3b9aca00",
    });
    operation.as_object().expect("it is one").clone()
}

/// As a vendor writes them down from a wallet's log: nonce and fees in hex.
fn sponsored() -> Vec<Map<String, Value>> {
    vec![operation("0x1a", "0x59682f00"), operation("0x1b", "0x59682f00")]
}

/// An operation whose fee is too high for the sponsor.
fn too_dear() -> Vec<Map<String, Value>> {
    vec![operation("0x1a", "0xba43b7400")]
}

/// A profile that lists both.
fn listing(accepts: Accepts) -> Operations {
    Operations { accepts, sponsorable: sponsored(), refused: too_dear(), ..Operations::default() }
}

fn profile(operations: Operations) -> Profile {
    Profile { operations, ..common::profile(&Config::default()) }
}

fn service() -> Service {
    Service::new(&Config::default()).expect("the default configuration is sound")
}

fn refusal(request: &Value) -> (u16, Vec<u8>) {
    let error = json!({"code": -32500, "message": "AA23 reverted"});
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
    (200, answer.to_string().into_bytes())
}

/// The answer of our service with `0x` where the policy does not sponsor.
fn decided(service: &Service, body: &[u8], sponsors: bool) -> (u16, Vec<u8>) {
    let (status, text) = answer(service, body);
    let mut answer: Value = serde_json::from_slice(&text).unwrap_or_default();
    if !sponsors && answer["result"]["MODE"] == "SPONSORED" {
        answer["result"]["paymasterAndData"] = json!("0x");
        return (status, answer.to_string().into_bytes());
    }
    (status, text)
}

/// Whether a request is a single call, whose operation a policy looks at.
fn call(body: &[u8]) -> Option<Value> {
    let request: Value = serde_json::from_slice(body).ok()?;
    request["params"][1]["mode"].as_str()?;
    (request["params"][0].is_object() && request["id"] != Value::Null).then_some(request)
}

#[track_caller]
fn nothing_stated_is_broken(found: &RuleCounts) {
    let stated = found
        .broken
        .iter()
        .filter(|(rule, _)| SPECIFICATION.find_rule(rule).is_some_and(|rule| rule.basis() == Basis::Stated));
    let stated: Vec<_> = stated.collect();
    assert!(stated.is_empty(), "{stated:#?}");
}

#[track_caller]
fn reached(found: &RuleCounts, rules: &str) {
    for rule in rules.split(' ') {
        assert!(found.held.get(rule).is_some_and(|times| *times >= 5), "{rule} was not reached");
    }
}

/// With several seeds, nothing stated is broken and these rules are reached.
#[track_caller]
fn lawful(paymaster: &Paymaster<'_>, profile: &Profile, rules: &str) {
    for seed in 1..3 {
        let found = common::run_against(paymaster, profile.clone(), seed);
        nothing_stated_is_broken(&found);
        reached(&found, rules);
    }
}

#[test]
fn a_target_that_simulates_may_serve_only_listed_operations_exactly_as_listed() {
    let service = service();
    let paymaster = |body: &[u8]| {
        let Some(request) = call(body) else { return answer(&service, body) };
        let sent = request["params"][0].as_object().expect("a call has one");
        let is = |known: &Map<String, Value>| {
            let of_gas =
                |name: &str| name.contains("Gas") && !name.contains("Fee") && !name.contains("PerGas");
            known
                .iter()
                .all(|(name, value)| sent.get(name).map_or(of_gas(name), |answered| answered == value))
        };
        if too_dear().iter().any(is) {
            decided(&service, body, false)
        } else if sponsored().iter().any(is) {
            answer(&service, body)
        } else {
            refusal(&request)
        }
    };
    let operations = listing(Accepts::Listed);
    lawful(
        &paymaster,
        &profile(operations),
        "sponsor.sponsorable-is-sponsored sponsor.refused-gets-0x sponsor.sponsored-result sponsor.erc20-result \
         request.gas-fields-optional sponsor.decision-inputs",
    );
}

#[test]
fn a_policy_may_decide_by_any_member_of_operation_and_sponsorship_info() {
    let service = service();
    let paymaster = |body: &[u8]| {
        let Some(request) = call(body) else { return answer(&service, body) };
        let (operation, info) = (&request["params"][0], &request["params"][1]["sponsorshipInfo"]);
        let sponsors = operation["sender"] == KNOWN
            && operation["maxFeePerGas"] == "0x59682f00"
            && info["webhookData"].as_object().is_none_or(Map::is_empty)
            && info["smartAccountInfo"]["name"] != "INFINITISM";
        decided(&service, body, sponsors)
    };
    let operations = listing(Accepts::Any);
    lawful(
        &paymaster,
        &profile(operations),
        "sponsor.sponsorable-is-sponsored sponsor.refused-gets-0x request.nonce-uint256 sponsor.decision-inputs",
    );
}

/// An operation without `initCode` is another one than with `0x`: section 2.2 leaves open what follows from that.
#[test]
fn a_policy_may_decide_by_the_presence_of_a_member_of_the_operation() {
    let service = service();
    let paymaster = |body: &[u8]| {
        let sponsors = call(body).is_none_or(|request| request["params"][0].get("initCode").is_some());
        decided(&service, body, sponsors)
    };
    let operations = Operations { accepts: Accepts::Any, ..Operations::default() };
    lawful(&paymaster, &profile(operations), "sponsor.decision-inputs");
}

#[test]
fn a_target_that_never_sponsors_must_keep_to_its_profile() {
    let service = service();
    let operations = |sponsors| Operations { accepts: Accepts::Any, sponsors, ..Operations::default() };
    let never = |body: &[u8]| decided(&service, body, false);
    let found = common::run_against(&never, profile(operations(None)), 1);
    nothing_stated_is_broken(&found);
    assert!(!found.held.contains_key("sponsor.sponsorable-is-sponsored"));
    let found = common::run_against(&never, profile(operations(Some(Sponsors::None))), 1);
    nothing_stated_is_broken(&found);
    reached(&found, "sponsor.refused-gets-0x request.nonce-uint256");
    let found = common::run_against(&never, profile(operations(Some(Sponsors::Any))), 1);
    assert!(found.broken.contains_key("sponsor.sponsorable-is-sponsored"));
    let found = common::run(&service, profile(operations(Some(Sponsors::None))), 1);
    assert!(found.broken.contains_key("sponsor.refused-gets-0x"));
}

#[test]
fn a_target_may_bound_gas_and_fees() {
    let service = service();
    let paymaster = |body: &[u8]| {
        let Some(request) = call(body) else { return answer(&service, body) };
        // A priority fee of 0 is one that wallets send.
        let bounded = ["callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas"]
            .iter()
            .filter_map(|name| request["params"][0].get(*name))
            .all(|amount| {
                amount.as_str().is_some_and(|text| text != "0" && text != "0x0" && text.len() < 19)
            });
        if bounded { answer(&service, body) } else { refusal(&request) }
    };
    for seed in 1..3 {
        let found = common::run_against(&paymaster, common::profile(&Config::default()), seed);
        nothing_stated_is_broken(&found);
    }
}
