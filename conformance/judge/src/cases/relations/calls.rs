//! Single calls: most of the requests of a run.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::cases::case::{Base, BuildInput, Ids, Member, Order, Relation, Role, Rounds};
use crate::cases::relations::{
    edit::{MODE, set, with_own_id},
    mode_object::other_info,
};

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
    bases: &[
        Base::refused(Pair::QUOTE_SPONSORED),
        Base::refused(Pair::SPONSOR_SPONSORED),
    ],
    rounds: Rounds::Share(60),
    order: Order::Sequential,
    members: single,
};

/// Calls in token mode whose operation the target does not sponsor: section 4.2, rule 6, allows no refusal of a supported token.
pub static REFUSED_IN_TOKEN_MODE: Relation = Relation {
    id: "refused-in-token-mode",
    about: "calls in token mode of operations that cannot be sponsored",
    bases: &[
        Base::refused(Pair::QUOTE_ERC20),
        Base::refused(Pair::SPONSOR_ERC20),
    ],
    rounds: Rounds::Share(8),
    order: Order::Sequential,
    members: single,
};

pub(super) fn single(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    with_variations(input, input.base.clone(), "", ids)
}

/// The request, with a variation in three rounds of eight: a string id; both info objects, as published clients send them; the
/// same bytes sent twice.
pub(super) fn with_variations(
    input: &BuildInput<'_>,
    mut request: Value,
    label: &str,
    ids: &mut Ids,
) -> Vec<Member> {
    let id = ids.next_id();
    request["id"] = if input.round % 8 == 3 {
        json!(format!("call-{id}"))
    } else {
        json!(id)
    };
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
    let again = Member {
        label: "the same bytes again".to_owned(),
        ..call.clone()
    };
    vec![call, again]
}
