//! The order in which scenarios are sent: drawn by their weights, as a function of the seed.

use std::{collections::BTreeMap, sync::Arc};

use paymaster_engine::load::Scenario;

use super::{MIXED, RequestGenerator, RequestSequence, names, unknown};
use crate::number::{float, random_part};

/// Weights by the name of the scenario.
pub type Weights = BTreeMap<String, u32>;

/// Separates the draws of scenarios from those of Poisson arrivals, which have the same seed.
const DRAWS: u64 = 0x5ce7_a105;

/// The request sequences of the chosen scenarios, and the weights by which scenarios are drawn.
#[derive(Debug)]
pub struct Mix {
    scenarios: Vec<DrawnScenario>,
    seed: u64,
    /// Why scenarios of `mixed` are not sent.
    pub left_out: Vec<String>,
}

#[derive(Debug)]
struct DrawnScenario {
    scenario: &'static Scenario,
    sequences: Arc<Vec<RequestSequence>>,
    /// The sum of its weight and of the weights before it.
    bound: u64,
}

impl Mix {
    /// Makes the requests of one scenario, or of all of them for the name `mixed`. `mixed` leaves a scenario out if the profile
    /// does not allow its requests and the user gave it no weight.
    pub fn new(name: &str, weights: &Weights, generator: &mut RequestGenerator<'_>) -> Result<Self, String> {
        let (mut scenarios, mut left_out) = (Vec::new(), Vec::new());
        for (scenario, weight) in chosen(generator.scenarios(), name, weights)? {
            match generator.sequences(scenario) {
                Ok(sequences) => scenarios.push((scenario, Arc::new(sequences), weight)),
                Err(cause) if name == MIXED && !weights.contains_key(scenario.id) => left_out.push(cause),
                Err(cause) => return Err(cause),
            }
        }
        let mix = Self::of(scenarios, generator.seed).ok_or_else(|| left_out.join("; "))?;
        Ok(Self { left_out, ..mix })
    }

    /// A mix of these scenarios, each with its weight. Those without a weight are left out; none if no scenario remains.
    fn of(
        scenarios: impl IntoIterator<Item = (&'static Scenario, Arc<Vec<RequestSequence>>, u32)>,
        seed: u64,
    ) -> Option<Self> {
        let mut bound = 0;
        let weighted = scenarios.into_iter().filter(|(.., weight)| *weight > 0);
        let drawn = weighted.map(|(scenario, sequences, weight)| {
            bound += u64::from(weight);
            DrawnScenario { scenario, sequences, bound }
        });
        let scenarios: Vec<_> = drawn.collect();
        (!scenarios.is_empty()).then_some(Self { scenarios, seed, left_out: Vec::new() })
    }

    /// A mix of the same requests with other weights. Scenarios without a weight are left out; none if no scenario remains.
    #[must_use]
    pub fn reweighted(&self, weight: impl Fn(&str) -> u32) -> Option<Self> {
        let reweighted =
            |drawn: &DrawnScenario| (drawn.scenario, Arc::clone(&drawn.sequences), weight(drawn.scenario.id));
        Self::of(self.scenarios.iter().map(reweighted), self.seed)
    }

    /// The request sequence of iteration `number` (from 0). Scenarios are drawn by their weights, and not in a rotation: a target that
    /// answers every 7th request wrongly, or replicas that take turns, then meet every scenario.
    pub fn sequence(&self, number: u64) -> &RequestSequence {
        let mut random = random_part(self.seed ^ DRAWS, number);
        let drawn = random.u64(..self.sum_of_weights());
        let place = self.scenarios.partition_point(|scenario| scenario.bound <= drawn);
        let sequences = &self.scenarios[place].sequences;
        &sequences[random.usize(..sequences.len())]
    }

    /// The mean number of requests of an iteration.
    pub fn requests_per_iteration(&self) -> f64 {
        let (mut requests, mut before) = (0, 0);
        for DrawnScenario { scenario, bound, .. } in &self.scenarios {
            requests += (bound - before) * scenario.labels.len() as u64;
            before = *bound;
        }
        float(requests) / float(self.sum_of_weights())
    }

    fn sum_of_weights(&self) -> u64 {
        self.scenarios.last().map_or(1, |last| last.bound)
    }

    /// The names of the scenarios that are sent.
    pub fn names(&self) -> Vec<&'static str> {
        self.scenarios.iter().map(|drawn| drawn.scenario.id).collect()
    }
}

/// The scenarios of that name among those of a specification, with their weights.
pub(crate) fn chosen(
    scenarios: &'static [Scenario],
    name: &str,
    weights: &Weights,
) -> Result<Vec<(&'static Scenario, u32)>, String> {
    let find = |name: &str| scenarios.iter().find(|scenario| scenario.id == name);
    let unknown = |name: &str| unknown(name, scenarios.iter().map(|scenario| scenario.id));
    if let Some(name) = weights.keys().find(|name| find(name).is_none()) {
        return Err(unknown(name));
    }
    if name != MIXED {
        let scenario = find(name).ok_or_else(|| unknown(name))?;
        return Ok(vec![(scenario, 1)]);
    }
    let weight = |scenario: &Scenario| {
        let named = weights.get(scenario.id).copied();
        // If the user names weights, scenarios without one are not sent.
        named.unwrap_or(if weights.is_empty() { scenario.weight } else { 0 })
    };
    let weighed = scenarios.iter().map(|scenario| (scenario, weight(scenario)));
    let chosen: Vec<_> = weighed.filter(|(_, weight)| *weight > 0).collect();
    if chosen.is_empty() { Err("every weight is 0: nothing would be sent".to_owned()) } else { Ok(chosen) }
}

/// Reads a weight that is written as `NAME=NUMBER`, for example `journey=3`.
pub fn parse_weight(text: &str) -> Result<(String, u32), String> {
    let parts = text.split_once('=');
    let (name, weight) =
        parts.ok_or_else(|| format!("`{text}`: write a weight as SCENARIO=NUMBER, for example journey=3"))?;
    let name = name.trim();
    if name == MIXED || !names().contains(&name) {
        return Err(unknown(name, names().into_iter().filter(|known| *known != MIXED)));
    }
    let weight = weight.trim().parse();
    Ok((name.to_owned(), weight.map_err(|_| format!("`{text}`: the weight is not a whole number from 0"))?))
}

#[cfg(test)]
mod tests {
    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_reference_server::Config;
    use paymaster_settings::embedded::profile_of;

    use super::*;

    /// The labels of the first `iterations` iterations of a mix, in order.
    fn labels(mix: &Mix, iterations: u64) -> Vec<&'static str> {
        let sequences = (0..iterations).flat_map(|number| mix.sequence(number));
        sequences.map(|template| template.label).collect()
    }

    fn mix(seed: u64) -> Mix {
        let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
        let mut generator = RequestGenerator::new(&*known, seed, 20);
        Mix::new(MIXED, &Weights::new(), &mut generator).unwrap()
    }

    /// Replicas that take turns get every `step`th request. With a rotation of the scenarios, some got the same ones again and again.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn every_nth_request_is_of_each_scenario_by_its_weight() {
        let mix = mix(1);
        assert!((mix.requests_per_iteration() - 15.0 / 12.0).abs() < 1e-9);
        let labels = labels(&mix, 40_000);
        for step in 1..=16 {
            for first in [0, step - 1] {
                let sample: Vec<_> = labels.iter().skip(first).step_by(step).collect();
                for (label, weight) in [("quote-erc20", 2.0), ("journey/sponsor", 3.0), ("errors", 1.0)] {
                    let share =
                        sample.iter().filter(|other| ***other == label).count() as f64 / sample.len() as f64;
                    // At least 3,000 requests: five standard deviations are 0.037 at most.
                    assert!((share - weight / 15.0).abs() < 0.037, "{step}: {label}: {share}");
                }
            }
        }
    }

    #[test]
    fn the_order_is_that_of_the_seed() {
        assert_eq!(labels(&mix(1), 200), labels(&mix(1), 200));
        assert_ne!(labels(&mix(1), 200), labels(&mix(2), 200));
        // Users of a worker take the same mix with other weights.
        let only = mix(1).reweighted(|name| u32::from(name == "errors") * u32::MAX).unwrap();
        assert!(labels(&only, 200).iter().all(|label| *label == "errors"));
    }

    #[test]
    fn weights_name_scenarios() {
        assert_eq!(parse_weight("journey=3"), Ok(("journey".to_owned(), 3)));
        for (text, word) in
            [("journey", "SCENARIO=NUMBER"), ("jurney=3", "no scenario"), ("journey=-1", "whole number")]
        {
            let refusal = parse_weight(text).unwrap_err();
            assert!(refusal.contains(word), "{refusal}");
        }
        let only =
            chosen(SPECIFICATION.load.scenarios, MIXED, &Weights::from([("errors".to_owned(), 2)])).unwrap();
        assert_eq!(only.len(), 1);
        assert!(
            chosen(SPECIFICATION.load.scenarios, MIXED, &Weights::from([("errors".to_owned(), 0)])).is_err()
        );
        assert!(chosen(SPECIFICATION.load.scenarios, "nothing", &Weights::new()).is_err());
    }
}
