//! The letter case of addresses: in every spelling, at every place of a request.

use paymaster_schemas::Pair;

use crate::{
    cases::{
        case::{Base, BuildInput, Draw, Ids, Member, Order, Relation, Role, Rounds, Tokens},
        relations::edit::{baseline, member},
    },
    target::spellings::{Place, Spelling},
};

/// The same request with the addresses at one place in each spelling.
pub static LETTER_CASE: Relation = Relation {
    id: "letter-case",
    about: "the same call with senders and tokens in lower case, with the checksum of EIP-55 and in capital letters",
    bases: &[
        Base::sponsored(Pair::SPONSOR_SPONSORED),
        Base::refused(Pair::SPONSOR_SPONSORED),
        Base::sponsored(Pair::QUOTE_SPONSORED),
        Base::refused(Pair::QUOTE_SPONSORED),
        Base::accepted(Pair::QUOTE_ERC20),
        with_unsupported(Pair::QUOTE_ERC20),
        Base::accepted(Pair::SPONSOR_ERC20),
        with_unsupported(Pair::SPONSOR_ERC20),
    ],
    rounds: Rounds::scaled(3), // at least one for each place of a quote in token mode
    order: Order::Sequential,
    members: letter_case,
};

const fn with_unsupported(pair: Pair) -> Base {
    Base { pair, draw: Draw::Accepted, tokens: Tokens::SomeUnsupported }
}

fn letter_case(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let places = Place::of(pair);
    // Tokens first: senders are drawn in two spellings anyway.
    let place = places[places.len() - 1 - input.round as usize % places.len()];
    let fee_token = input.context.dialect.fee_token_member.as_str();
    let mut members = vec![baseline(input, ids)];
    for spelling in Spelling::ALL {
        if let Some(request) = place.respelled(input.base, spelling, fee_token) {
            let label = format!("{} {}", place.name(), spelling.in_words());
            members.push(member(Role::Variant, label, request, ids));
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_round() {
        let most = Pair::ALL.into_iter().map(|pair| Place::of(pair).len()).max();
        assert_eq!(Some(LETTER_CASE.rounds.count(u32::MAX) as usize), most);
    }
}
