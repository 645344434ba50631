//! One method in one mode, with an operation that the target should accept.

use paymaster_judge::cases::case::Base;

use super::{Chain, Scenario, pair};
use crate::corpus::{Draws, Entry};

/// How often one of these is part of `mixed`, where the user does not say.
const WEIGHT: u32 = 2;

pub(super) const fn scenario(
    id: &'static str,
    about: &'static str,
    labels: &'static [&'static str],
) -> Scenario {
    Scenario {
        id,
        about,
        weight: WEIGHT,
        labels,
        make,
    }
}

fn make(scenario: &Scenario, draws: &mut Draws<'_>) -> Result<Vec<Chain>, String> {
    let base = pair(scenario.id)
        .map(Base::accepted)
        .ok_or_else(|| format!("{}: no method and mode of that name", scenario.id))?;
    let distinct = draws.distinct();
    let mut chains = Vec::with_capacity(draws.size);
    for _ in 0..draws.size {
        let Some(request) = draws.request(&base) else {
            return Err(missing(scenario.id));
        };
        chains.push(vec![Entry::new(scenario.labels[0], &request, distinct)]);
    }
    Ok(chains)
}

/// Why a request cannot be made.
pub(super) fn missing(id: &str) -> String {
    format!(
        "{id}: nothing is known to make such requests from: name tokens.supported (token mode) or operations.sponsorable in the profile"
    )
}
