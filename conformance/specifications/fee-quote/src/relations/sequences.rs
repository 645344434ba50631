//! Sequences of requests: earlier or concurrent requests must not change an answer.

use paymaster_engine::cases::{
    Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds, baseline, item_of_round, member, remove,
    set, with, with_own_id, without,
};
use paymaster_schemas::{Mode, kinds};
use serde_json::{Value, json};

use crate::base;
use crate::relations::{MODE, OPERATION};
use crate::rules::requests::decision::SAME_AGAIN;
use crate::tables::is_member;
use crate::target::{Context, Support};

/// Requests with the same operation and sponsorshipInfo, in which everything else changes.
pub static DECISION: Relation = Relation::new(
    "decision",
    "the same operation and sponsorshipInfo with another id, expiryDuration, \
     calculateGasLimits, unrelated members, and after other requests",
)
.of(
    Bases::These(&[base::sponsored(kinds::SPONSOR_SPONSORED), base::refused(kinds::SPONSOR_SPONSORED)]),
    Rounds::scaled(22), // each of the steps twice
    decision,
);

/// A request, others that differ from it in one thing, and the request again.
pub static LATER: Relation = Relation::new(
    "later",
    "a call, the same with another token, mode, sender or the same id, and the first call \
     again",
)
.of(
    Bases::These(&[
        base::sponsored(kinds::QUOTE_SPONSORED),
        Base::accepted(kinds::QUOTE_ERC20),
        base::sponsored(kinds::SPONSOR_SPONSORED),
        Base::accepted(kinds::SPONSOR_ERC20),
    ]),
    Rounds::Scaled { most: 12, least: 3 },
    later,
);

/// Different calls at the same time.
pub static CONCURRENT: Relation =
    Relation::new("concurrent", "calls with distinct ids, tokens, modes and methods at the same time")
        .of(
            Bases::These(&[Base::accepted(kinds::QUOTE_ERC20), base::sponsored(kinds::SPONSOR_SPONSORED)]),
            Rounds::Scaled { most: 12, least: 3 },
            concurrent,
        )
        .concurrent();

/// A request that is sent after the baseline: role, label and body. Its id is replaced, except in the step at [`ID_STEPS`].
type Step = (Role, String, Value);

fn decision(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let mut members = vec![baseline(input, ids)];
    let keeps_ids = input.round as usize % STEPS.len() == ID_STEPS;
    for (role, label, request) in item_of_round(input, STEPS)(input) {
        members.push(if keeps_ids {
            with_own_id(role, label, &request)
        } else {
            member(role, label, request, ids)
        });
    }
    members
}

/// The changes that must not change a decision, one a round.
const STEPS: &[fn(&BuildInput<'_>) -> Vec<Step>] = &[
    |input| vec![(Role::SameDecision, SAME_AGAIN.to_owned(), input.base.clone()); 4],
    // Requests that keep their ids: see ID_STEPS.
    |input| {
        let ids = [json!(0), json!(7_777_777), json!("an id of letters"), json!(""), json!("__proto__")];
        ids.map(|id| (Role::SameDecision, format!("id {id}"), with(input.base, "", "id", id))).into()
    },
    // None, a second, a minute, an hour, a year, and more than 32 bits.
    |input| {
        let seconds = [0_u64, 1, 60, 3_600, 31_536_000, 4_294_967_296];
        seconds.map(|seconds| with_mode_member(input, "expiryDuration", json!(seconds))).into()
    },
    |input| [true, false].map(|value| with_mode_member(input, "calculateGasLimits", json!(value))).into(),
    foreign_members,
    |input| {
        let names = ["params", "method", "id", "jsonrpc"];
        let shuffled = names.iter().map(|name| ((*name).to_owned(), input.base[*name].clone())).collect();
        vec![(Role::SameDecision, "members in another order".to_owned(), shuffled)]
    },
    |input| {
        let others = others(input.base, Context::of(input.context)).into_iter();
        others.flat_map(|other| between(input, "a request for another operation", other)).collect()
    },
    |input| {
        let quote = with(input.base, "", "method", kinds::QUOTE);
        between(input, "a quote for the same operation", without(&quote, MODE, "expiryDuration")).into()
    },
    // A request that must get an error: token mode without a token.
    |input| {
        let mut wrong = input.base.clone();
        wrong["params"][1] = json!({ "mode": Mode::Erc20.into_str(), "calculateGasLimits": true });
        between(input, "an error for the same operation", wrong).into()
    },
    left_out,
    client_forms,
];

/// The place in [`STEPS`] of the requests with other ids.
const ID_STEPS: usize = 1;

/// Members of the other mode, and one that is in no table.
fn foreign_members(input: &BuildInput<'_>) -> Vec<Step> {
    let token = Context::of(input.context).tokens_with(Support::Supported).next();
    let mut steps = vec![with_mode_member(input, "tokenInfo", json!({}))];
    steps.extend(token.map(|token| with_mode_member(input, "tokenInfo", json!({"feeTokenAddress": token}))));
    steps.push(with_mode_member(input, "note", json!("a member that no table has")));
    steps
}

/// Without the optional members of a sponsor request, and with the other version of JSON-RPC.
fn left_out(input: &BuildInput<'_>) -> Vec<Step> {
    let left_out = |name: &str| (Role::SameDecision, format!("no {name}"), without(input.base, MODE, name));
    let other = if input.base["jsonrpc"] == "2.0" { "2.0.0" } else { "2.0" };
    let in_other_version = with(input.base, "", "jsonrpc", other);
    vec![
        left_out("expiryDuration"),
        left_out("calculateGasLimits"),
        (Role::SameDecision, format!("jsonrpc {other}"), in_other_version),
    ]
}

/// In every form of published clients that the target serves. Forms without all members of the operation are another one.
fn client_forms(input: &BuildInput<'_>) -> Vec<Step> {
    let info = Context::of(input.context).sponsorship_info();
    let forms = Context::of(input.context).served_forms.named(kinds::SPONSOR_SPONSORED);
    let written = forms.into_iter().filter_map(|form| {
        let request = form.of(input.base, kinds::SPONSOR_SPONSORED, &info)?;
        let mut names = input.base["params"][0].as_object()?.keys();
        let has_all = names.all(|name| request["params"][0].get(name).is_some());
        has_all.then(|| (Role::SameDecision, format!("as written by {}", form.clients), request))
    });
    written.collect()
}

fn with_mode_member(input: &BuildInput<'_>, name: &str, value: Value) -> Step {
    (Role::SameDecision, format!("{name} {value}"), with(input.base, MODE, name, value))
}

/// Another request, and then the baseline again.
fn between(input: &BuildInput<'_>, label: &str, other: Value) -> [Step; 2] {
    [
        (Role::Other, label.to_owned(), other),
        (Role::SameDecision, format!("coming after {label}"), input.base.clone()),
    ]
}

/// The base with other operations: one that the profile lists as refused, another sender, other call data.
fn others(base: &Value, context: &Context) -> Vec<Value> {
    let mut found = Vec::new();
    found.extend(refused_operation(base, context));
    for sender in context.profile.operations.refused_senders.iter().take(1) {
        let own = base["params"][0]["sender"].as_str();
        let is_own = own.is_some_and(|own| own.eq_ignore_ascii_case(sender));
        let other = if is_own { "0x00000000000000000000000000000000000c0ffe" } else { sender };
        found.push(with(base, OPERATION, "sender", other));
    }
    found.push(with(base, OPERATION, "callData", "0x12345678"));
    found
}

/// The base with an operation or a sender that the profile lists as refused, where it lists one.
pub(crate) fn refused_call(base: &Value, context: &Context) -> Option<Value> {
    let sender = context.profile.operations.refused_senders.first();
    sender
        .map(|sender| with(base, OPERATION, "sender", sender.as_str()))
        .or_else(|| refused_operation(base, context))
}

/// The base with an operation that the profile lists as refused, where it lists one.
fn refused_operation(base: &Value, context: &Context) -> Option<Value> {
    let refused = context.profile.operations.refused.first()?;
    let mut other = base.clone();
    for (name, value) in refused.iter().filter(|(name, _)| is_member(name)) {
        set(&mut other, OPERATION, name, value.clone());
    }
    Some(other)
}

fn later(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let shared = json!(ids.next_id());
    let reuses_id = input.round % 2 == 1;
    let send = |role: Role, label: String, mut request: Value, ids: &mut Ids| {
        // Published clients use the time in seconds as the id, so that different requests share an id.
        request["id"] = if reuses_id { shared.clone() } else { json!(ids.next_id()) };
        with_own_id(role, label, &request)
    };
    let mut members = vec![send(Role::Baseline, "the baseline".to_owned(), input.base.clone(), ids)];
    for (label, other) in differing(input) {
        members.push(send(Role::Other, label.clone(), other, ids));
        let label = format!("the baseline again, after {label}");
        members.push(send(Role::Again, label, input.base.clone(), ids));
    }
    members
}

/// The base with one thing changed: another token, another sender, the other method, the other mode.
fn differing(input: &BuildInput<'_>) -> Vec<(String, Value)> {
    let base = input.base;
    let round = input.round as usize / 2;
    let supported: Vec<&str> = Context::of(input.context).tokens_with(Support::Supported).collect();
    let mut found = Vec::new();
    if input.pair == kinds::QUOTE_ERC20 && !supported.is_empty() {
        let token = supported[round % supported.len()];
        let mut other = base.clone();
        set(&mut other, MODE, "tokenInfo", json!({"preferredToken": token, "tokenList": [token]}));
        found.push(("a quote for another token".to_owned(), other));
    }
    if input.pair == kinds::SPONSOR_ERC20 {
        let unsupported = Context::of(input.context).tokens_with(Support::Unsupported).next();
        let member = Context::of(input.context).dialect.fee_token_member.clone();
        for token in unsupported.into_iter().chain(supported.get(round % supported.len().max(1)).copied()) {
            let other = with(base, MODE, "tokenInfo", json!({ member.clone(): token }));
            found.push(("a request for another token".to_owned(), other));
        }
    }
    if Mode::of(input.pair) == Mode::Sponsored {
        let others = others(base, Context::of(input.context)).into_iter();
        found.extend(others.map(|other| ("a request for another operation".to_owned(), other)));
    }
    let quote = kinds::is_quote(input.pair);
    let method = if quote { kinds::SPONSOR } else { kinds::QUOTE };
    let mut other = with(base, "", "method", method);
    if input.pair == kinds::QUOTE_SPONSORED {
        set(&mut other, MODE, "expiryDuration", json!(300));
    } else if input.pair == kinds::SPONSOR_SPONSORED {
        remove(&mut other, MODE, "expiryDuration");
    }
    if let Some(token) = supported.first() {
        if input.pair == kinds::QUOTE_ERC20 {
            let member = Context::of(input.context).dialect.fee_token_member.clone();
            set(&mut other, MODE, "tokenInfo", json!({ member: token }));
        } else if input.pair == kinds::SPONSOR_ERC20 {
            set(&mut other, MODE, "tokenInfo", json!({"preferredToken": token, "tokenList": [token]}));
        }
    }
    found.push(("the other method".to_owned(), other));
    found
}

/// How many calls are sent at the same time.
const AT_ONCE: usize = 12;

fn concurrent(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let supported: Vec<&str> = Context::of(input.context).tokens_with(Support::Supported).collect();
    // Published clients use the time in seconds as the id, so that requests in flight share an id.
    let shared = (input.round % 2 == 1).then(|| json!(ids.next_id()));
    (0..AT_ONCE)
        .map(|place| {
            let mut request = input.base.clone();
            if input.pair == kinds::QUOTE_ERC20 && !supported.is_empty() {
                let token = supported[place % supported.len()];
                set(&mut request, MODE, "tokenInfo", json!({"preferredToken": token, "tokenList": [token]}));
            } else if place % 2 == 1
                && let Some(other) = refused_call(&request, Context::of(input.context))
            {
                request = other;
            }
            if Mode::of(input.pair) == Mode::Sponsored && place % 3 == 2 {
                request["method"] = json!(kinds::QUOTE);
                remove(&mut request, MODE, "expiryDuration");
            }
            if let Some(id) = &shared {
                request["id"] = id.clone();
                return with_own_id(Role::Call, "one of several with the same id at the same time", &request);
            }
            member(Role::Call, "one of several at the same time", request, ids)
        })
        .collect()
}
