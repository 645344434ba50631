//! Single calls: the bulk of a run, enough of them that a fault in one answer of 25 is found.

use paymaster_schemas::Pair;

use super::edit::member;
use crate::case::{Base, Draw, Ids, Member, Order, Relation, Rounds, Seed, Tokens};

const fn any(pair: Pair) -> Base {
    Base {
        pair,
        draw: Draw::Accepted,
        tokens: Tokens::Any,
    }
}

/// Valid calls of all four pairs.
pub static CALLS: Relation = Relation {
    id: "calls",
    about: "single valid calls, every lawful mix of tokens",
    bases: &[
        any(Pair::QUOTE_SPONSORED),
        any(Pair::QUOTE_ERC20),
        any(Pair::SPONSOR_SPONSORED),
        any(Pair::SPONSOR_ERC20),
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

pub(super) fn single(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    vec![member("call", "", seed.base, ids)]
}
