//! Changes of the mode object (sections 2.3 and 2.4).

use paymaster_schemas::{Mode, Pair};
use serde_json::json;

use super::edit::{MODE, address, baseline, beside, member, set, turn};
use crate::{
    case::{Base, Ids, Member, Order, Relation, Rounds, Seed},
    context::Support,
};

const ALL_PAIRS: &[Base] = &[
    Base::accepted(Pair::QUOTE_SPONSORED),
    Base::accepted(Pair::QUOTE_ERC20),
    Base::accepted(Pair::SPONSOR_SPONSORED),
    Base::accepted(Pair::SPONSOR_ERC20),
];
const SPONSORED_PAIRS: &[Base] = &[
    Base::accepted(Pair::QUOTE_SPONSORED),
    Base::accepted(Pair::SPONSOR_SPONSORED),
];

/// calculateGasLimits true and false.
pub static CALCULATE_GAS_LIMITS: Relation = Relation {
    id: "calculate-gas-limits",
    about: "the same call with calculateGasLimits true and false",
    bases: ALL_PAIRS,
    rounds: Rounds::Fixed(6),
    order: Order::Sequential,
    members: calculate_gas_limits,
};

/// Expiry durations of many sizes.
pub static EXPIRY_DURATION: Relation = Relation {
    id: "expiry-duration",
    about: "the same sponsor request with other expiry durations",
    bases: &[Base::accepted(Pair::SPONSOR_SPONSORED)],
    rounds: Rounds::Fixed(8),
    order: Order::Sequential,
    members: expiry_duration,
};

/// webhookData with content.
pub static WEBHOOK_DATA: Relation = Relation {
    id: "webhook-data",
    about: "the same call with webhookData of some content",
    bases: SPONSORED_PAIRS,
    rounds: Rounds::Fixed(4),
    order: Order::Sequential,
    members: webhook_data,
};

/// Each smart account of the profile.
pub static SMART_ACCOUNTS: Relation = Relation {
    id: "smart-accounts",
    about: "the same call with each smart account that the profile names",
    bases: SPONSORED_PAIRS,
    rounds: Rounds::Fixed(8),
    order: Order::Sequential,
    members: smart_accounts,
};

/// The info object of the other mode beside the own one, as published clients send both.
pub static BOTH_INFOS: Relation = Relation {
    id: "both-infos",
    about: "the same call with tokenInfo beside sponsored mode, and sponsorshipInfo beside token mode",
    bases: ALL_PAIRS,
    rounds: Rounds::Fixed(6),
    order: Order::Sequential,
    members: both_infos,
};

fn calculate_gas_limits(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let first = seed.twist.is_multiple_of(2);
    let with = |value: bool| {
        let mut request = seed.base.clone();
        set(&mut request, MODE, "calculateGasLimits", json!(value));
        request
    };
    vec![
        member(
            "baseline",
            format!("calculateGasLimits {first}"),
            with(first),
            ids,
        ),
        member(
            "variant",
            format!("calculateGasLimits {}", !first),
            with(!first),
            ids,
        ),
    ]
}

fn expiry_duration(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let seconds = *turn(seed, &[300_u32, 60, 600, 1_800, 3_600, 240, 120, 900]);
    let mut request = seed.base.clone();
    set(&mut request, MODE, "expiryDuration", json!(seconds));
    beside(seed, ids, format!("expiryDuration {seconds}"), request)
}

fn webhook_data(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let data = [
        json!({"campaign": "spring"}),
        json!({"a": 1, "b": [true, null], "c": {"d": "e"}}),
        json!({"": "an empty name", "user": {"id": 12_345_678_901_u64}}),
        json!({"text": "x".repeat(500)}),
    ];
    let mut request = seed.base.clone();
    set(
        &mut request,
        "/params/1/sponsorshipInfo",
        "webhookData",
        turn(seed, &data).clone(),
    );
    beside(seed, ids, "webhookData of some content", request)
}

fn smart_accounts(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let accounts = &seed.context.profile.accounts;
    if accounts.len() < 2 {
        return Vec::new();
    }
    let account = turn(seed, accounts);
    let mut request = seed.base.clone();
    let info = json!({"name": account.name, "version": account.version});
    set(
        &mut request,
        "/params/1/sponsorshipInfo",
        "smartAccountInfo",
        info,
    );
    beside(
        seed,
        ids,
        format!("smart account {} {}", account.name, account.version),
        request,
    )
}

fn both_infos(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = seed.pair else { return Vec::new() };
    let mut request = seed.base.clone();
    let (name, info) = if pair.mode == Mode::Sponsored {
        let known = seed
            .context
            .tokens_that_are(Support::Supported)
            .next()
            .map(str::to_owned);
        let token = known.unwrap_or_else(|| address(seed, 1));
        let info = if seed.twist.is_multiple_of(3) {
            json!({})
        } else {
            json!({"preferredToken": token, "tokenList": [token], "feeTokenAddress": token})
        };
        ("tokenInfo", info)
    } else {
        let accounts = seed.context.accounts();
        let account = turn(seed, &accounts);
        let info = json!({"webhookData": {}, "smartAccountInfo": {"name": account.name, "version": account.version}});
        ("sponsorshipInfo", info)
    };
    set(&mut request, MODE, name, info);
    vec![
        baseline(seed, ids),
        member("variant", format!("{name} beside {}", pair.mode), request, ids),
    ]
}
