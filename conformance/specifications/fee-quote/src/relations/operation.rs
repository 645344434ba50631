//! Changes of the user operation (section 2.2).

use num_bigint::BigUint;
use paymaster_engine::cases::{
    Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds, baseline, compared, item_of_round, member,
    remove, set, with, with_baseline, with_own_id,
};
use paymaster_ethereum::ACCOUNTS;
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::relations::{MODE, OPERATION};
use crate::tables::{FEES, GAS};
use crate::target::{BOUNDS, Context, hex};

/// All eight combinations of the three optional gas members, in token mode.
pub static GAS_FIELDS: Relation = Relation::new(
    "gas-fields",
    "all eight combinations of the three optional gas limits when sponsoring in token mode",
)
.of(Bases::These(&[Base::accepted(kinds::SPONSOR_ERC20)]), Rounds::scaled(16), |input, ids| {
    let left_out: Vec<&str> = (0..3).filter(|bit| input.round >> bit & 1 == 1).map(|bit| GAS[bit]).collect();
    if left_out.is_empty() {
        return vec![baseline(input, ids)];
    }
    let mut request = input.base.clone();
    for name in &left_out {
        remove(&mut request, OPERATION, name);
    }
    with_baseline(input, ids, format!("without {}", left_out.join(", ")), request)
})
.first(4);

/// The nine listed members, compared with the same and the members that some clients add.
pub static LISTED_FIELDS: Relation = Relation::new(
    "listed-fields",
    "the listed members of the operation alone, beside the same with signature and \
     paymasterAndData",
)
.of(Bases::EveryKind, Rounds::Fixed(3), |input, ids| {
    let full = with(input.base, OPERATION, "paymasterAndData", "0x");
    let full = with(&full, OPERATION, "signature", "0x");
    // The baseline has more members than the specification lists: a target that serves it must serve the listed members alone.
    compared(
        ids,
        ("with signature and paymasterAndData", full),
        ("only the listed members of the operation", input.base.clone()),
    )
});

/// Every row of the table of ordinary sizes: a request just inside it, one well within it, and one just beyond. What is beyond may be
/// refused, so that the form of its answer alone is judged.
pub static SIZES: Relation = Relation::new(
    "sizes",
    "the same call with one part just inside its ordinary or promised size, well within it, \
     and just beyond",
)
.of(Bases::EveryKind, Rounds::Scaled { most: 11, least: 4 }, sizes);

fn sizes(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let context = Context::of(input.context);
    let bound = item_of_round(input, BOUNDS);
    let most = bound.promised(&context.limits);
    // A service may fail at either: what wallets send, and what the profile promises beyond it.
    let is_quote = kinds::is_quote(input.pair);
    let largest = if is_quote { most.min(bound.most) } else { most };
    let write = |name: &str, amount: BigUint| json!(context.dialect.written(name, &amount));
    let mut members = vec![baseline(input, ids)];
    for (role, part, size) in [
        (Role::Variant, "just inside its largest size", most),
        (Role::Variant, "within its largest size", largest / 2 + 7),
        (Role::Probe, "just beyond its largest size", most.saturating_add(1)),
    ] {
        if let Some(request) = bound.resized(input.base, size, &write) {
            let label = format!("{part}: {}", bound.in_words(&context.limits));
            let has_own_id = request["id"] != input.base["id"];
            members.push(if has_own_id {
                with_own_id(role, label, &request)
            } else {
                member(role, label, request, ids)
            });
        }
    }
    if members.len() == 1 { Vec::new() } else { members }
}

/// Nonces up to 2^256-1.
pub static NONCES: Relation = Relation::new(
    "nonces",
    "nonces at the edges of 32, 53, 64, 128 and 256 bits, with keys of 160 and 192 bits",
)
.of(Bases::EveryKind, Rounds::Scaled { most: 11, least: 5 }, nonces);

/// Gas limits and fees at the edges. Section 2.2 gives no range, so an error is lawful: only the form of the answer is judged.
pub static AMOUNTS: Relation = Relation::new(
    "amounts",
    "gas limits and fees of zero and at the edges of 53, 64 and 256 bits, each alone and all \
     together",
)
.of(Bases::EveryKind, Rounds::scaled(4), amounts);

/// Accounts that are not deployed yet.
pub static INIT_CODE: Relation = Relation::new(
    "init-code",
    "the same call with an initCode that is not empty: of some lengths, of each published account",
)
.of(Bases::EveryKind, Rounds::scaled(5), |input, ids| {
    let bytes = *item_of_round(input, &[20_usize, 88, 21, 300, 1_000]);
    let mut members =
        changed(input, ids, "initCode", &hex(bytes, input.round), format!("initCode of {bytes} bytes"));
    let accounts: Vec<_> = ACCOUNTS.chunks(ACCOUNTS.len().div_ceil(5)).collect();
    let mut draw = |bound| u64::from(input.round) % bound;
    for account in *item_of_round(input, &accounts) {
        let code = account.init_code(&mut draw).spelled(&mut draw);
        let of_account = changed(input, ids, "initCode", &code, format!("initCode of {}", account.name));
        members.extend(of_account.into_iter().skip(members.len().min(1)));
    }
    members
});

/// Call data from empty to large.
pub static CALL_DATA: Relation = Relation::new("call-data", "call data from none to 24 kilobytes").of(
    Bases::EveryKind,
    Rounds::scaled(7),
    |input, ids| {
        let limit = Context::of(input.context).limits.call_data_bytes;
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let bytes = (*item_of_round(input, &[0_usize, 1, 4, 1_000, 8_192, 24_576, 68])).min(limit);
        let data = hex(bytes, input.round);
        if input.round % 7 == 6 {
            let upper = format!("0x{}", data[2..].to_ascii_uppercase());
            return changed(input, ids, "callData", &upper, "call data in upper-case hex digits".to_owned());
        }
        changed(input, ids, "callData", &data, format!("call data of {bytes} bytes"))
    },
);

/// Hex digits of the nonces, small ones first.
const NONCES_HEX: &[&str] = &[
    "0",
    "1",
    "ffffffff",
    "20000000000001",
    "ffffffffffffffff",
    "10000000000000000",
    "ffffffffffffffffffffffffffffffff",
    // The key of a validator, which is an address, and one of 192 bits; both before a sequence of 64 bits.
    "d9ab5096a832b9ce79914329daee236f8eea03900000000000000003",
    "f001d9ab5096a832b9ce79914329daee236f8eea0390bd010000000000000000",
    "8000000000000000000000000000000000000000000000000000000000000000",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

fn nonces(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let digits = *item_of_round(input, NONCES_HEX);
    let nonce = written(input, "nonce", digits);
    changed(input, ids, "nonce", &nonce, format!("nonce 0x{digits}"))
}

/// Hex digits of gas limits and fees.
const AMOUNTS_HEX: &[&str] = &[
    "0",
    "20000000000001",
    "10000000000000000",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

fn amounts(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let digits = *item_of_round(input, AMOUNTS_HEX);
    let mut all = input.base.clone();
    let mut members = Vec::new();
    for name in GAS.into_iter().chain(FEES) {
        let amount = Value::String(written(input, name, digits));
        let one = with(input.base, OPERATION, name, amount.clone());
        members.push(member(Role::Call, format!("{name} 0x{digits}"), one, ids));
        set(&mut all, OPERATION, name, amount);
    }
    for calculated in [true, false] {
        set(&mut all, MODE, "calculateGasLimits", json!(calculated));
        let label = format!("gas limits and fees 0x{digits}, calculateGasLimits {calculated}");
        members.push(member(Role::Call, label, &all, ids));
    }
    members
}

/// An amount as the target's dialect writes it.
fn written(input: &BuildInput<'_>, name: &str, digits: &str) -> String {
    let amount = BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default();
    Context::of(input.context).dialect.written(name, &amount)
}

/// The baseline, and the same with another value of one member. Empty when the profile refuses only the changed operation.
fn changed(input: &BuildInput<'_>, ids: &mut Ids, name: &str, value: &str, label: String) -> Vec<Member> {
    let request = with(input.base, OPERATION, name, value);
    let is_refused = |request: &Value| {
        let params = &request["params"];
        Context::of(input.context).expectation(input.pair, &params[0], &params[1]).forbids_grant()
    };
    if is_refused(&request) && !is_refused(input.base) {
        Vec::new()
    } else {
        with_baseline(input, ids, label, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_and_every_nonce_has_its_round() {
        assert_eq!(SIZES.rounds.count(u32::MAX) as usize, BOUNDS.len());
        assert_eq!(NONCES.rounds.count(u32::MAX) as usize, NONCES_HEX.len());
        // A bound without requests of its size has another relation, or is about more than a size.
        let request = json!({"id": 1, "params": [
            {"callData": "0x", "initCode": "0x", "callGasLimit": "1", "maxFeePerGas": "1", "maxPriorityFeePerGas": "1"},
            {"expiryDuration": 60, "sponsorshipInfo": {"webhookData": {}}},
        ]});
        let write = |_: &str, amount: BigUint| json!(amount.to_string());
        let not_sent = BOUNDS.iter().filter(|bound| bound.resized(&request, bound.most, &write).is_none());
        assert_eq!(
            not_sent.map(|bound| bound.beyond).collect::<Vec<_>>(),
            [
                "a list of more than {} tokens",
                "a token that is in the list more than once",
                "maxPriorityFeePerGas above maxFeePerGas",
            ]
        );
    }
}
