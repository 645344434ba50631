//! Tokens: absent, unsupported, many (sections 2.5, 4.1 and 4.2).

use paymaster_engine::cases::{
    Base, Bases, BuildInput, Member, Relation, Role, Rounds, address, compared, item_of_round, member,
    remove, set, with, with_baseline,
};
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::base;
use crate::generate::tokens::NATIVE_COIN;
use crate::relations::calls::with_variations;
use crate::relations::{MODE, OPERATION, TOKEN_INFO};
use crate::tables::{GAS, is_hex};
use crate::target::{Accepts, Context, Spelling, Support, TOKEN_LIST_LENGTH};

/// Sponsoring in token mode with a token that is not supported.
pub static UNSUPPORTED_FEE_TOKEN: Relation = Relation::new(
    "unsupported-fee-token",
    "sponsor requests in token mode with an unsupported token, with and without gas limits, \
     beside the tokens of a quote, the placeholder of the native coin, and one that goes on \
     after a supported address or ends within it",
)
.of(Bases::These(&[base::unsupported_token(kinds::SPONSOR_ERC20)]), Rounds::Share(90), |input, ids| {
    let mut request = input.base.clone();
    // A quoted token is not always an address.
    let mut known = Context::of(input.context).tokens_with(Support::Supported);
    let known = known.find(|token| token.is_ascii() && token.len() == "0x".len() + 40);
    let name = Context::of(input.context).dialect.fee_token_member.as_str();
    // The round increases by ten from one to the next of a form.
    let turn = input.round as usize / 10;
    let label = match (input.round % 10, known, native_coin(input, turn)) {
        (0, ..) => {
            in_other_version(&mut request);
            "in the other version of JSON-RPC"
        }
        (1, _, Some(coin)) => {
            set(&mut request, TOKEN_INFO, name, json!(coin));
            "the placeholder of the native coin"
        }
        (2, ..) => {
            for name in GAS {
                remove(&mut request, OPERATION, name);
            }
            "without the gas limits"
        }
        (4, ..) => {
            remove(&mut request, OPERATION, GAS[turn % GAS.len()]);
            "without a gas limit"
        }
        (6, Some(known), _) => {
            set(&mut request, TOKEN_INFO, "preferredToken", json!(known));
            set(&mut request, TOKEN_INFO, "tokenList", json!([known]));
            "beside supported tokens of a quote"
        }
        (8, Some(known), _) => {
            if turn.is_multiple_of(2) {
                set(&mut request, TOKEN_INFO, name, json!(format!("{known}00")));
                "a supported address and two digits more"
            } else {
                set(&mut request, TOKEN_INFO, name, json!(known[..known.len() - 2]));
                "a supported address without its last two digits"
            }
        }
        _ => "an unsupported token",
    };
    with_variations(input, request, label, ids)
});

/// Sponsoring in token mode without a token.
pub static ABSENT_FEE_TOKEN: Relation = Relation::new(
    "absent-fee-token",
    "sponsor requests in token mode without a token: no tokenInfo, an empty one, or a token \
     of null or \"\"",
)
.of(
    Bases::These(&[base::any_tokens(kinds::SPONSOR_ERC20)]),
    Rounds::Share(40), // The shapes of a request that names no token address, one a round. The gas limits are all there, all absent, or partly absent.
    |input, ids| {
        let mut request = input.base.clone();
        let shapes = absent_tokens(input);
        let (label, info) = item_of_round(input, &shapes);
        match info {
            Some(info) => set(&mut request, MODE, "tokenInfo", info.clone()),
            None => remove(&mut request, MODE, "tokenInfo"),
        }
        if input.round % 5 == 4 {
            set(&mut request, MODE, "sponsorshipInfo", Context::of(input.context).sponsorship_info());
        }
        let left_out = match input.round % 4 {
            1 => &GAS[..],
            2 => &GAS[..1],
            3 => &GAS[1..],
            _ => &[],
        };
        for name in left_out {
            remove(&mut request, OPERATION, name);
        }
        if input.round % 7 == 6 {
            in_other_version(&mut request);
        }
        with_variations(input, request, label, ids)
    },
);

/// Quotes for supported tokens alone, and the same with unsupported ones.
pub static UNSUPPORTED_IN_QUOTE: Relation = Relation::new(
    "unsupported-in-quote",
    "the same quote with unsupported tokens added, in the list or preferred, up to all of \
     them",
)
.of(Bases::These(&[Base::accepted(kinds::QUOTE_ERC20)]), Rounds::scaled(24), |input, ids| {
    let (Some(first), Some(second)) = (unsupported(input, 0), unsupported(input, 1)) else {
        return Vec::new();
    };
    let mut request = input.base.clone();
    let mut list = request["params"][1]["tokenInfo"]["tokenList"].as_array().cloned().unwrap_or_default();
    let label = match input.round % 4 {
        0 => {
            list.insert(input.round as usize / 4 % (list.len() + 1), json!(first));
            "an unsupported token in the list"
        }
        1 => {
            set(&mut request, TOKEN_INFO, "preferredToken", json!(first));
            "an unsupported preferred token"
        }
        2 => {
            list.push(json!(first));
            list.insert(0, json!(second));
            "two unsupported tokens in the list"
        }
        _ => {
            set(&mut request, TOKEN_INFO, "preferredToken", json!(first));
            list = vec![json!(first), json!(second)];
            "only unsupported tokens"
        }
    };
    set(&mut request, TOKEN_INFO, "tokenList", Value::Array(list));
    let mut members = with_baseline(input, ids, label, request);
    let again = members.last().cloned();
    members.extend(again.map(|member| Member { label: format!("{label}, the same bytes again"), ..member }));
    members
});

/// Different operations that are paid in the same token, and one of them paid in another token where two are supported.
pub static TOKEN_DATA: Relation = Relation::new(
    "token-data",
    "sponsor requests in token mode for one operation in two tokens, and for another one in \
     the first token; for three in one token when no other is known",
)
.of(
    Bases::These(&[Base::accepted(kinds::SPONSOR_ERC20)]),
    Rounds::Scaled { most: 6, least: 4 }, // The base, and one or two operations that differ in what every account's signature covers. An operation that only the profile's list
    // has is changed in its fees alone, so that a target that simulates serves it.
    |input, ids| {
        let name = Context::of(input.context).dialect.fee_token_member.as_str();
        let paid_in = input.base["params"][1]["tokenInfo"][name].as_str().unwrap_or_default();
        // Wallets write addresses with the checksum.
        let spelled = |token: &str| SPELLINGS[input.round as usize % 2].write(token);
        let base = with(input.base, TOKEN_INFO, name, spelled(paid_in));
        let mut members = vec![member(Role::Call, "the first operation", &base, ids)];
        let supported = Context::of(input.context).tokens_with(Support::Supported);
        let tokens: Vec<&str> = supported.filter(|token| !token.eq_ignore_ascii_case(paid_in)).collect();
        let mut others = vec![("the second operation", "1"), ("the third operation", "2")];
        if !tokens.is_empty() {
            let request = with(&base, TOKEN_INFO, name, spelled(tokens[input.round as usize % tokens.len()]));
            members.push(member(Role::Variant, "the first operation in another token", request, ids));
            others.pop();
        }
        let is_listed = Context::of(input.context).profile.operations.accepts == Accepts::Listed;
        let prefix = |name| {
            if is_hex(name, Context::of(input.context).dialect.amount_notation) { "0x" } else { "" }
        };
        for (label, digit) in others {
            let mut request = base.clone();
            if !is_listed {
                set(&mut request, OPERATION, "sender", json!(address(input, 7)));
                set(&mut request, OPERATION, "callData", json!(format!("0xb61d27f{digit}")));
                let nonce = format!("{}{digit}", prefix("nonce"));
                set(&mut request, OPERATION, "nonce", json!(nonce));
            }
            let fee = format!("{}{digit}0", prefix("maxPriorityFeePerGas"));
            set(&mut request, OPERATION, "maxPriorityFeePerGas", json!(fee));
            members.push(member(Role::Call, label, request, ids));
        }
        members
    },
);

/// Another operation of the same account and nonce, as a wallet asks again with other fees; and the same of another account.
pub static SAME_ACCOUNT: Relation = Relation::new(
    "same-account",
    "a call, another account with another call and other fees, and the first account \
     and nonce with these",
)
.of(Bases::EveryKind, Rounds::scaled(4), |input, ids| {
    let context = Context::of(input.context);
    if context.profile.operations.accepts == Accepts::Listed {
        return Vec::new();
    }
    let prefix = if is_hex("maxFeePerGas", context.dialect.amount_notation) { "0x" } else { "" };
    let fees = |request: &Value, digits: &str| {
        let most = with(request, OPERATION, "maxFeePerGas", format!("{prefix}{digits}"));
        with(&most, OPERATION, "maxPriorityFeePerGas", format!("{prefix}{}", &digits[..2]))
    };
    // A quote pays nothing, so that its fees may be a hundred times as high.
    let digits = if input.pair == kinds::QUOTE_ERC20 { "100000000000" } else { "1000000001" };
    let first = fees(input.base, "1000000000");
    let other = with(&fees(&first, digits), OPERATION, "callData", format!("0xb61d27f6{:02x}", input.round));
    let elsewhere = with(&other, OPERATION, "sender", address(input, 9));
    vec![
        member(Role::Baseline, "the first operation", first, ids),
        // Between the two that are compared: what changes with the time has changed in the second of them too.
        member(Role::Other, "another call with other fees, of another account", elsewhere, ids),
        member(Role::Variant, "the same of the first account", other, ids),
    ]
});

/// One operation in several tokens at the same time: a wallet lets its user choose.
pub static TOKENS_AT_ONCE: Relation = Relation::new(
    "tokens-at-once",
    "sponsor requests in token mode for one operation in several tokens at the same time",
)
.of(Bases::These(&[Base::accepted(kinds::SPONSOR_ERC20)]), Rounds::scaled(4), |input, ids| {
    let name = Context::of(input.context).dialect.fee_token_member.as_str();
    let tokens = Context::of(input.context).tokens_with(Support::Supported).take(6);
    let members: Vec<Member> = tokens
        .map(|token| {
            let request = with(input.base, TOKEN_INFO, name, token);
            member(Role::Call, format!("in {token}"), request, ids)
        })
        .collect();
    if members.len() > 1 { members } else { Vec::new() }
})
.concurrent();

/// Quotes for short and long token lists.
pub static LONG_TOKEN_LIST: Relation =
    Relation::new("long-token-list", "the same quote with lists of one token to 100").of(
        Bases::These(&[Base::accepted(kinds::QUOTE_ERC20)]),
        Rounds::Fixed(8), // The baseline has a short list with an unsupported token too, so that only the length differs.
        |input, ids| {
            let length = *item_of_round(input, &lengths(Context::of(input.context)));
            let known: Vec<&str> = Context::of(input.context).tokens_with(Support::Supported).collect();
            if Context::of(input.context).unlisted_tokens == Support::Supported || known.is_empty() {
                return Vec::new();
            }
            let of_length = |length: usize| {
                // Every list but that of one token has an unsupported token.
                let supported = known.iter().take(length.div_ceil(2)).map(|token| (*token).to_owned());
                let mut list: Vec<String> = supported.collect();
                list.extend((list.len()..length).map(|place| address(input, place as u64)));
                (format!("a list of {length} tokens"), with(input.base, TOKEN_INFO, "tokenList", list))
            };
            compared(ids, of_length(2), of_length(length))
        },
    );

/// A target that serves one version of JSON-RPC alone refuses the other: an error is lawful in any case.
fn in_other_version(request: &mut Value) {
    let other = if request["jsonrpc"] == "2.0" { "2.0.0" } else { "2.0" };
    request["jsonrpc"] = json!(other);
}

fn absent_tokens(input: &BuildInput<'_>) -> Vec<(&'static str, Option<Value>)> {
    let name = Context::of(input.context).dialect.fee_token_member.as_str();
    let token = Context::of(input.context).tokens_with(Support::Supported).next();
    vec![
        ("no tokenInfo", None),
        ("an empty tokenInfo", Some(json!({}))),
        ("a fee token of null", Some(json!({ name: null }))),
        ("an empty fee token", Some(json!({ name: "" }))),
        ("the tokenInfo of a quote", Some(json!({ "preferredToken": token, "tokenList": [token] }))),
        ("a tokenInfo of null", Some(Value::Null)),
        ("a fee token of false", Some(json!({ name: false }))),
        ("a fee token of 0", Some(json!({ name: 0 }))),
        ("a fee token that is an empty list", Some(json!({ name: [] }))),
        ("a fee token that is an empty object", Some(json!({ name: {} }))),
        ("a fee token that is a word", Some(json!({ name: "USDC" }))),
    ]
}

/// The spellings that wallets send.
const SPELLINGS: [Spelling; 2] = [Spelling::Lower, Spelling::Checksum];

/// The placeholder of the native coin, in each spelling by turns; none where it may be supported.
fn native_coin(input: &BuildInput<'_>, turn: usize) -> Option<String> {
    let [_, placeholder] = NATIVE_COIN;
    let is_unsupported = Context::of(input.context).support(placeholder) == Support::Unsupported;
    is_unsupported.then(|| SPELLINGS[turn % 2].write(placeholder))
}

/// An unsupported token: one that the profile lists, an invented one, or the placeholder of the native coin.
fn unsupported(input: &BuildInput<'_>, salt: u64) -> Option<String> {
    let named: Vec<&str> = Context::of(input.context).tokens_with(Support::Unsupported).collect();
    let round = input.round as usize + usize::try_from(salt).unwrap_or_default();
    if let Some(coin) = native_coin(input, round / 6).filter(|_| round % 6 == 5) {
        return Some(coin);
    }
    let invented_token = Context::of(input.context).unlisted_tokens == Support::Unsupported;
    if !named.is_empty() && (round.is_multiple_of(2) || !invented_token) {
        return Some(named[round % named.len()].to_owned());
    }
    (Context::of(input.context).unlisted_tokens != Support::Supported).then(|| address(input, salt + 100))
}

/// The lengths of the token lists, one a round: some are just inside and just beyond what the target must serve.
fn lengths(context: &Context) -> [usize; 8] {
    let stated = context.profile.limits.token_list_length.unwrap_or(TOKEN_LIST_LENGTH);
    let served = usize::try_from(stated).unwrap_or(usize::MAX / 2);
    [1, 2, 3, served.saturating_sub(1).max(1), served, served + 1, 60, 100]
}
