//! Requests that the target must refuse: token mode without a token, token mode with an unsupported token, and calls that break
//! one keyword of their schema.

use std::collections::BTreeSet;

use paymaster_engine::cases::{case::Relation, plan::Plan};
use paymaster_fee_quote::relations::{ABSENT_FEE_TOKEN, MALFORMED_PARAMS, UNSUPPORTED_FEE_TOKEN};
use serde_json::Value;

use super::{
    error::ScenarioError,
    generator::RequestGenerator,
    scenario::{RequestSequence, Scenario},
    template::RequestTemplate,
};

static RELATIONS: [&Relation; 3] = [&ABSENT_FEE_TOKEN, &UNSUPPORTED_FEE_TOKEN, &MALFORMED_PARAMS];

pub(super) fn make(
    scenario: &Scenario,
    generator: &mut RequestGenerator<'_>,
) -> Result<Vec<RequestSequence>, ScenarioError> {
    let distinct = generator.distinct();
    let cases = u32::try_from(generator.size).unwrap_or(u32::MAX / 100);
    // A plan takes one relation after the other. Here they alternate, so each relation has a plan of its own.
    let mut by_relation: Vec<_> = RELATIONS
        .iter()
        .map(|relation| {
            let plan = Plan::of(std::slice::from_ref(relation), generator.context, generator.seed, cases);
            let bodies = plan.flat_map(|group| group.members).filter_map(|member| {
                // The answer is recognized by its id, so a call without one is left out.
                let request: Value = serde_json::from_slice(&member.body).ok()?;
                request["id"].is_number().then_some(request)
            });
            bodies.take(generator.size).collect::<Vec<_>>().into_iter()
        })
        .collect();
    let mut bodies = BTreeSet::new();
    let mut sequences: Vec<RequestSequence> = Vec::with_capacity(generator.size);
    while sequences.len() < generator.size {
        let before = sequences.len();
        for requests in &mut by_relation {
            let fresh = requests.find(|request| bodies.insert(request.to_string()));
            let template = fresh.map(|request| RequestTemplate::new(scenario.labels[0], &request, distinct));
            sequences.extend(template.map(|template| vec![template.expecting_error()]));
        }
        if sequences.len() == before {
            break;
        }
    }
    if sequences.is_empty() {
        return Err(scenario.profile_too_small());
    }
    Ok(sequences)
}
