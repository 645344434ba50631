//! Members that the tables list and do not call mandatory: null in place of each, and each left out. The specification shows no answer, so
//! that only its form is judged. A form without a member that discovery found served is drawn among the calls too, and judged.

use paymaster_schemas::{Mode, Pair};
use serde_json::{Value, json};

use crate::{
    cases::{
        case::{BuildInput, Ids, Member, Order, Relation, Role, Rounds},
        relations::edit::{ALL_PAIRS, MODE, OPERATION, baseline, member, remove, set},
    },
    message::tables::GAS,
};

/// The baseline with one optional member of null, and without it.
pub static OPTIONAL_MEMBERS: Relation = Relation {
    id: "optional-members",
    about: "the same call with null in place of each optional member, and without each",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(2),
    order: Order::Sequential,
    members: optional_members,
};

/// Before the name of the member, in the label of a request with null in its place.
pub(crate) const NULL_AS: &str = "null as ";
/// Before the name of the member, in the label of a request without it.
pub(crate) const WITHOUT: &str = "without ";

const SPONSORSHIP_INFO: &str = "/params/1/sponsorshipInfo";
const TOKEN_INFO: &str = "/params/1/tokenInfo";

/// The optional members of a request: place and name.
fn optional(pair: Pair) -> Vec<(&'static str, &'static str)> {
    let mut members = vec![(MODE, "calculateGasLimits"), (OPERATION, "initCode")];
    members.extend(GAS.map(|name| (OPERATION, name)));
    if pair.mode == Mode::Sponsored {
        members.extend([(SPONSORSHIP_INFO, "webhookData"), (SPONSORSHIP_INFO, "smartAccountInfo")]);
    }
    if pair == Pair::SPONSOR_SPONSORED {
        members.push((MODE, "expiryDuration"));
    }
    if pair == Pair::QUOTE_ERC20 {
        members.extend([(TOKEN_INFO, "preferredToken"), (TOKEN_INFO, "tokenList")]);
    }
    members
}

fn optional_members(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let mut members = vec![baseline(input, ids)];
    let mut probe = |label: String, request: Value| members.push(member(Role::Probe, label, request, ids));
    // By turns, so that a run of few cases has both of every member with some pair.
    let is_null = |place: usize| (place + input.round as usize).is_multiple_of(2);
    for (place, (parent, name)) in optional(pair).into_iter().enumerate() {
        let mut request = input.base.clone();
        if is_null(place) {
            set(&mut request, parent, name, Value::Null);
            probe(format!("{NULL_AS}{name}"), request);
        } else {
            remove(&mut request, parent, name);
            probe(format!("{WITHOUT}{name}"), request);
        }
    }
    // The info object of the other mode, which some clients send empty.
    let other = match pair.mode {
        Mode::Sponsored => "tokenInfo",
        Mode::Erc20 => "sponsorshipInfo",
    };
    let mut request = input.base.clone();
    set(&mut request, MODE, other, json!(null));
    probe(format!("{NULL_AS}{other}"), request);
    members
}
