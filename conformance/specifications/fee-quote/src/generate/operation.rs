//! Partial user operations (section 2.2) for a target: all nine members, realistic sizes, the target's notation.

use alloy_primitives::Address;
use num_bigint::BigUint;
use paymaster_ethereum::{ACCOUNTS, CallContext};
use paymaster_schemas::validator_for;
use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::strategy::Union;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value};

use crate::generate::tokens::random_address;
use crate::tables::{FEES, GAS};
use crate::target::{Accepts, Amounts, CALL_DATA_BYTES, Context, Operations, Sponsors, Support, is_address};
use paymaster_engine::cases::Draw;
use paymaster_engine::generate::boundary;
use paymaster_engine::generate::{Notation, Overrides, RngExt, Unsupported, drawn, strategy};
use paymaster_engine::knowledge::Knowledge as _;

/// The nine members of the table.
const MEMBERS: [&str; 9] = [
    "sender",
    "nonce",
    "initCode",
    "callData",
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
];

/// Wei in a gwei.
const GWEI: u64 = 1_000_000_000;
/// The most calls in a batch.
const MOST_CALLS: u64 = 10;
/// The longest call data and initCode that do not decode, in bytes.
const OPAQUE_BYTES: usize = 300;
/// How often, in percent, an account is yet to be deployed.
const DEPLOYING: u64 = 20;
/// How often, in percent, a nonce is a boundary value, where any operation is accepted.
const BOUNDARY_NONCES: u64 = 4;
/// How many of 1,000 nonces are that of the first operation of an account.
const FIRST_NONCES: u64 = 100;
/// How often, in percent, a nonce has a key, where any operation is accepted.
const KEYED_NONCES: u64 = 6;
/// How often, in percent, initCode and call data are those of a published account.
const OF_WALLETS: u64 = 85;
/// How often, in percent, gas limits and fees are those of a real chain.
const OF_CHAINS: u64 = 25;

/// Gas limits (call, verification, pre-verification) of real operations.
const GAS_OF_CHAINS: [[u64; 3]; 4] = [
    [9_100, 75_000, 48_000],
    [55_000, 150_000, 46_500],
    [220_000, 420_000, 130_000],
    [1_200_000, 650_000, 3_500_000],
];

/// Fees of the cheapest of these chains, and gas limits of a transfer: what an operation has that the target may pay for.
const CHEAP_FEES: [u64; 2] = FEES_OF_CHAINS[0];
const CHEAP_GAS: [u64; 3] = GAS_OF_CHAINS[1];

/// Fees (maximum, priority) of real chains, in wei: a rollup, a test network, a side chain, a main network, and a chain whose clients send
/// one price as both.
const FEES_OF_CHAINS: [[u64; 2]; 5] = [
    [1_001_000, 1_000_000],
    [3_000_000_000, 0],
    [120_000_000_000, 30_000_000_000],
    [45_000_000_000, 100_000_000],
    [1_500_000_000, 1_500_000_000],
];

/// The strategy of the operations for `draw`; none when the profile has none.
pub(super) fn operations(context: &Context, draw: Draw) -> Result<Option<BoxedStrategy<Value>>, Unsupported> {
    let known = &context.profile.operations;
    // The target may sponsor any of them.
    let generated = |context: &Context, sender| {
        let operations = generated(context, sender)?;
        Ok(if context.spending_limits().is_some() { cheap(context, operations) } else { operations })
    };
    match draw {
        Draw::Accepted | Draw::Sponsored => {
            let sponsorable = listed(context, &known.sponsorable);
            if sponsorable.is_empty() {
                return generated(context, None).map(Some);
            }
            let listed = one_of(context, sponsorable)?;
            let only_listed = draw == Draw::Sponsored && known.sponsors() != Sponsors::Any;
            if known.accepts == Accepts::Any && !only_listed {
                return Ok(Some(Union::new([generated(context, None)?, listed]).boxed()));
            }
            Ok(Some(listed))
        }
        Draw::Refused => {
            let refused = listed(context, &known.refused);
            let senders = known.refused_senders.iter().filter(|sender| is_address(sender));
            let senders: Vec<String> = senders.cloned().collect();
            let mut either = Vec::new();
            if !refused.is_empty() {
                either.push(one_of(context, refused)?);
            }
            if known.sponsors() == Sponsors::None && known.accepts == Accepts::Any {
                either.push(generated(context, None)?);
            }
            if !senders.is_empty() {
                let sender = drawn(move |rng| Value::String(rng.pick(&senders).clone()));
                either.push(generated(context, Some(sender))?);
            }
            Ok((!either.is_empty()).then(|| Union::new(either).boxed()))
        }
    }
}

/// Operations with the lowest gas limits and fees of real chains.
fn cheap(context: &Context, operations: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let (quantities, limits) = notations(context.dialect.amount_notation);
    let cheaper = move |mut operation: Value| {
        set_amounts(&mut operation, CHEAP_GAS, CHEAP_FEES, (quantities, limits));
        operation
    };
    operations.prop_map(cheaper).boxed()
}

/// A random operation, with a random sender unless one is given.
fn generated(
    context: &Context,
    sender: Option<BoxedStrategy<Value>>,
) -> Result<BoxedStrategy<Value>, Unsupported> {
    let (quantities, limits) = notations(context.dialect.amount_notation);
    let known = &context.profile.operations;
    let any_nonce = known.accepts == Accepts::Any || known.varies("nonce");
    let wallet = Wallet::of(context);
    let refused = context.profile.operations.refused_senders.clone();
    let fresh = drawn(move |rng| {
        loop {
            let sender = random_address(rng);
            if !refused.iter().any(|known| known.eq_ignore_ascii_case(&sender)) {
                return Value::String(sender);
            }
        }
    });
    let gas = |low, high| drawn(move |rng| limits.write(&rng.between(low, high).into()));
    let mut overrides = Overrides::new()
        .value("/sender", sender.unwrap_or(fresh))
        .value("/nonce", drawn(move |rng| nonce(rng, quantities, any_nonce)))
        .value("/initCode", drawn(|rng| Value::String(init_code(rng))))
        .value("/callData", drawn(move |rng| Value::String(wallet.call_data(rng))))
        .value("/callGasLimit", gas(21_000, 5_000_000))
        .value("/verificationGasLimit", gas(21_000, 2_000_000))
        .value("/preVerificationGas", gas(21_000, 500_000))
        .value("/maxFeePerGas", drawn(move |rng| quantities.write(&rng.between(GWEI, 500 * GWEI).into())))
        // At most the smallest maxFeePerGas: every chain refuses a tip above the whole fee.
        .value("/maxPriorityFeePerGas", drawn(move |rng| quantities.write(&rng.between(1, GWEI).into())));
    for member in MEMBERS {
        overrides = overrides.always(&format!("/{member}"));
    }
    let drawn_operation = strategy("user-operation", &overrides)?;
    Ok(drawn_operation
        .prop_perturb(move |operation, mut rng| of_a_chain(operation, &mut rng, (quantities, limits)))
        .boxed())
}

/// The operation, sometimes with the gas limits and fees of a real chain.
fn of_a_chain(mut operation: Value, rng: &mut TestRng, notations: (Notation, Notation)) -> Value {
    if !rng.chance(OF_CHAINS) {
        return operation;
    }
    let gas = *rng.pick(&GAS_OF_CHAINS);
    set_amounts(&mut operation, gas, *rng.pick(&FEES_OF_CHAINS), notations);
    operation
}

fn set_amounts(
    operation: &mut Value,
    gas: [u64; 3],
    fees: [u64; 2],
    (quantities, limits): (Notation, Notation),
) {
    for (name, amount) in GAS.into_iter().zip(gas) {
        operation[name] = limits.write(&amount.into());
    }
    for (name, amount) in FEES.into_iter().zip(fees) {
        operation[name] = quantities.write(&amount.into());
    }
}

/// How often, in percent, a member of a listed operation that may vary has another value than the listed one.
const VARIED: u64 = 50;

/// One of the profile's operations. Members that it leaves out, and sometimes those that may vary, are drawn.
fn one_of(context: &Context, listed: Vec<Map<String, Value>>) -> Result<BoxedStrategy<Value>, Unsupported> {
    let fresh = cheap(context, generated(context, None)?);
    let varying = varying(&context.profile.operations);
    let choice = drawn(move |rng| {
        let mut choice = rng.pick(&listed).clone();
        for members in &varying {
            if rng.chance(VARIED) {
                choice.extend(members.iter().map(|member| ((*member).to_owned(), VARY)));
            }
        }
        Value::Object(choice)
    });
    let filled = (fresh, choice).prop_map(|(fresh, choice)| {
        let mut operation = Map::with_capacity(MEMBERS.len());
        for member in MEMBERS {
            let value = match (choice.get(member), member) {
                (Some(&VARY), _) => fresh[member].clone(),
                (Some(value), _) => value.clone(),
                // Empty when the profile leaves it out: a drawn value would make it another operation.
                (None, "initCode" | "callData") => Value::String("0x".to_owned()),
                // The priority fee is never above the maximum fee.
                (None, "maxFeePerGas" | "maxPriorityFeePerGas") => {
                    FEES.iter().find_map(|fee| choice.get(*fee)).unwrap_or(&fresh[member]).clone()
                }
                (None, _) => fresh[member].clone(),
            };
            operation.insert(member.to_owned(), value);
        }
        Value::Object(operation)
    });
    Ok(filled.boxed())
}

/// In place of a member that is drawn: no valid operation has it.
const VARY: Value = Value::Null;

/// The members that may vary. The fees vary together or not at all, so that the priority fee is never above the maximum fee.
fn varying(operations: &Operations) -> Vec<Vec<&'static str>> {
    let fees = FEES.iter().all(|fee| operations.varies(fee));
    let others = MEMBERS.into_iter().filter(|member| operations.varies(member) && !FEES.contains(member));
    let others = others.map(|member| vec![member]);
    others.chain(fees.then(|| FEES.to_vec())).collect()
}

/// The operations of the profile that can be sent: those that have a sender and are well formed.
fn listed(context: &Context, operations: &[Map<String, Value>]) -> Vec<Map<String, Value>> {
    let Some(validator) = validator_for("user-operation") else { return Vec::new() };
    let (quantities, _) = notations(context.dialect.amount_notation);
    let whole = |operation: &&Map<String, Value>| {
        let mut operation = (*operation).clone();
        for (member, filler) in [
            ("callData", Value::String("0x".to_owned())),
            ("nonce", quantities.write(&0_u64.into())),
            ("maxFeePerGas", quantities.write(&1_u64.into())),
            ("maxPriorityFeePerGas", quantities.write(&1_u64.into())),
        ] {
            operation.entry(member).or_insert(filler);
        }
        validator.is_valid(&Value::Object(operation))
    };
    operations.iter().filter(whole).cloned().collect()
}

/// The notation of nonce and fees, and that of gas limits.
fn notations(amounts: Amounts) -> (Notation, Notation) {
    match amounts {
        Amounts::Decimal => (Notation::Decimal, Notation::Decimal),
        Amounts::Hex => (Notation::Hex, Notation::Hex),
        Amounts::Mixed => (Notation::Hex, Notation::Decimal),
    }
}

fn nonce(rng: &mut TestRng, notation: Notation, boundaries: bool) -> Value {
    if boundaries && rng.chance(BOUNDARY_NONCES) {
        return notation.write(rng.pick(boundary::amounts()));
    }
    if boundaries && rng.chance(KEYED_NONCES) {
        // The key is an address, as that of a validator, or of 192 bits.
        let key = rng.pick(&[20, 24]);
        let digits = format!("{}{:016x}", &rng.hex(*key)[2..], rng.below(50));
        return notation.write(&BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default());
    }
    // An account counts from 0.
    notation.write(&rng.below(1_000).saturating_sub(FIRST_NONCES).into())
}

/// Empty for a deployed account; otherwise the factory and its call data.
fn init_code(rng: &mut TestRng) -> String {
    if !rng.chance(DEPLOYING) {
        return "0x".to_owned();
    }
    if rng.chance(OF_WALLETS) {
        let account = rng.pick(ACCOUNTS);
        let encoded = account.init_code(&mut |bound| rng.below(bound));
        return encoded.spelled(&mut |bound| rng.below(bound));
    }
    let arguments = rng.count(4, 100);
    rng.hex(20 + arguments)
}

/// What the calls of a target's users are about.
struct Wallet {
    /// The supported tokens.
    tokens: Vec<Address>,
    /// The paymaster of the target's quotes.
    paymaster: Option<Address>,
    /// The longest call data, in bytes.
    most: usize,
}

impl Wallet {
    fn of(context: &Context) -> Self {
        let limit = context.limits.call_data_bytes.unwrap_or(CALL_DATA_BYTES).min(CALL_DATA_BYTES);
        Self {
            tokens: context.tokens_with(Support::Supported).filter_map(|token| token.parse().ok()).collect(),
            paymaster: context.quoted.paymaster.as_ref().and_then(|paymaster| paymaster.parse().ok()),
            most: usize::try_from(limit).unwrap_or(usize::MAX),
        }
    }

    /// Call data of a published account, in a batch of as many calls as the limit leaves room for; sometimes data that do not decode.
    fn call_data(&self, rng: &mut TestRng) -> String {
        if rng.chance(OF_WALLETS) {
            let account = rng.pick(ACCOUNTS);
            for most_calls in [MOST_CALLS, 2, 1] {
                let calls = CallContext { tokens: &self.tokens, paymaster: self.paymaster, most_calls };
                let encoded = account.call_data(&mut |bound| rng.below(bound), &calls);
                if encoded.bytes.len() <= self.most {
                    return encoded.spelled(&mut |bound| rng.below(bound));
                }
            }
        }
        let selector = 4.min(self.most);
        let bytes = rng.count(selector, self.most.min(OPAQUE_BYTES));
        rng.hex(bytes)
    }
}
