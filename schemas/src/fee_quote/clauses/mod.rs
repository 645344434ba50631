//! The clauses of the specification, group by group.

mod errors;
mod interoperability;
mod methods;
mod observed;
mod on_chain;
mod plausibility;
mod requests;
mod results;

use crate::{Clause, clauses::clauses, shared};

pub(super) const CLAUSES: &[&[Clause]] = &[
    requests::CLAUSES,
    results::CLAUSES,
    shared::REQUESTS,
    shared::RESPONSES,
    methods::CLAUSES,
    shared::ERRORS,
    errors::CLAUSES,
    shared::JSON_RPC,
    interoperability::CLAUSES,
    plausibility::CLAUSES,
    on_chain::CLAUSES,
    observed::CLAUSES,
];
