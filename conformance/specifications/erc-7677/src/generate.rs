//! Base requests, as published clients write them: call data that decodes, nonces with keys, limits and fees of real chains.

use alloy_primitives::{Address, address};
use paymaster_engine::cases::{Base, BuildInput, Draw};
use paymaster_engine::generate::{RngExt, runner};
use paymaster_engine::knowledge::Knowledge;
use paymaster_ethereum::{AccountForm, CallContext, EntryPointVersion};
use paymaster_schemas::Kind;
use proptest::test_runner::{TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::kinds::{is_stub, version};
use crate::profile::{Accepts, Listed};
use crate::target::{FEES, GAS, Target};

/// Gas limits (call, verification, before verification) and fees (most, priority) of real operations, in gas and wei. A chain without a
/// base fee has equal fees, and an account that verifies a proof needs more than 2^20 gas.
const AMOUNTS: [([u64; 3], [u64; 2]); 6] = [
    ([55_000, 150_000, 46_500], [3_000_000_000, 100_000_000]),
    ([220_000, 420_000, 130_000], [1_001_000, 1_000_000]),
    ([90_100, 75_000, 48_000], [120_000_000_000, 30_000_000_000]),
    ([1_200_000, 650_000, 3_500_000], [45_000_000_000, 100_000_000]),
    ([130_000, 1_450_000, 80_000], [2_500_000_000, 2_500_000_000]),
    // A chain with a cheap coin, in a rush: it costs more than 2^63 wei, and its priority fee is above 2^35.
    ([1_400_000, 900_000, 3_100_000], [2_000_000_000_000, 40_000_000_000]),
];
/// What an operation has in a run whose cost is limited.
const CHEAP: ([u64; 3], [u64; 2]) = AMOUNTS[1];
/// Tokens of Ethereum that wallets approve and transfer in one batch: USDC, USDT and DAI.
const TOKENS: [Address; 3] = [
    address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    address!("dAC17F958D2ee523a2206206994597C13D831ec7"),
    address!("6B175474E89094C44Da98b954EedeAC495271d0F"),
];
/// The chain of requests to a target whose chain is not known.
const SOME_CHAIN: u64 = 1;

/// The sender of 8 % of the operations where any is accepted: an account sends many operations, and services count them.
const REGULAR: &str = "0x6d1a7b0c9e5f3d8a2c4b6e8f0a1d3c5b7e9f2a46";

/// The choice of a base of this kind, or of its method for another version where none of this one are sent.
const OF_A_SENT_VERSION: u8 = 1;

/// A base for what is about no version.
pub(crate) const fn of_a_sent_version(kind: Kind) -> Base {
    Base { choice: OF_A_SENT_VERSION, ..Base::accepted(kind) }
}

/// Draws base requests. The same seed, target and sequence of bases give the same requests.
pub(crate) struct Source {
    runner: TestRunner,
    target: Target,
}

impl Source {
    pub(crate) fn new(seed: u64, target: &Target) -> Self {
        Self { runner: runner(seed), target: target.clone() }
    }

    /// A whole valid request with the id 1 as a placeholder. None where the profile has no operation for it.
    pub(crate) fn base(&mut self, wanted: &Base) -> Option<Value> {
        let version = match version(wanted.pair) {
            version if wanted.choice == OF_A_SENT_VERSION && !self.target.sends(version) => {
                self.target.sent_versions().next()?
            }
            version => version,
        };
        let operations = &self.target.profile.operations;
        let of_version = |list: &[Listed]| -> Vec<Listed> {
            list.iter()
                .filter(|listed| listed.sender.is_some() || listed.version() == Some(version))
                .cloned()
                .collect()
        };
        if !self.target.sends(version) {
            return None;
        }
        let list = match wanted.draw {
            Draw::Refused => of_version(&operations.refused),
            Draw::Accepted | Draw::Sponsored => of_version(&operations.sponsorable),
        };
        let needs_listed = wanted.draw == Draw::Refused || operations.accepts == Accepts::Listed;
        if list.is_empty() && needs_listed {
            return None;
        }
        let is_listed = needs_listed || !list.is_empty() && operations.accepts != Accepts::Any;
        let mut operation = self.target_free_operation(version);
        if is_listed {
            let listed = self.runner.rng().pick(&list).clone();
            complete(&mut operation, &listed);
        } else if self.runner.rng().chance(8) {
            operation.insert("sender".to_owned(), json!(REGULAR));
            operation.insert("nonce".to_owned(), json!(self.runner.rng().hex(30).replacen("0x", "0x1", 1)));
        }
        if !is_stub(wanted.pair) && version != EntryPointVersion::V06 {
            for (member, limit) in self.target.paymaster_limits(version) {
                operation.entry(member).or_insert(limit);
            }
        }
        let chain = self.target.chain_id().unwrap_or(SOME_CHAIN);
        Some(json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": wanted.pair.method,
            "params": [operation, version.address().to_checksum(None), hex(chain), self.target.context()],
        }))
    }

    /// An operation that the profile does not list as refused.
    fn target_free_operation(&mut self, version: EntryPointVersion) -> Map<String, Value> {
        let is_cheap = self.target.spending_limits().is_some();
        let paymaster = self.target.paymaster(version);
        loop {
            let operation = operation(self.runner.rng(), version, paymaster, is_cheap);
            if !self.target.is_refused(version, &Value::Object(operation.clone())) {
                return operation;
            }
        }
    }
}

/// The base with an operation that the profile lists as refused, where it lists one.
pub(crate) fn refused(input: &BuildInput<'_>) -> Option<Value> {
    let (target, version) = (Target::of(input.context), version(input.pair));
    let mut listed = target.profile.operations.refused.iter();
    let listed = listed.find(|listed| listed.sender.is_some() || listed.version() == Some(version))?;
    let mut request = input.base.clone();
    complete(request["params"][0].as_object_mut()?, listed);
    Some(request)
}

/// A number in the shortest hex.
pub(crate) fn hex(number: u64) -> String {
    format!("0x{number:x}")
}

/// A random operation of an account that exists.
fn operation(
    rng: &mut TestRng,
    version: EntryPointVersion,
    paymaster: Option<Address>,
    is_cheap: bool,
) -> Map<String, Value> {
    let accounts: Vec<&AccountForm> = AccountForm::of(version).collect();
    let account = *rng.pick(&accounts);
    // Some accounts are at an address that was searched for.
    let sender = if rng.chance(6) { rng.hex(18).replacen("0x", "0x0000", 1) } else { rng.hex(20) };
    let own = sender.parse::<Address>().unwrap_or_default();
    // Accounts call themselves too, to add a module or an owner.
    let targets = [TOKENS.as_slice(), &[own]].concat();
    let context = CallContext { tokens: &targets, paymaster, most_calls: 10 };
    let mut draw = |bound| rng.below(bound);
    let call_data = account.call_data(&mut draw, &context).spelled(&mut draw);
    // An operation may create its account, or pay a fee, without a call. Accounts that pack their calls have any number of bytes.
    let call_data = match rng.below(25) {
        0 => "0x".to_owned(),
        1 => {
            let bytes = *rng.pick(&[21, 37, 53, 133]);
            rng.hex(bytes)
        }
        _ => call_data,
    };
    let sender = if rng.chance(50) { own.to_checksum(None) } else { sender };
    // Accounts count, or use the time in milliseconds as key: 13 bytes.
    let nonce = match rng.below(3) {
        0 => hex(rng.below(50)),
        1 => format!("0x{:x}{:016x}", 1_700_000_000_000_u64 + rng.below(1 << 36), rng.below(9)),
        _ => hex(rng.magnitude()),
    };
    let (gas, fees) = if is_cheap { CHEAP } else { *rng.pick(&AMOUNTS) };
    // Half of the amounts are not round, as what is estimated is. Equal fees stay equal.
    let mut more = || if rng.chance(50) { rng.below(100) } else { 0 };
    let gas = gas.map(|limit| limit + more());
    let more_fees = more();
    let fees = fees.map(|fee| fee + more_fees);
    let mut members = json!({ "sender": sender, "nonce": nonce });
    if version == EntryPointVersion::V06 {
        members["initCode"] = json!("0x");
    }
    members["callData"] = json!(call_data);
    for (member, value) in GAS.into_iter().chain(FEES).zip(gas.into_iter().chain(fees)) {
        members[member] = json!(hex(value));
    }
    if let Value::Object(members) = members { members } else { Map::new() }
}

/// Makes an operation the listed one. A listed operation without a call calls nothing.
fn complete(operation: &mut Map<String, Value>, listed: &Listed) {
    if let Some(sender) = &listed.sender {
        operation.insert("sender".to_owned(), json!(sender));
        return;
    }
    operation.insert("callData".to_owned(), json!("0x"));
    for (member, value) in &listed.operation {
        operation.insert(member.clone(), value.clone());
    }
}

/// The factory of an account for this version and the data that create it, `0x` and hex: one account after the other by a number, with data that
/// it draws.
pub(crate) fn new_account(version: EntryPointVersion, number: u64) -> (String, String) {
    let mut runner = runner(number);
    let accounts: Vec<&AccountForm> = AccountForm::of(version).collect();
    let account = accounts[usize::try_from(number).unwrap_or_default() % accounts.len()];
    let mut draw = |bound| runner.rng().below(bound);
    let data = account.factory_data(&mut draw).spelled(&mut draw);
    let factory = account.factory.to_checksum(None);
    (if draw(2) == 0 { factory } else { factory.to_ascii_lowercase() }, data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kinds::STUB_07, profile::read};

    #[test]
    fn what_is_about_no_version_is_sent_for_a_version_that_is_served() {
        for (served, address) in [
            ("0.6", EntryPointVersion::V06),
            ("0.7", EntryPointVersion::V07),
            ("0.9", EntryPointVersion::V09),
        ] {
            let profile = read(&format!("service.entry-points = [\"{served}\"]")).unwrap();
            let mut source = Source::new(1, &Target::new(profile));
            let request = source.base(&of_a_sent_version(STUB_07)).unwrap();
            assert_eq!(request["params"][1], address.address().to_checksum(None));
            assert_eq!(source.base(&Base::accepted(STUB_07)).is_some(), served == "0.7");
        }
    }

    #[test]
    fn where_any_operation_is_accepted_one_sender_has_many_with_a_nonce_each() {
        let nonces_of_the_regular = |accepts: &str| -> Vec<Value> {
            let listed = r#"sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1" } }]"#;
            let text =
                format!("service.entry-points = [\"0.7\"]\n[operations]\naccepts = \"{accepts}\"\n{listed}");
            let mut source = Source::new(1, &Target::new(read(&text).unwrap()));
            let bases = (0..400).filter_map(|_| source.base(&Base::accepted(STUB_07)));
            let operations = bases.map(|request| request["params"][0].clone());
            operations.filter(|own| own["sender"] == REGULAR).map(|own| own["nonce"].clone()).collect()
        };
        let mut nonces = nonces_of_the_regular("any");
        assert!((16..60).contains(&nonces.len()), "about 8 % of 400: {}", nonces.len());
        let all = nonces.len();
        nonces.sort_by_key(Value::to_string);
        nonces.dedup();
        assert_eq!(nonces.len(), all);
        assert!(nonces_of_the_regular("listed").is_empty());
    }
}
