//! The same request with the headers of published HTTP clients.

use paymaster_schemas::Pair;

use crate::cases::{
    case::{Base, BuildInput, Ids, Member, Order, Relation, Role, Rounds},
    clients::CLIENTS,
    relations::edit::{alternately, baseline, item_of_round},
};

/// The same bytes with plain headers, and with those of a published client, by turns.
pub static HEADERS: Relation = Relation {
    id: "headers",
    about: "the same call with the request headers of published HTTP clients",
    bases: &[Base::sponsored(Pair::SPONSOR_SPONSORED), Base::accepted(Pair::QUOTE_ERC20)],
    rounds: Rounds::for_each(CLIENTS), // in each of the two pairs
    order: Order::Sequential,
    members: headers,
};

fn headers(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let client = item_of_round(input, CLIENTS);
    let plain = baseline(input, ids);
    let variant = Member {
        role: Role::Variant,
        label: format!("the headers of {}", client.name),
        sent_as: Some(client),
        ..plain.clone()
    };
    alternately(&plain, &variant)
}
