//! What must be refused: token mode without a token and with an unsupported one, and calls that break one keyword of their schema.

use paymaster_judge::cases::{
    case::Relation,
    plan::Plan,
    relations::{ABSENT_FEE_TOKEN, MALFORMED_PARAMS, UNSUPPORTED_FEE_TOKEN},
};
use serde_json::Value;

use super::{Chain, Scenario, single::missing};
use crate::corpus::{Draws, Entry};

static RELATIONS: [&Relation; 3] = [&ABSENT_FEE_TOKEN, &UNSUPPORTED_FEE_TOKEN, &MALFORMED_PARAMS];

pub(super) fn make(scenario: &Scenario, draws: &mut Draws<'_>) -> Result<Vec<Chain>, String> {
    let distinct = draws.distinct();
    let cases = u32::try_from(draws.size).unwrap_or(u32::MAX / 100);
    // Each relation is planned by itself and they are sent in turns: a plan goes through one relation after the other.
    let mut kinds: Vec<_> = RELATIONS
        .iter()
        .map(|relation| {
            let alone = std::slice::from_ref(relation);
            let plan = Plan::of(alone, draws.context, draws.seed, cases);
            let bodies = plan.flat_map(|group| group.members).filter_map(|member| {
                // A call without an id to echo could not be told from another.
                let request: Value = serde_json::from_slice(&member.body).ok()?;
                request["id"].is_number().then_some(request)
            });
            bodies.take(draws.size).collect::<Vec<_>>().into_iter()
        })
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut chains: Vec<Chain> = Vec::with_capacity(draws.size);
    while chains.len() < draws.size {
        let before = chains.len();
        for kind in &mut kinds {
            let fresh = kind.find(|request| seen.insert(request.to_string()));
            let entry = fresh.map(|request| Entry::new(scenario.labels[0], &request, distinct));
            chains.extend(entry.map(|entry| vec![entry.wanting_an_error()]));
        }
        if chains.len() == before {
            break;
        }
    }
    if chains.is_empty() {
        return Err(missing(scenario.id));
    }
    Ok(chains)
}
