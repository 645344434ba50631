//! Single calls: most of the requests of a run.

use crate::base::{self, Tokens};
use crate::on_chain;
use crate::relations::{MODE, OPERATION, SPONSORSHIP_INFO};
use crate::tables::GAS;
use crate::target::{Context, Support};
use num_bigint::BigUint;
use paymaster_engine::cases::{
    Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds, address, compared, id_of_any_kind,
    in_client_order, item_of_round, member, remove, set, with, with_baseline, with_own_id, without,
};
use paymaster_engine::rules::shown;
use paymaster_schemas::{Mode, kinds};
use serde_json::{Value, json};

/// Valid calls of all four pairs.
pub static CALLS: Relation = Relation::new("calls", "single valid calls, every lawful mix of tokens")
    .of(
        Bases::These(&[
            base::any_tokens(kinds::QUOTE_SPONSORED),
            base::any_tokens(kinds::QUOTE_ERC20),
            base::any_tokens(kinds::SPONSOR_SPONSORED),
            base::any_tokens(kinds::SPONSOR_ERC20),
        ]),
        Rounds::Share(100),
        single,
    )
    .first(2);

/// Valid calls whose operation the target does not sponsor.
pub static REFUSED_CALLS: Relation =
    Relation::new("refused-calls", "single valid calls of operations that cannot be sponsored").of(
        Bases::These(&[base::refused(kinds::QUOTE_SPONSORED), base::refused(kinds::SPONSOR_SPONSORED)]),
        Rounds::Share(60),
        single,
    );

/// The operation that is not sponsored, in each form in which an accepted one is sent. A target may refuse such a form, and must not
/// sponsor it.
pub static REFUSED_FORMS: Relation = Relation::new(
    "refused-forms",
    "calls of operations that cannot be sponsored, in each served form, with other gas \
     limits, fees, accounts, webhookData and the other name of the mode",
)
.of(
    Bases::These(&[base::refused(kinds::QUOTE_SPONSORED), base::refused(kinds::SPONSOR_SPONSORED)]),
    Rounds::Scaled { most: 4, least: 1 },
    |input, ids| {
        let (pair, base) = (input.pair, input.base);
        let context = Context::of(input.context);
        let mut forms = vec![("the plain form".to_owned(), base.clone())];
        let mut add = |label: &str, change: &dyn Fn(&mut Value)| {
            let mut request = base.clone();
            change(&mut request);
            forms.push((label.to_owned(), request));
        };
        let amount = |name: &str, amount: u128| json!(context.dialect.written(name, &amount.into()));
        add("gas limits of zero", &|request| {
            for name in GAS {
                set(request, OPERATION, name, amount(name, 0));
            }
        });
        // Where sponsorships are limited, none of these forms would be sent to the sponsor method with it.
        if !input.context.spending_limits().is_some() {
            add("gas that costs more than 2^64 wei", &|request| {
                set(request, OPERATION, "callGasLimit", amount("callGasLimit", 29_000_000));
                set(request, OPERATION, "maxFeePerGas", amount("maxFeePerGas", 9_000_000_000_000));
            });
        }
        add("a dummy signature and paymasterAndData", &|request| {
            // What wallets send for an estimate: a signature of the right length that recovers to some address.
            let signature = format!("0x{}7aaa{}1c", "f".repeat(62), "7".repeat(62));
            set(request, OPERATION, "signature", json!(signature));
            set(request, OPERATION, "paymasterAndData", json!("0x"));
        });
        add("webhookData of some content", &|request| {
            set(request, SPONSORSHIP_INFO, "webhookData", webhook_data());
        });
        add("the other name of the mode", &|request| {
            let other = if request["params"][1]["mode"] == "SPONSORED" { "SPONSORSHIP" } else { "SPONSORED" };
            set(request, MODE, "mode", json!(other));
        });
        for account in context.accounts() {
            add(&format!("the account {} {}", account.name, account.version), &|request| {
                set(request, SPONSORSHIP_INFO, "smartAccountInfo", json!(account));
            });
        }
        let info = context.sponsorship_info();
        for form in context.served_forms.named(pair) {
            if let Some(request) = form.of(base, pair, &info) {
                forms.push((format!("as written by {}", form.clients), request));
            }
        }
        forms.into_iter().map(|(label, request)| member(Role::Call, label, request, ids)).collect()
    },
);

/// Calls in token mode whose operation the target does not sponsor: section 4.2, rule 6, allows no refusal of a supported token, and rule 5
/// no result for an unsupported one.
pub static REFUSED_IN_TOKEN_MODE: Relation = Relation::new(
    "refused-in-token-mode",
    "calls in token mode of operations that cannot be sponsored, with supported and with \
     unsupported tokens",
)
.of(
    Bases::These(&[
        base::refused(kinds::QUOTE_ERC20),
        base::refused(kinds::SPONSOR_ERC20),
        Tokens::SomeUnsupported.in_base(base::refused(kinds::QUOTE_ERC20)),
        Tokens::SomeUnsupported.in_base(base::refused(kinds::SPONSOR_ERC20)),
    ]),
    Rounds::Share(8),
    single,
);

/// Valid calls of the three pairs whose result carries paymasterAndData, which is simulated on a chain. They are few, because each takes
/// several calls of the chain; there are none without a chain.
pub static ON_CHAIN: Relation =
    Relation::new("on-chain", "single valid calls whose paymasterAndData is simulated on a chain")
        .of(
            Bases::These(&[
                Base::accepted(kinds::QUOTE_SPONSORED),
                Base::accepted(kinds::SPONSOR_SPONSORED),
                Base::accepted(kinds::SPONSOR_ERC20),
            ]),
            Rounds::Fixed(8),
            |input, ids| {
                if Context::of(input.context).on_chain { single(input, ids) } else { Vec::new() }
            },
        )
        .simulated(on_chain::simulation);

fn single(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    with_variations(input, input.base.clone(), "", ids)
}

/// How a single call differs from its request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variation {
    /// Not at all.
    Plain,
    /// Its bytes are sent twice.
    SentTwice,
    /// It has a form of published clients that the target serves.
    ServedForm,
    /// Its id is a string.
    StringId,
    /// It has both info objects, as published clients send them.
    BothInfos,
    /// Its operation is the same in all such rounds.
    RepeatedOperation,
}

/// The variation of each of eight rounds.
const VARIATIONS: [Variation; 8] = {
    use Variation::{BothInfos, Plain, RepeatedOperation, SentTwice, ServedForm, StringId};
    [Plain, SentTwice, ServedForm, StringId, Plain, BothInfos, ServedForm, RepeatedOperation]
};

/// The request with the variation of its round. A labelled request gets an error: its id is of every kind that other requests have, and
/// its operation is not replaced.
pub(super) fn with_variations(
    input: &BuildInput<'_>,
    mut request: Value,
    label: &str,
    ids: &mut Ids,
) -> Vec<Member> {
    let variation = *item_of_round(input, &VARIATIONS);
    let id = ids.next_id();
    request["id"] = match (label, variation) {
        ("", Variation::StringId) => json!(format!("call-{id}")),
        ("", _) => json!(id),
        _ => id_of_any_kind(input.round, id),
    };
    match variation {
        Variation::RepeatedOperation if label.is_empty() => repeat_operation(input, &mut request),
        Variation::ServedForm => request = in_a_served_form(input, request),
        Variation::BothInfos => {
            let (name, info) = other_info(input);
            set(&mut request, MODE, name, info);
        }
        _ => {}
    }
    let call = with_own_id(Role::Call, label, &request);
    let again = Member { label: "the same bytes again".to_owned(), ..call.clone() };
    if variation == Variation::SentTwice { vec![call, again] } else { vec![call] }
}

/// Replaces a generated operation by one that is the same in all such rounds, so that a target sees one sender and one operation many
/// times in a run. An operation that the profile lists is sent often anyway.
fn repeat_operation(input: &BuildInput<'_>, request: &mut Value) {
    let operations = &Context::of(input.context).profile.operations;
    let is_accepted_call = !Context::of(input.context).is_refused_sender(&request["params"][0]);
    if operations.sponsorable.is_empty() && is_accepted_call && input.base["params"][0]["nonce"].is_string() {
        set(request, OPERATION, "sender", json!(REPEATED_SENDER));
        set(request, OPERATION, "callData", json!("0xb61d27f6"));
        set(request, OPERATION, "initCode", json!("0x"));
        let zero = Context::of(input.context).dialect.written("nonce", &BigUint::ZERO);
        set(request, OPERATION, "nonce", json!(zero));
    }
}

/// The sender of the operation that is sent many times in a run.
const REPEATED_SENDER: &str = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4";

/// The request in another form than that of the tables. The forms that the target serves take turns; without any, the request is plain.
fn in_a_served_form(input: &BuildInput<'_>, request: Value) -> Value {
    let forms = Context::of(input.context).served_forms.named(input.pair);
    let turn = input.round as usize / 4;
    let Some(form) = (!forms.is_empty()).then(|| forms[turn % forms.len()]) else { return request };
    let info = Context::of(input.context).sponsorship_info();
    form.of(&request, input.pair, &info).unwrap_or(request)
}

// Changes of the mode object (sections 2.3 and 2.4).

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
        json!({"a": 1, "b": [true, null], "c": {"d": "e"}, "note": ""}),
        json!({"": "an empty name", "user": {"id": 12_345_678_901_u64}}),
        json!({"text": "x".repeat(500)}),
        // Names that mean something to a document store, or to a language without other maps than objects.
        json!({"$set": {"amount": 1}, "order.id": "a.b", "$where": "1"}),
        json!({"__proto__": {"isAdmin": true}, "constructor": {"prototype": {}}, "hasOwnProperty": 1}),
        json!({"note": "zażółć 支付 \u{1F680}", "ключ": "значение"}),
        json!({"constructor": {"name": 1}, "length": -1, "toString": "x", "<b>": "&amp;'\""}),
        // In the order of published clients, id and jsonrpc of the request stand behind these, and here the mode too.
        json!({"list": [[[[[[[[]]]]]]], 0.1, -7, 1.5e300, true], "id": "0x12", "jsonrpc": "1.0", "mode": "ERC20"}),
    ];
    let data = item_of_round(input, &data).clone();
    let mut base = in_client_order(input.base);
    if data["mode"].is_string() {
        let mode = base["params"][1]["mode"].clone();
        remove(&mut base, MODE, "mode");
        set(&mut base, MODE, "mode", mode);
    }
    let empty = ("empty webhookData", with(&base, SPONSORSHIP_INFO, "webhookData", json!({})));
    let label = format!("webhookData {}", shown(&data));
    let some = (label, with(&base, SPONSORSHIP_INFO, "webhookData", data));
    if input.round.is_multiple_of(2) { compared(ids, empty, some) } else { compared(ids, some, empty) }
});

/// Each smart account of the profile. Published clients name it beside token mode too, where a target that takes no sponsorshipInfo refuses both.
pub static SMART_ACCOUNTS: Relation =
    Relation::new("smart-accounts", "the same call with two of the smart accounts that the profile names")
        .of(
            Bases::EveryKind,
            Rounds::scaled(4), // Two accounts of the profile in each group, so that a target which refuses one of them is found whatever account the base has.
            |input, ids| {
                let accounts = &Context::of(input.context).profile.accounts;
                if accounts.len() < 2 {
                    return Vec::new();
                }
                let request = |round: u32| {
                    let account = item_of_round(&BuildInput { round, ..*input }, accounts);
                    let label = format!("smart account {} {}", account.name, account.version);
                    let base = match Mode::of(input.pair) {
                        Mode::Sponsored => input.base.clone(),
                        Mode::Erc20 => {
                            with(input.base, MODE, "sponsorshipInfo", json!({ "webhookData": {} }))
                        }
                    };
                    (label, with(&base, SPONSORSHIP_INFO, "smartAccountInfo", json!(account)))
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
    with_baseline(input, ids, "mode SPONSORED", with(input.base, MODE, "mode", Mode::Sponsored.into_str()))
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
     calculateGasLimits, with null",
)
.of(
    Bases::These(&[Base::accepted(kinds::SPONSOR_SPONSORED), Base::accepted(kinds::SPONSOR_ERC20)]),
    Rounds::scaled(6),
    |input, ids| {
        let request = without(input.base, MODE, "mode");
        let (label, request) = match input.round % 4 {
            1 => {
                let (name, info) = other_info(input);
                ("no mode, and both info objects", with(&request, MODE, name, info))
            }
            2 => ("no mode, and no calculateGasLimits", without(&request, MODE, "calculateGasLimits")),
            3 => ("a mode of null", with(input.base, MODE, "mode", Value::Null)),
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
    let quote = kinds::is_quote(input.pair);
    let mut request = input.base.clone();
    request["params"][1] = if Mode::of(input.pair) == Mode::Sponsored {
        let info = token_info(input, quote, !quote);
        json!({"mode": Mode::Erc20.into_str(), "calculateGasLimits": true, "tokenInfo": info})
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
    let data = if input.round % 3 == 1 { webhook_data() } else { json!({}) };
    json!({"webhookData": data, "smartAccountInfo": item_of_round(input, &accounts)})
}

/// Ordinary webhookData with some content.
fn webhook_data() -> Value {
    json!({"reference": "order-7", "items": 2})
}
