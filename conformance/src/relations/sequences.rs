//! Sequences of requests: what came before, or comes at the same time, must not change an answer.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::edit::{MODE, OPERATION, as_it_stands, baseline, member, remove, set};
use crate::{
    case::{Base, Ids, Member, Order, Relation, Rounds, Seed},
    context::{Context, Support},
    rules::SAME_DECISION,
};

/// The same operation and sponsorshipInfo, everything else changed.
pub static DECISION: Relation = Relation {
    id: "decision",
    about: "the same operation and sponsorshipInfo with another id, expiryDuration, calculateGasLimits, unrelated members, and after other requests",
    bases: &[
        Base::accepted(Pair::SPONSOR_SPONSORED),
        Base::refused(Pair::SPONSOR_SPONSORED),
    ],
    rounds: Rounds::Fixed(16),
    order: Order::Sequential,
    members: decision,
};

/// A request, others that differ from it in one thing, and the request again.
pub static LATER: Relation = Relation {
    id: "later",
    about: "a call, the same with another token, mode, sender or the same id, and the first call again",
    bases: &[
        Base::accepted(Pair::QUOTE_SPONSORED),
        Base::accepted(Pair::QUOTE_ERC20),
        Base::accepted(Pair::SPONSOR_SPONSORED),
        Base::accepted(Pair::SPONSOR_ERC20),
    ],
    rounds: Rounds::Fixed(12),
    order: Order::Sequential,
    members: later,
};

/// Different calls at the same time.
pub static CONCURRENT: Relation = Relation {
    id: "concurrent",
    about: "calls with distinct ids, tokens, modes and methods at the same time",
    bases: &[
        Base::accepted(Pair::QUOTE_ERC20),
        Base::accepted(Pair::SPONSOR_SPONSORED),
    ],
    rounds: Rounds::Fixed(12),
    order: Order::Concurrent,
    members: concurrent,
};

fn decision(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut members = vec![baseline(seed, ids)];
    let mut same = |label: &str, request: Value, ids: &mut Ids| {
        members.push(member(SAME_DECISION, label, request, ids));
    };
    let base = seed.base;
    match seed.twist % 8 {
        0 => {
            for _ in 0..4 {
                same("the same request again", base.clone(), ids);
            }
        }
        1 => {
            for id in [json!(0), json!(7_777_777), json!("an id of letters"), json!("")] {
                let mut request = base.clone();
                request["id"] = id;
                members.push(as_it_stands(
                    SAME_DECISION,
                    format!("id {}", request["id"]),
                    &request,
                ));
            }
        }
        2 => {
            for seconds in [1_u32, 60, 7_200, 31_536_000] {
                let mut request = base.clone();
                set(&mut request, MODE, "expiryDuration", json!(seconds));
                same(&format!("expiryDuration {seconds}"), request, ids);
            }
        }
        3 => {
            for value in [true, false] {
                let mut request = base.clone();
                set(&mut request, MODE, "calculateGasLimits", json!(value));
                same(&format!("calculateGasLimits {value}"), request, ids);
            }
        }
        4 => {
            let mut request = base.clone();
            set(&mut request, MODE, "tokenInfo", json!({}));
            same("an empty tokenInfo beside it", request.clone(), ids);
            if let Some(token) = seed.context.tokens_that_are(Support::Supported).next() {
                set(&mut request, MODE, "tokenInfo", json!({"feeTokenAddress": token}));
                same("a tokenInfo beside it", request, ids);
            }
        }
        5 => {
            let mut shuffled = serde_json::Map::new();
            for name in ["params", "method", "id", "jsonrpc"] {
                shuffled.insert(name.to_owned(), base[name].clone());
            }
            same("members in another order", Value::Object(shuffled), ids);
        }
        6 => {
            for other in others(base, seed.context) {
                members.push(member("other", "another operation between", other, ids));
                members.push(member(
                    SAME_DECISION,
                    "after a request for another operation",
                    base.clone(),
                    ids,
                ));
            }
        }
        _ => {
            let mut quote = base.clone();
            quote["method"] = json!("pm_getFeeQuoteOrData");
            remove(&mut quote, MODE, "expiryDuration");
            members.push(member("other", "a quote between", quote, ids));
            members.push(member(
                SAME_DECISION,
                "after a quote for the same operation",
                base.clone(),
                ids,
            ));
        }
    }
    members
}

/// Operations that the profile refuses, or that differ in their nonce: requests to stand between.
fn others(base: &Value, context: &Context) -> Vec<Value> {
    let mut found = Vec::new();
    for sender in context.profile.operations.refused_senders.iter().take(1) {
        let mut other = base.clone();
        if other["params"][0]["sender"]
            .as_str()
            .is_some_and(|own| own.eq_ignore_ascii_case(sender))
        {
            set(
                &mut other,
                OPERATION,
                "sender",
                json!("0x00000000000000000000000000000000000c0ffe"),
            );
        } else {
            set(&mut other, OPERATION, "sender", json!(sender));
        }
        found.push(other);
    }
    let mut other = base.clone();
    set(&mut other, OPERATION, "callData", json!("0x12345678"));
    found.push(other);
    found
}

fn later(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = seed.pair else { return Vec::new() };
    let shared = json!(ids.next_id());
    let reuses_id = seed.twist % 2 == 1;
    let send = |role: &'static str, label: String, mut request: Value, ids: &mut Ids| {
        // Published clients number requests by the second, so that different requests share an id.
        request["id"] = if reuses_id {
            shared.clone()
        } else {
            json!(ids.next_id())
        };
        as_it_stands(role, label, &request)
    };
    let mut members = vec![send(
        "baseline",
        "the baseline".to_owned(),
        seed.base.clone(),
        ids,
    )];
    for (label, other) in differing(seed, pair) {
        members.push(send("other", label.clone(), other, ids));
        members.push(send(
            "again",
            format!("the baseline again, after {label}"),
            seed.base.clone(),
            ids,
        ));
    }
    members
}

/// The base with one thing changed: another token, another sender, the other method, the other mode.
fn differing(seed: &Seed<'_>, pair: Pair) -> Vec<(String, Value)> {
    let base = seed.base;
    let round = seed.twist as usize / 2;
    let supported: Vec<&str> = seed.context.tokens_that_are(Support::Supported).collect();
    let mut found = Vec::new();
    if pair == Pair::QUOTE_ERC20 && !supported.is_empty() {
        let token = supported[round % supported.len()];
        let mut other = base.clone();
        set(
            &mut other,
            MODE,
            "tokenInfo",
            json!({"preferredToken": token, "tokenList": [token]}),
        );
        found.push(("a quote for another token".to_owned(), other));
    }
    if pair == Pair::SPONSOR_ERC20 {
        let unsupported = seed.context.tokens_that_are(Support::Unsupported).next();
        let member = seed.context.dialect.fee_token_member.clone();
        for token in unsupported
            .into_iter()
            .chain(supported.get(round % supported.len().max(1)).copied())
        {
            let mut other = base.clone();
            set(&mut other, MODE, "tokenInfo", json!({ member.clone(): token }));
            found.push(("a request for another token".to_owned(), other));
        }
    }
    if pair.mode == paymaster_schemas::Mode::Sponsored {
        for other in others(base, seed.context) {
            found.push(("a request for another operation".to_owned(), other));
        }
    }
    let mut other = base.clone();
    let quote = pair.method == paymaster_schemas::Method::GetFeeQuoteOrData;
    other["method"] = json!(if quote {
        "pm_sponsorUserOperation"
    } else {
        "pm_getFeeQuoteOrData"
    });
    if let Some(token) = supported.first() {
        if pair == Pair::QUOTE_ERC20 {
            let member = seed.context.dialect.fee_token_member.clone();
            set(&mut other, MODE, "tokenInfo", json!({ member: token }));
        } else if pair == Pair::SPONSOR_ERC20 {
            set(
                &mut other,
                MODE,
                "tokenInfo",
                json!({"preferredToken": token, "tokenList": [token]}),
            );
        }
    }
    found.push(("the other method".to_owned(), other));
    found
}

/// How many calls are sent at the same time.
const AT_ONCE: usize = 12;

fn concurrent(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = seed.pair else { return Vec::new() };
    let supported: Vec<&str> = seed.context.tokens_that_are(Support::Supported).collect();
    let refused = seed.context.profile.operations.refused_senders.first();
    (0..AT_ONCE)
        .map(|place| {
            let mut request = seed.base.clone();
            if pair == Pair::QUOTE_ERC20 && !supported.is_empty() {
                let token = supported[place % supported.len()];
                set(
                    &mut request,
                    MODE,
                    "tokenInfo",
                    json!({"preferredToken": token, "tokenList": [token]}),
                );
            } else if place % 2 == 1
                && let Some(sender) = refused
            {
                set(&mut request, OPERATION, "sender", json!(sender));
            }
            if pair.mode == paymaster_schemas::Mode::Sponsored && place % 3 == 2 {
                request["method"] = json!("pm_getFeeQuoteOrData");
                remove(&mut request, MODE, "expiryDuration");
            }
            member("call", "one of several at the same time", request, ids)
        })
        .collect()
}
