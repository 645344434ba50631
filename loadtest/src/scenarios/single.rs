//! One method in one mode, with an operation that the target should accept.

use paymaster_engine::cases::case::Base;
use paymaster_schemas::Kind;

use super::{
    error::ScenarioError,
    generator::RequestGenerator,
    scenario::{RequestSequence, Scenario},
    template::RequestTemplate,
};

/// The weight of such a scenario in `mixed`, unless the user names weights.
pub(super) const WEIGHT: u32 = 2;

pub(super) fn make(
    scenario: &Scenario,
    generator: &mut RequestGenerator<'_>,
    pair: Kind,
) -> Result<Vec<RequestSequence>, ScenarioError> {
    let base = Base::accepted(pair);
    let distinct = generator.distinct();
    let mut sequences = Vec::with_capacity(generator.size);
    for _ in 0..generator.size {
        let request = generator.request(&base).ok_or_else(|| scenario.profile_too_small())?;
        sequences.push(vec![RequestTemplate::new(scenario.labels[0], &request, distinct)]);
    }
    Ok(sequences)
}
