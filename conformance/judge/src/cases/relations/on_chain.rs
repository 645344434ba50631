//! Calls whose answers are put before a chain. Few, since each costs the chain some calls; none unless a chain is given.

use paymaster_schemas::Pair;

use crate::cases::case::{Base, Ids, Member, Order, Relation, Rounds, Seed};
use crate::cases::relations::calls::single;

/// Valid calls of the three pairs whose result carries paymasterAndData.
pub static ON_CHAIN: Relation = Relation {
    id: "on-chain",
    about: "single valid calls whose paymasterAndData is simulated on a chain",
    bases: &[
        Base::accepted(Pair::QUOTE_SPONSORED),
        Base::accepted(Pair::SPONSOR_SPONSORED),
        Base::accepted(Pair::SPONSOR_ERC20),
    ],
    rounds: Rounds::Fixed(8),
    order: Order::Sequential,
    members: when_asked,
};

fn when_asked(input: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    if input.context.on_chain {
        single(input, ids)
    } else {
        Vec::new()
    }
}
