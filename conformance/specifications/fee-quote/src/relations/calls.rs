//! Single calls: most of the requests of a run.

use crate::relations::{MODE, OPERATION, SPONSORSHIP_INFO};
use crate::{base, on_chain, relations::mode_object::other_info, tables::GAS, target::context::Context};
use num_bigint::BigUint;
use paymaster_engine::cases::{
    case::{Base, Bases, BuildInput, Ids, Member, Relation, Role, Rounds},
    edit::{id_of_any_kind, item_of_round, member, set, with_own_id},
};
use paymaster_schemas::kinds;
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
     limits, fees, accounts and the other name of the mode",
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
        add("gas that costs more than 2^64 wei", &|request| {
            set(request, OPERATION, "callGasLimit", amount("callGasLimit", 29_000_000));
            set(request, OPERATION, "maxFeePerGas", amount("maxFeePerGas", 9_000_000_000_000));
        });
        add("a dummy signature and paymasterAndData", &|request| {
            // What wallets send for an estimate: a signature of the right length that recovers to some address.
            let signature = format!("0x{}7aaa{}1c", "f".repeat(62), "7".repeat(62));
            set(request, OPERATION, "signature", json!(signature));
            set(request, OPERATION, "paymasterAndData", json!("0x"));
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

/// Calls in token mode whose operation the target does not sponsor: section 4.2, rule 6, allows no refusal of a supported token.
pub static REFUSED_IN_TOKEN_MODE: Relation =
    Relation::new("refused-in-token-mode", "calls in token mode of operations that cannot be sponsored").of(
        Bases::These(&[base::refused(kinds::QUOTE_ERC20), base::refused(kinds::SPONSOR_ERC20)]),
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
