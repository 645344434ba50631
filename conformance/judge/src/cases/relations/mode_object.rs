//! Changes of the mode object (sections 2.3 and 2.4).

use paymaster_schemas::{Method, Mode, Pair};
use serde_json::{Map, Value, json};

use crate::cases::relations::edit::{
    ALL_PAIRS, MODE, address, baseline, item_of_round, member, remove, set, with_baseline,
};
use crate::{
    cases::case::{Base, BuildInput, Ids, Member, Order, Relation, Role, Rounds},
    target::context::Support,
};

const SPONSORED_PAIRS: &[Base] =
    &[Base::accepted(Pair::QUOTE_SPONSORED), Base::accepted(Pair::SPONSOR_SPONSORED)];

/// calculateGasLimits true and false.
pub static CALCULATE_GAS_LIMITS: Relation = Relation {
    id: "calculate-gas-limits",
    about: "the same call with calculateGasLimits true and false",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(6),
    order: Order::Sequential,
    members: calculate_gas_limits,
};

/// Expiry durations of many sizes.
pub static EXPIRY_DURATION: Relation = Relation {
    id: "expiry-duration",
    about: "the same sponsor request with other expiry durations",
    bases: &[Base::accepted(Pair::SPONSOR_SPONSORED)],
    rounds: Rounds::scaled(8),
    order: Order::Sequential,
    members: expiry_duration,
};

/// webhookData with content.
pub static WEBHOOK_DATA: Relation = Relation {
    id: "webhook-data",
    about: "the same call with webhookData of some content",
    bases: SPONSORED_PAIRS,
    rounds: Rounds::scaled(14),
    order: Order::Sequential,
    members: webhook_data,
};

/// Each smart account of the profile.
pub static SMART_ACCOUNTS: Relation = Relation {
    id: "smart-accounts",
    about: "the same call with two of the smart accounts that the profile names",
    bases: SPONSORED_PAIRS,
    rounds: Rounds::scaled(8),
    order: Order::Sequential,
    members: smart_accounts,
};

/// Both info objects in one request, as published clients send them.
pub static BOTH_INFOS: Relation = Relation {
    id: "both-infos",
    about: "the same call with tokenInfo beside sponsored mode, and sponsorshipInfo beside token mode",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(9),
    order: Order::Sequential,
    members: both_infos,
};

/// The name of sponsored mode that every sample request sends.
pub static SPONSORED_NAME: Relation = Relation {
    id: "sponsored-name",
    about: "the same call in the mode that the target serves, and in the mode SPONSORED",
    bases: SPONSORED_PAIRS,
    rounds: Rounds::Fixed(2),
    order: Order::Sequential,
    members: sponsored_name,
};

/// A quote in token mode with exactly the members of its row in section 4.1.
pub static TOKEN_QUOTE_ROW: Relation = Relation {
    id: "token-quote-row",
    about: "the same quote in token mode with calculateGasLimits, and with mode and tokenInfo alone",
    bases: &[Base::accepted(Pair::QUOTE_ERC20)],
    rounds: Rounds::Fixed(6),
    order: Order::Sequential,
    members: token_quote_row,
};

/// Sponsor requests that do not select a mode, which section 4.2 calls mandatory.
pub static WITHOUT_MODE: Relation = Relation {
    id: "without-mode",
    about: "sponsor requests without mode: of either mode, with both info objects, without calculateGasLimits",
    bases: &[Base::accepted(Pair::SPONSOR_SPONSORED), Base::accepted(Pair::SPONSOR_ERC20)],
    rounds: Rounds::scaled(6),
    order: Order::Sequential,
    members: without_mode,
};

fn without_mode(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let mut request = input.base.clone();
    remove(&mut request, MODE, "mode");
    let label = match input.round % 3 {
        1 => {
            let (name, info) = other_info(input, pair);
            set(&mut request, MODE, name, info);
            "no mode, and both info objects"
        }
        2 => {
            remove(&mut request, MODE, "calculateGasLimits");
            "no mode, and no calculateGasLimits"
        }
        _ => "no mode",
    };
    vec![member(Role::Malformed, label, request, ids)]
}

fn token_quote_row(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut request = input.base.clone();
    remove(&mut request, MODE, "calculateGasLimits");
    with_baseline(input, ids, "mode and tokenInfo alone", request)
}

fn sponsored_name(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut request = input.base.clone();
    set(&mut request, MODE, "mode", json!(Mode::Sponsored.name()));
    with_baseline(input, ids, "mode SPONSORED", request)
}

fn calculate_gas_limits(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let first = input.round.is_multiple_of(2);
    let with = |value: bool| {
        let mut request = input.base.clone();
        set(&mut request, MODE, "calculateGasLimits", json!(value));
        request
    };
    vec![
        member(Role::Baseline, format!("calculateGasLimits {first}"), with(first), ids),
        member(Role::Variant, format!("calculateGasLimits {}", !first), with(!first), ids),
    ]
}

/// The baseline has by turns 300 seconds, the duration of the sample, and no duration.
fn expiry_duration(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let seconds = *item_of_round(input, &[60_u32, 300, 600, 1_800, 3_600, 240, 120, 900]);
    let mut plain = input.base.clone();
    if input.round.is_multiple_of(2) {
        set(&mut plain, MODE, "expiryDuration", json!(300));
    } else {
        remove(&mut plain, MODE, "expiryDuration");
    }
    let mut request = input.base.clone();
    set(&mut request, MODE, "expiryDuration", json!(seconds));
    vec![
        member(Role::Baseline, "another expiryDuration, or none", plain, ids),
        member(Role::Variant, format!("expiryDuration {seconds}"), request, ids),
    ]
}

fn webhook_data(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let data = [
        json!({"campaign": "spring"}),
        json!({"a": 1, "b": [true, null], "c": {"d": "e"}}),
        json!({"": "an empty name", "user": {"id": 12_345_678_901_u64}}),
        json!({"text": "x".repeat(500)}),
        json!({"note": "zażółć 支付 \u{1F680}", "ключ": "значение"}),
        json!({"constructor": {"name": 1}, "length": -1, "toString": "x", "<b>": "&amp;'\""}),
        json!({"list": [[[[[[[[]]]]]]], 0.1, -7, 1.5e300, true, null], "id": "0x12"}),
    ];
    let with = |data: Value| {
        let mut request = input.base.clone();
        set(&mut request, "/params/1/sponsorshipInfo", "webhookData", data);
        request
    };
    let (empty, some) = (with(json!({})), with(item_of_round(input, &data).clone()));
    if input.round.is_multiple_of(2) {
        vec![
            member(Role::Baseline, "empty webhookData", empty, ids),
            member(Role::Variant, "webhookData of some content", some, ids),
        ]
    } else {
        vec![
            member(Role::Baseline, "webhookData of some content", some, ids),
            member(Role::Variant, "empty webhookData", empty, ids),
        ]
    }
}

/// Two accounts of the profile in each group, so that a target which refuses one of them is found whatever account the base has.
fn smart_accounts(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let accounts = &input.context.profile.accounts;
    if accounts.len() < 2 {
        return Vec::new();
    }
    let with = |round: u32| {
        let account = item_of_round(&BuildInput { round, ..*input }, accounts);
        let mut request = input.base.clone();
        let info = json!({"name": account.name, "version": account.version});
        set(&mut request, "/params/1/sponsorshipInfo", "smartAccountInfo", info);
        let label = format!("smart account {} {}", account.name, account.version);
        (request, label)
    };
    let (base, _) = with(input.round);
    let (request, label) = with(input.round.wrapping_add(1));
    with_baseline(&BuildInput { base: &base, ..*input }, ids, label, request)
}

fn both_infos(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    if input.round % 3 == 2 {
        return in_the_other_mode(input, pair, ids);
    }
    let mut request = input.base.clone();
    let (name, info) = other_info(input, pair);
    set(&mut request, MODE, name, info);
    vec![baseline(input, ids), member(Role::Variant, format!("{name} beside {}", pair.mode), request, ids)]
}

/// The name and a value of the info object that only the other mode has.
pub(super) fn other_info(input: &BuildInput<'_>, pair: Pair) -> (&'static str, Value) {
    if pair.mode == Mode::Erc20 {
        ("sponsorshipInfo", sponsorship_info(input))
    } else if input.round.is_multiple_of(2) {
        ("tokenInfo", json!({}))
    } else {
        ("tokenInfo", token_info(input, true, true))
    }
}

/// The same operation in the other mode, and then the baseline again: the target must answer each request in its own mode.
fn in_the_other_mode(input: &BuildInput<'_>, pair: Pair, ids: &mut Ids) -> Vec<Member> {
    let quote = pair.method == Method::GetFeeQuoteOrData;
    let mut request = input.base.clone();
    let mut mode = Map::new();
    if pair.mode == Mode::Sponsored {
        mode.insert("mode".to_owned(), json!(Mode::Erc20.name()));
        mode.insert("calculateGasLimits".to_owned(), json!(true));
        mode.insert("tokenInfo".to_owned(), token_info(input, quote, !quote));
    } else {
        mode.insert("mode".to_owned(), json!(input.context.dialect.sponsored_name));
        mode.insert("calculateGasLimits".to_owned(), json!(true));
        if !quote {
            mode.insert("expiryDuration".to_owned(), json!(300));
        }
        mode.insert("sponsorshipInfo".to_owned(), sponsorship_info(input));
    }
    request["params"][1] = Value::Object(mode);
    vec![
        baseline(input, ids),
        member(Role::Variant, "the same operation in the other mode", request, ids),
        member(Role::Variant, "the baseline again, after the other mode", input.base.clone(), ids),
    ]
}

fn token_info(input: &BuildInput<'_>, to_quote: bool, to_pay: bool) -> Value {
    let known = input.context.tokens_with(Support::Supported).next().map(str::to_owned);
    let token = known.unwrap_or_else(|| address(input, 1));
    let mut info = Map::new();
    if to_quote {
        info.insert("preferredToken".to_owned(), json!(token));
        info.insert("tokenList".to_owned(), json!([token]));
    }
    if to_pay {
        info.insert(input.context.dialect.fee_token_member.clone(), json!(token));
    }
    Value::Object(info)
}

fn sponsorship_info(input: &BuildInput<'_>) -> Value {
    let accounts = input.context.accounts();
    let account = item_of_round(input, &accounts);
    json!({"webhookData": {}, "smartAccountInfo": {"name": account.name, "version": account.version}})
}
