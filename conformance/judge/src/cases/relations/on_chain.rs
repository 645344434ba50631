//! Calls whose answers are simulated on a chain. They are few, because each takes several calls of the chain; there are none
//! without a chain.

use paymaster_schemas::Pair;

use crate::cases::case::{Base, BuildInput, Ids, Member, Order, Relation, Rounds};
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

fn when_asked(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    if input.context.on_chain { single(input, ids) } else { Vec::new() }
}
