//! Requests as published clients write them.

use crate::cases::{
    case::{BuildInput, Ids, Member, Order, Relation, Role, Rounds},
    relations::edit::{ALL_PAIRS, alternately, baseline, member},
};
use crate::target::forms;

/// A plain request, and the same request in a form of published clients, by turns.
pub static CLIENT_FORMS: Relation = Relation {
    id: "client-forms",
    about: "the same call as published clients write it: hex amounts, additional members, both info objects",
    bases: ALL_PAIRS,
    rounds: Rounds::for_each(forms::CLIENT_FORMS),
    order: Order::Sequential,
    members: in_client_form,
};

fn in_client_form(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let form = &forms::CLIENT_FORMS[input.round as usize % forms::CLIENT_FORMS.len()];
    let rewritten = input.pair.and_then(|pair| form.of(input.base, pair, &input.context.form_extras()));
    let Some(request) = rewritten else {
        return Vec::new();
    };
    let label = format!("as written by {} ({})", form.clients, form.name);
    let plain = baseline(input, ids);
    alternately(&plain, &member(Role::Variant, label, request, ids))
}
