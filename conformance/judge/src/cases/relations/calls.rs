//! Single calls: most of the requests of a run.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::cases::case::{Base, BuildInput, Ids, Member, Order, Relation, Role, Rounds};
use crate::cases::relations::{
    edit::{MODE, OPERATION, id_of_any_kind, set, with_own_id},
    mode_object::other_info,
};
use crate::message::tables::is_hex;

/// Valid calls of all four pairs.
pub static CALLS: Relation = Relation {
    id: "calls",
    about: "single valid calls, every lawful mix of tokens",
    bases: &[
        Base::any_tokens(Pair::QUOTE_SPONSORED),
        Base::any_tokens(Pair::QUOTE_ERC20),
        Base::any_tokens(Pair::SPONSOR_SPONSORED),
        Base::any_tokens(Pair::SPONSOR_ERC20),
    ],
    rounds: Rounds::Share(100),
    order: Order::Sequential,
    members: single,
};

/// Valid calls whose operation the target does not sponsor.
pub static REFUSED_CALLS: Relation = Relation {
    id: "refused-calls",
    about: "single valid calls of operations that cannot be sponsored",
    bases: &[Base::refused(Pair::QUOTE_SPONSORED), Base::refused(Pair::SPONSOR_SPONSORED)],
    rounds: Rounds::Share(60),
    order: Order::Sequential,
    members: single,
};

/// Calls in token mode whose operation the target does not sponsor: section 4.2, rule 6, allows no refusal of a supported token.
pub static REFUSED_IN_TOKEN_MODE: Relation = Relation {
    id: "refused-in-token-mode",
    about: "calls in token mode of operations that cannot be sponsored",
    bases: &[Base::refused(Pair::QUOTE_ERC20), Base::refused(Pair::SPONSOR_ERC20)],
    rounds: Rounds::Share(8),
    order: Order::Sequential,
    members: single,
};

pub(super) fn single(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    with_variations(input, input.base.clone(), "", ids)
}

/// The request, with a variation in five rounds of eight: a string id; a form of published clients that the target serves (in two);
/// both info objects, as published clients send them; the same bytes sent twice.
pub(super) fn with_variations(
    input: &BuildInput<'_>,
    mut request: Value,
    label: &str,
    ids: &mut Ids,
) -> Vec<Member> {
    let id = ids.next_id();
    request["id"] = match label {
        "" if input.round % 8 == 3 => json!(format!("call-{id}")),
        "" => json!(id),
        // A labelled request gets an error: its id is of every kind that other requests have.
        _ => id_of_any_kind(input.round, id),
    };
    if input.round % 8 == 7 && label.is_empty() {
        repeat_operation(input, &mut request);
    }
    if input.round % 4 == 2
        && let Some(pair) = input.pair
    {
        request = in_a_served_form(input, pair, request);
    }
    if input.round % 8 == 5
        && let Some(pair) = input.pair
    {
        let (name, info) = other_info(input, pair);
        set(&mut request, MODE, name, info);
    }
    let call = with_own_id(Role::Call, label, &request);
    if input.round % 8 != 1 {
        return vec![call];
    }
    let again = Member { label: "the same bytes again".to_owned(), ..call.clone() };
    vec![call, again]
}

/// Replaces a generated operation by one that is the same in all such rounds, so that a target sees one sender and one operation many
/// times in a run. An operation that the profile lists is sent often anyway.
fn repeat_operation(input: &BuildInput<'_>, request: &mut Value) {
    let operations = &input.context.profile.operations;
    let is_accepted_call = !input.context.is_refused_sender(&request["params"][0]);
    if operations.sponsorable.is_empty() && is_accepted_call && input.base["params"][0]["nonce"].is_string() {
        set(request, OPERATION, "sender", json!(REPEATED_SENDER));
        set(request, OPERATION, "callData", json!("0xb61d27f6"));
        set(request, OPERATION, "initCode", json!("0x"));
        let zero = if is_hex("nonce", input.context.dialect.amount_notation) { "0x0" } else { "0" };
        set(request, OPERATION, "nonce", json!(zero));
    }
}

/// The sender of the operation that is sent many times in a run.
const REPEATED_SENDER: &str = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4";

/// The request in another form than that of the tables. The forms that the target serves take turns; without any, the request is plain.
fn in_a_served_form(input: &BuildInput<'_>, pair: Pair, request: Value) -> Value {
    let forms = input.context.served_forms.named(pair);
    let turn = input.round as usize / 4;
    let Some(form) = (!forms.is_empty()).then(|| forms[turn % forms.len()]) else {
        return request;
    };
    let extras = input.context.form_extras();
    form.of(&request, pair, &extras).unwrap_or(request)
}
