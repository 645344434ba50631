//! What a wallet does: it requests quotes for an operation, chooses a token from the answer, and requests sponsorship of the same
//! operation in that token. The token address is sent exactly as the quote spells it.

use paymaster_engine::cases::case::Base;
use paymaster_schemas::kinds;
use serde_json::json;

use super::{
    error::ScenarioError,
    generator::RequestGenerator,
    scenario::{RequestSequence, Scenario},
    template::{RequestTemplate, TOKEN_SLOT},
};

pub(super) fn make(
    scenario: &Scenario,
    generator: &mut RequestGenerator<'_>,
) -> Result<Vec<RequestSequence>, ScenarioError> {
    let (quote_base, sponsor_base) =
        (Base::accepted(kinds::QUOTE_ERC20), Base::accepted(kinds::SPONSOR_ERC20));
    let member = generator.context.dialect.fee_token_member.clone();
    let distinct = generator.distinct();
    let mut sequences = Vec::with_capacity(generator.size);
    for _ in 0..generator.size {
        let drawn = generator.request(&quote_base).zip(generator.request(&sponsor_base));
        let (quote, mut sponsor) = drawn.ok_or_else(|| scenario.profile_too_small())?;
        sponsor["params"][0] = quote["params"][0].clone();
        sponsor["params"][1]["tokenInfo"][&member] = json!(TOKEN_SLOT);
        sequences.push(vec![
            RequestTemplate::new(scenario.labels[0], &quote, distinct),
            RequestTemplate::new(scenario.labels[1], &sponsor, distinct),
        ]);
    }
    Ok(sequences)
}
