//! The forms in which the same request can be written and sent: by published clients, in another letter case, without optional members.

use paymaster_engine::cases::{
    case::{Base, Bases, Relation, Role, Rounds},
    edit::{alternately, baseline, item_of_round, member, with, without},
    protocol::headers,
};
use paymaster_schemas::{Kind, Mode, kinds};
use serde_json::Value;

use crate::{
    base,
    relations::{MODE, OPERATION, SPONSORSHIP_INFO, TOKEN_INFO},
    tables::GAS,
    target::{
        context::Context,
        forms,
        spellings::{Place, Spelling},
    },
};

/// A plain request, and the same request in a form of published clients, by turns.
pub static CLIENT_FORMS: Relation = Relation::new(
    "client-forms",
    "the same call as published clients write it: hex amounts, additional members, both info \
     objects",
)
.of(Bases::EveryKind, Rounds::for_each(forms::CLIENT_FORMS), |input, ids| {
    let form = item_of_round(input, forms::CLIENT_FORMS);
    let info = Context::of(input.context).sponsorship_info();
    let Some(request) = form.of(input.base, input.pair, &info) else { return Vec::new() };
    let label = format!("as written by {} ({})", form.clients, form.name);
    let plain = baseline(input, ids);
    alternately(&plain, &member(Role::Variant, label, request, ids))
});

/// A call with the request headers of published clients.
pub static HEADERS: Relation =
    headers(Bases::These(&[base::sponsored(kinds::SPONSOR_SPONSORED), Base::accepted(kinds::QUOTE_ERC20)]));

/// A request with the addresses at one place in each spelling.
pub static LETTER_CASE: Relation = Relation::new(
    "letter-case",
    "the same call with senders and tokens in lower case, with the checksum of EIP-55 and in \
     capital letters",
)
.of(
    Bases::These(&[
        base::sponsored(kinds::SPONSOR_SPONSORED),
        base::refused(kinds::SPONSOR_SPONSORED),
        base::sponsored(kinds::QUOTE_SPONSORED),
        base::refused(kinds::QUOTE_SPONSORED),
        Base::accepted(kinds::QUOTE_ERC20),
        base::unsupported_token(kinds::QUOTE_ERC20),
        Base::accepted(kinds::SPONSOR_ERC20),
        base::unsupported_token(kinds::SPONSOR_ERC20),
    ]),
    Rounds::scaled(3), // at least one for each place of a quote in token mode
    |input, ids| {
        let places = Place::of(input.pair);
        // Tokens first: senders are drawn in two spellings anyway.
        let place = places[places.len() - 1 - input.round as usize % places.len()];
        let fee_token = Context::of(input.context).dialect.fee_token_member.as_str();
        let mut members = vec![baseline(input, ids)];
        for spelling in Spelling::ALL {
            if let Some(request) = place.respelled(input.base, spelling, fee_token) {
                let label = format!("{} {}", place.name(), spelling.in_words());
                members.push(member(Role::Variant, label, request, ids));
            }
        }
        members
    },
);

/// Members that the tables list and do not call mandatory: null in place of each, and each left out. The specification shows no answer, so
/// that only its form is judged. A form without a member that discovery found served is drawn among the calls too, and judged.
///
/// The baseline with one optional member of null, and without it.
pub static OPTIONAL_MEMBERS: Relation = Relation::new(
    "optional-members",
    "the same call with null in place of each optional member, and without each",
)
.of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
    let mut members = vec![baseline(input, ids)];
    let mut probe = |label: String, request: Value| members.push(member(Role::Probe, label, request, ids));
    // By turns, so that a run of few cases has both of every member with some pair.
    let is_null = |place: usize| (place + input.round as usize).is_multiple_of(2);
    for (place, (parent, name)) in optional(input.pair).into_iter().enumerate() {
        if is_null(place) {
            probe(format!("{NULL_AS}{name}"), with(input.base, parent, name, Value::Null));
        } else {
            probe(format!("{WITHOUT}{name}"), without(input.base, parent, name));
        }
    }
    // The info object of the other mode, which some clients send empty.
    let other = match Mode::of(input.pair) {
        Mode::Sponsored => "tokenInfo",
        Mode::Erc20 => "sponsorshipInfo",
    };
    probe(format!("{NULL_AS}{other}"), with(input.base, MODE, other, Value::Null));
    members
});

/// Before the name of the member, in the label of a request with null in its place.
pub(crate) const NULL_AS: &str = "null as ";
/// Before the name of the member, in the label of a request without it.
pub(crate) const WITHOUT: &str = "without ";

/// The optional members of a request: place and name.
fn optional(pair: Kind) -> Vec<(&'static str, &'static str)> {
    let mut members = vec![(MODE, "calculateGasLimits"), (OPERATION, "initCode")];
    members.extend(GAS.map(|name| (OPERATION, name)));
    if Mode::of(pair) == Mode::Sponsored {
        members.extend([(SPONSORSHIP_INFO, "webhookData"), (SPONSORSHIP_INFO, "smartAccountInfo")]);
    }
    if pair == kinds::SPONSOR_SPONSORED {
        members.push((MODE, "expiryDuration"));
    }
    if pair == kinds::QUOTE_ERC20 {
        members.extend([(TOKEN_INFO, "preferredToken"), (TOKEN_INFO, "tokenList")]);
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_round() {
        let most = kinds::ALL.into_iter().map(|pair| Place::of(pair).len()).max();
        assert_eq!(Some(LETTER_CASE.rounds.count(u32::MAX) as usize), most);
    }
}
