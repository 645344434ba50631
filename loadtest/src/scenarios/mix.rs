//! The order in which scenarios are sent: by their weights, exactly, and spread evenly.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    MIXED, SCENARIOS,
    error::ScenarioError,
    find,
    generator::RequestGenerator,
    scenario::{RequestSequence, Scenario},
    unknown_name,
};

/// Weights by the name of the scenario.
pub type Weights = BTreeMap<String, u32>;

/// Most entries of a cycle. Larger sums of weights are scaled down to it.
const LONGEST_CYCLE: u32 = 10_000;

/// The request sequences of the chosen scenarios, and the cycle in which scenarios take turns.
#[derive(Debug)]
pub struct Mix {
    scenarios: Vec<(&'static Scenario, Arc<Vec<RequestSequence>>)>,
    /// For each iteration of a cycle: the index of its scenario, and how often the scenario came before in the cycle.
    cycle: Vec<(usize, usize)>,
    /// How often each scenario occurs in a cycle.
    shares: Vec<usize>,
    left_out: Vec<ScenarioError>,
}

impl Mix {
    /// Makes the requests of one scenario, or of all of them for the name `mixed`. `mixed` leaves a scenario out if the profile
    /// does not allow its requests and the user gave it no weight.
    pub fn new(
        name: &str,
        weights: &Weights,
        generator: &mut RequestGenerator<'_>,
    ) -> Result<Self, ScenarioError> {
        let (mut scenarios, mut weights_used, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (scenario, weight) in chosen(name, weights)? {
            match (scenario.make)(scenario, generator) {
                Ok(sequences) => {
                    scenarios.push((scenario, Arc::new(sequences)));
                    weights_used.push(weight);
                }
                Err(cause) if name == MIXED && !weights.contains_key(scenario.id) => left_out.push(cause),
                Err(cause) => return Err(cause),
            }
        }
        if scenarios.is_empty() {
            return Err(ScenarioError::NoneUsable(left_out));
        }
        Ok(Self::assemble(scenarios, &weights_used, left_out))
    }

    fn assemble(
        scenarios: Vec<(&'static Scenario, Arc<Vec<RequestSequence>>)>,
        weights: &[u32],
        left_out: Vec<ScenarioError>,
    ) -> Self {
        let mut shares = vec![0; scenarios.len()];
        let cycle = cycle(weights)
            .into_iter()
            .map(|scenario| {
                shares[scenario] += 1;
                (scenario, shares[scenario] - 1)
            })
            .collect();
        Self {
            scenarios,
            cycle,
            shares,
            left_out,
        }
    }

    /// A mix of the same requests with other weights. Scenarios without a weight are left out; none if no scenario remains.
    #[must_use]
    pub fn reweighted(&self, weight: impl Fn(&str) -> u32) -> Option<Self> {
        let weighted = self
            .scenarios
            .iter()
            .map(|(scenario, sequences)| ((*scenario, Arc::clone(sequences)), weight(scenario.id)));
        let (scenarios, weights): (Vec<_>, Vec<_>) = weighted.filter(|(_, weight)| *weight > 0).unzip();
        (!scenarios.is_empty()).then(|| Self::assemble(scenarios, &weights, Vec::new()))
    }

    /// The request sequence of iteration `number` (from 0).
    pub fn sequence(&self, number: u64) -> &RequestSequence {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let (scenario, before) = self.cycle[number % self.cycle.len()];
        let (_, sequences) = &self.scenarios[scenario];
        let round = number / self.cycle.len();
        let index = (round * self.shares[scenario] + before) % sequences.len();
        &sequences[index]
    }

    /// The mean number of requests of an iteration.
    pub fn requests_per_iteration(&self) -> f64 {
        let steps = |scenario: usize| self.scenarios[scenario].0.labels.len();
        let sum: usize = self.cycle.iter().map(|(scenario, _)| steps(*scenario)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few thousand iterations")]
        let mean = sum as f64 / self.cycle.len().max(1) as f64;
        mean
    }

    /// The names of the scenarios that are sent.
    pub fn names(&self) -> Vec<&'static str> {
        self.scenarios.iter().map(|(scenario, _)| scenario.id).collect()
    }

    /// Why scenarios of `mixed` are not sent.
    pub fn left_out(&self) -> &[ScenarioError] {
        &self.left_out
    }
}

fn chosen(name: &str, weights: &Weights) -> Result<Vec<(&'static Scenario, u32)>, ScenarioError> {
    if let Some(unknown) = weights.keys().find(|name| find(name).is_none()) {
        return Err(unknown_name(unknown));
    }
    if name != MIXED {
        let scenario = find(name).ok_or_else(|| unknown_name(name))?;
        return Ok(vec![(scenario, 1)]);
    }
    let weight = |scenario: &Scenario| {
        let named = weights.get(scenario.id).copied();
        // If the user names weights, scenarios without one are not sent.
        named.unwrap_or(if weights.is_empty() { scenario.weight } else { 0 })
    };
    let chosen: Vec<_> = SCENARIOS
        .iter()
        .map(|scenario| (scenario, weight(scenario)))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    if chosen.is_empty() {
        return Err(ScenarioError::NoWeight);
    }
    Ok(chosen)
}

/// One index for each unit of weight, spread evenly: the scenario that is furthest behind its share comes next.
fn cycle(weights: &[u32]) -> Vec<usize> {
    let divisor = weights
        .iter()
        .fold(0, |divisor, weight| common_factor(divisor, *weight))
        .max(1);
    let sum: u64 = weights.iter().map(|weight| u64::from(weight / divisor)).sum();
    let scale = sum.div_ceil(u64::from(LONGEST_CYCLE)).max(1);
    let shares: Vec<i64> = weights
        .iter()
        .map(|weight| {
            i64::from(weight / divisor)
                .div_euclid(i64::try_from(scale).unwrap_or(1))
                .max(1)
        })
        .collect();
    let sum: i64 = shares.iter().sum();
    let mut credit = vec![0_i64; shares.len()];
    (0..sum)
        .map(|_| {
            for (credit, share) in credit.iter_mut().zip(&shares) {
                *credit += share;
            }
            let next = (0..credit.len()).max_by_key(|place| (credit[*place], std::cmp::Reverse(*place)));
            let next = next.unwrap_or_default();
            credit[next] -= sum;
            next
        })
        .collect()
}

/// The greatest common divisor.
const fn common_factor(mut left: u32, mut right: u32) -> u32 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Reads a weight that is written as `NAME=NUMBER`, for example `journey=3`.
pub fn parse_weight(text: &str) -> Result<(String, u32), ScenarioError> {
    let (name, weight) = text
        .split_once('=')
        .ok_or_else(|| ScenarioError::WeightSyntax(text.to_owned()))?;
    let name = name.trim();
    if find(name).is_none() {
        return Err(unknown_name(name));
    }
    let weight = weight.trim().parse().map_err(|source| ScenarioError::Weight {
        text: text.to_owned(),
        source,
    })?;
    Ok((name.to_owned(), weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_and_spread() {
        assert_eq!(cycle(&[1]), [0]);
        assert_eq!(cycle(&[2, 2]), [0, 1]);
        assert_eq!(cycle(&[3, 1]), [0, 0, 1, 0]);
        let many = cycle(&[7, 2, 1]);
        for (place, share) in [7, 2, 1].into_iter().enumerate() {
            assert_eq!(many.iter().filter(|index| **index == place).count(), share);
        }
        assert!(cycle(&[4_000_000_000, 1]).len() <= 2 * LONGEST_CYCLE as usize);
    }

    #[test]
    fn weights_name_scenarios() {
        assert_eq!(parse_weight("journey=3"), Ok(("journey".to_owned(), 3)));
        for (text, word) in [
            ("journey", "SCENARIO=NUMBER"),
            ("jurney=3", "no scenario"),
            ("journey=-1", "whole number"),
        ] {
            let refusal = parse_weight(text).unwrap_err().to_string();
            assert!(refusal.contains(word), "{refusal}");
        }
        let only = chosen(MIXED, &Weights::from([("errors".to_owned(), 2)])).unwrap();
        assert_eq!(only.len(), 1);
        assert!(chosen(MIXED, &Weights::from([("errors".to_owned(), 0)])).is_err());
        assert!(chosen("nothing", &Weights::new()).is_err());
    }
}
