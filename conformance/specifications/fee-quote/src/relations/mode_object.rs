//! Changes of the mode object (sections 2.3 and 2.4).

use paymaster_engine::cases::{
    case::{Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds},
    edit::{address, compared, in_client_order, item_of_round, member, with, with_baseline, without},
};
use paymaster_schemas::{Method, Mode, kinds};
use serde_json::{Value, json};

use crate::{
    relations::{MODE, SPONSORSHIP_INFO},
    target::context::{Context, Support},
};

const SPONSORED_PAIRS: &[Base] =
    &[Base::accepted(kinds::QUOTE_SPONSORED), Base::accepted(kinds::SPONSOR_SPONSORED)];

/// calculateGasLimits true and false.
pub static CALCULATE_GAS_LIMITS: Relation = Relation::new(
    "calculate-gas-limits",
    "the same call with calculateGasLimits true and false",
)
.of(Bases::EveryKind, Rounds::scaled(6), |input, ids| {
    let first = input.round.is_multiple_of(2);
    let request = |value: bool| {
        (format!("calculateGasLimits {value}"), with(input.base, MODE, "calculateGasLimits", value))
    };
    compared(ids, request(first), request(!first))
});

/// Expiry durations of many sizes.
pub static EXPIRY_DURATION: Relation =
    Relation::new("expiry-duration", "the same sponsor request with other expiry durations").of(
        Bases::These(&[Base::accepted(kinds::SPONSOR_SPONSORED)]),
        Rounds::scaled(8), // The baseline has by turns 300 seconds, the duration of the sample, and no duration.
        |input, ids| {
            let seconds = *item_of_round(input, &[60_u32, 300, 3_599, 1_800, 61, 240, 127, 900]);
            let plain = if input.round.is_multiple_of(2) {
                with(input.base, MODE, "expiryDuration", 300)
            } else {
                without(input.base, MODE, "expiryDuration")
            };
            let request = with(input.base, MODE, "expiryDuration", seconds);
            compared(
                ids,
                ("another expiryDuration, or none", plain),
                (format!("expiryDuration {seconds}"), request),
            )
        },
    );

/// webhookData with content.
pub static WEBHOOK_DATA: Relation = Relation::new(
    "webhook-data",
    "the same call with webhookData of some content",
)
.of(Bases::These(SPONSORED_PAIRS), Rounds::Scaled { most: 18, least: 7 }, |input, ids| {
    let data = [
        json!({"campaign": "spring", "referrer": null}),
        json!({"a": 1, "b": [true, null], "c": {"d": "e"}}),
        json!({"": "an empty name", "user": {"id": 12_345_678_901_u64}}),
        json!({"text": "x".repeat(500)}),
        // Names that mean something to a document store, or to a language without other maps than objects.
        json!({"$set": {"amount": 1}, "order.id": "a.b", "$where": "1"}),
        json!({"__proto__": {"isAdmin": true}, "constructor": {"prototype": {}}, "hasOwnProperty": 1}),
        json!({"note": "zażółć 支付 \u{1F680}", "ключ": "значение"}),
        json!({"constructor": {"name": 1}, "length": -1, "toString": "x", "<b>": "&amp;'\""}),
        // In the order of published clients, id and jsonrpc of the request stand behind these.
        json!({"list": [[[[[[[[]]]]]]], 0.1, -7, 1.5e300, true, null], "id": "0x12", "jsonrpc": "1.0"}),
    ];
    let data = item_of_round(input, &data).clone();
    let base = in_client_order(input.base);
    let empty = ("empty webhookData", with(&base, SPONSORSHIP_INFO, "webhookData", json!({})));
    let some = ("webhookData of some content", with(&base, SPONSORSHIP_INFO, "webhookData", data));
    if input.round.is_multiple_of(2) { compared(ids, empty, some) } else { compared(ids, some, empty) }
});

/// Each smart account of the profile.
pub static SMART_ACCOUNTS: Relation =
    Relation::new("smart-accounts", "the same call with two of the smart accounts that the profile names")
        .of(
            Bases::These(SPONSORED_PAIRS),
            Rounds::scaled(8), // Two accounts of the profile in each group, so that a target which refuses one of them is found whatever account the base has.
            |input, ids| {
                let accounts = &Context::of(input.context).profile.accounts;
                if accounts.len() < 2 {
                    return Vec::new();
                }
                let request = |round: u32| {
                    let account = item_of_round(&BuildInput { round, ..*input }, accounts);
                    let label = format!("smart account {} {}", account.name, account.version);
                    (label, with(input.base, SPONSORSHIP_INFO, "smartAccountInfo", json!(account)))
                };
                let (_, base) = request(input.round);
                compared(ids, ("the baseline", base), request(input.round.wrapping_add(1)))
            },
        );

/// Both info objects in one request, as published clients send them.
pub static BOTH_INFOS: Relation = Relation::new(
    "both-infos",
    "the same call with tokenInfo beside sponsored mode, and sponsorshipInfo beside token \
     mode",
)
.of(Bases::EveryKind, Rounds::scaled(9), |input, ids| {
    if input.round % 3 == 2 {
        return in_the_other_mode(input, ids);
    }
    let (name, info) = other_info(input);
    with_baseline(
        input,
        ids,
        format!("{name} beside {}", Mode::of(input.pair)),
        with(input.base, MODE, name, info),
    )
});

/// The name of sponsored mode that every sample request sends.
pub static SPONSORED_NAME: Relation = Relation::new(
    "sponsored-name",
    "the same call in the mode that the target serves, and in the mode SPONSORED",
)
.of(Bases::These(SPONSORED_PAIRS), Rounds::Fixed(2), |input, ids| {
    with_baseline(input, ids, "mode SPONSORED", with(input.base, MODE, "mode", Mode::Sponsored.name()))
});

/// A quote in token mode with exactly the members of its row in section 4.1.
pub static TOKEN_QUOTE_ROW: Relation = Relation::new(
    "token-quote-row",
    "the same quote in token mode with calculateGasLimits, and with mode and tokenInfo alone",
)
.of(Bases::These(&[Base::accepted(kinds::QUOTE_ERC20)]), Rounds::Fixed(6), |input, ids| {
    with_baseline(input, ids, "mode and tokenInfo alone", without(input.base, MODE, "calculateGasLimits"))
});

/// Sponsor requests that do not select a mode, which section 4.2 calls mandatory.
pub static WITHOUT_MODE: Relation = Relation::new(
    "without-mode",
    "sponsor requests without mode: of either mode, with both info objects, without \
     calculateGasLimits",
)
.of(
    Bases::These(&[Base::accepted(kinds::SPONSOR_SPONSORED), Base::accepted(kinds::SPONSOR_ERC20)]),
    Rounds::scaled(6),
    |input, ids| {
        let request = without(input.base, MODE, "mode");
        let (label, request) = match input.round % 3 {
            1 => {
                let (name, info) = other_info(input);
                ("no mode, and both info objects", with(&request, MODE, name, info))
            }
            2 => ("no mode, and no calculateGasLimits", without(&request, MODE, "calculateGasLimits")),
            _ => ("no mode", request),
        };
        vec![member(Role::Malformed, label, request, ids)]
    },
);

/// The name and a value of the info object that only the other mode has.
pub(super) fn other_info(input: &BuildInput<'_>) -> (&'static str, Value) {
    if Mode::of(input.pair) == Mode::Erc20 {
        ("sponsorshipInfo", sponsorship_info(input))
    } else if input.round.is_multiple_of(2) {
        ("tokenInfo", json!({}))
    } else {
        ("tokenInfo", token_info(input, true, true))
    }
}

/// The baseline, its operation in the other mode, and then the baseline again: the target must answer each request in its own mode.
fn in_the_other_mode(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let quote = Method::of(input.pair) == Method::GetFeeQuoteOrData;
    let mut request = input.base.clone();
    request["params"][1] = if Mode::of(input.pair) == Mode::Sponsored {
        let info = token_info(input, quote, !quote);
        json!({"mode": Mode::Erc20.name(), "calculateGasLimits": true, "tokenInfo": info})
    } else {
        let mut mode =
            json!({"mode": Context::of(input.context).dialect.sponsored_name, "calculateGasLimits": true});
        if !quote {
            mode["expiryDuration"] = json!(300);
        }
        mode["sponsorshipInfo"] = sponsorship_info(input);
        mode
    };
    let mut members = with_baseline(input, ids, "the same operation in the other mode", request);
    members.push(member(Role::Variant, "the baseline again, after the other mode", input.base, ids));
    members
}

fn token_info(input: &BuildInput<'_>, to_quote: bool, to_pay: bool) -> Value {
    let known = Context::of(input.context).tokens_with(Support::Supported).next().map(str::to_owned);
    let token = known.unwrap_or_else(|| address(input, 1));
    let mut info = json!({});
    if to_quote {
        info["preferredToken"] = json!(token);
        info["tokenList"] = json!([token]);
    }
    if to_pay {
        info[Context::of(input.context).dialect.fee_token_member.as_str()] = json!(token);
    }
    info
}

fn sponsorship_info(input: &BuildInput<'_>) -> Value {
    let accounts = Context::of(input.context).accounts();
    json!({"webhookData": {}, "smartAccountInfo": item_of_round(input, &accounts)})
}
