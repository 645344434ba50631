//! Which scenario comes next: by weights, exactly, and spread evenly.

use std::collections::BTreeMap;

use super::{Chain, MIXED, SCENARIOS, Scenario, find, names};
use crate::corpus::Draws;

/// Weights by scenario.
pub type Weights = BTreeMap<String, u32>;

/// Most slots of a turn: weights are brought down to it.
const MOST_SLOTS: u32 = 10_000;

/// The chains of the chosen scenarios.
#[derive(Debug)]
pub struct Mix {
    scenarios: Vec<(&'static Scenario, Vec<Chain>)>,
    /// Which scenario takes which turn, and how many turns of the same scenario come before it.
    turns: Vec<(usize, usize)>,
    /// How many turns each scenario has.
    shares: Vec<usize>,
}

impl Mix {
    /// Makes the requests of a scenario, or of all in `mixed`. In `mixed`, a scenario that the user gave no weight and whose
    /// requests cannot be made is left out; the second value says which, and why.
    pub fn new(name: &str, weights: &Weights, draws: &mut Draws<'_>) -> Result<(Self, Vec<String>), String> {
        let chosen = chosen(name, weights)?;
        let (mut scenarios, mut shares, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (scenario, weight) in chosen {
            match (scenario.make)(scenario, draws) {
                Ok(chains) => {
                    scenarios.push((scenario, chains));
                    shares.push(weight);
                }
                Err(cause) if name == MIXED && !weights.contains_key(scenario.id) => left_out.push(cause),
                Err(cause) => return Err(cause),
            }
        }
        if scenarios.is_empty() {
            return Err(left_out.join("; "));
        }
        let mut taken = vec![0; scenarios.len()];
        let turns = turns(&shares)
            .into_iter()
            .map(|scenario| {
                taken[scenario] += 1;
                (scenario, taken[scenario] - 1)
            })
            .collect();
        let mix = Self {
            scenarios,
            turns,
            shares: taken,
        };
        Ok((mix, left_out))
    }

    /// The chain of turn number `number`.
    pub fn chain(&self, number: u64) -> &Chain {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let (scenario, before) = self.turns[number % self.turns.len()];
        let (_, chains) = &self.scenarios[scenario];
        let round = number / self.turns.len();
        let index = (round * self.shares[scenario] + before) % chains.len();
        &chains[index]
    }

    /// How many requests a turn has, on average.
    pub fn requests_a_turn(&self) -> f64 {
        let steps = |scenario: usize| self.scenarios[scenario].0.labels.len();
        let sum: usize = self.turns.iter().map(|(scenario, _)| steps(*scenario)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few thousand turns")]
        let average = sum as f64 / self.turns.len().max(1) as f64;
        average
    }

    /// The names of the scenarios in it.
    pub fn names(&self) -> Vec<&'static str> {
        self.scenarios.iter().map(|(scenario, _)| scenario.id).collect()
    }
}

fn chosen(name: &str, weights: &Weights) -> Result<Vec<(&'static Scenario, u32)>, String> {
    if let Some(unknown) = weights.keys().find(|name| find(name).is_none()) {
        return Err(unknown_name(unknown));
    }
    if name != MIXED {
        let scenario = find(name).ok_or_else(|| unknown_name(name))?;
        return Ok(vec![(scenario, 1)]);
    }
    let weight = |scenario: &Scenario| {
        let own = weights.get(scenario.id).copied();
        // Whoever names weights means those scenarios and no others.
        own.unwrap_or(if weights.is_empty() { scenario.weight } else { 0 })
    };
    let chosen: Vec<_> = SCENARIOS
        .iter()
        .map(|scenario| (scenario, weight(scenario)))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    if chosen.is_empty() {
        return Err("every weight is 0: nothing would be sent".to_owned());
    }
    Ok(chosen)
}

fn unknown_name(name: &str) -> String {
    format!("there is no scenario `{name}`: {}", names().join(", "))
}

/// A turn for each share, spread evenly: the one that is furthest behind its share comes next.
fn turns(shares: &[u32]) -> Vec<usize> {
    let divisor = shares
        .iter()
        .fold(0, |divisor, share| common_factor(divisor, *share))
        .max(1);
    let sum: u64 = shares.iter().map(|share| u64::from(share / divisor)).sum();
    let scale = sum.div_ceil(u64::from(MOST_SLOTS)).max(1);
    let shares: Vec<i64> = shares
        .iter()
        .map(|share| {
            i64::from(share / divisor)
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

const fn common_factor(mut left: u32, mut right: u32) -> u32 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Reads `NAME=WEIGHT`.
pub fn parse_weight(text: &str) -> Result<(String, u32), String> {
    let (name, weight) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}`: a weight is written SCENARIO=NUMBER, as journey=3"))?;
    let name = name.trim();
    if find(name).is_none() {
        return Err(unknown_name(name));
    }
    let weight = weight
        .trim()
        .parse()
        .map_err(|_| format!("`{text}`: the weight is no whole number from 0 on"))?;
    Ok((name.to_owned(), weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_and_spread() {
        assert_eq!(turns(&[1]), [0]);
        assert_eq!(turns(&[2, 2]), [0, 1]);
        assert_eq!(turns(&[3, 1]), [0, 0, 1, 0]);
        let many = turns(&[7, 2, 1]);
        for (place, share) in [7, 2, 1].into_iter().enumerate() {
            assert_eq!(many.iter().filter(|turn| **turn == place).count(), share);
        }
        assert!(turns(&[4_000_000_000, 1]).len() <= 2 * MOST_SLOTS as usize);
    }

    #[test]
    fn weights_name_scenarios() {
        assert_eq!(parse_weight("journey=3"), Ok(("journey".to_owned(), 3)));
        for (text, word) in [
            ("journey", "SCENARIO=NUMBER"),
            ("jurney=3", "no scenario"),
            ("journey=-1", "whole number"),
        ] {
            let refusal = parse_weight(text).unwrap_err();
            assert!(refusal.contains(word), "{refusal}");
        }
        let only = chosen(MIXED, &Weights::from([("errors".to_owned(), 2)])).unwrap();
        assert_eq!(only.len(), 1);
        assert!(chosen(MIXED, &Weights::from([("errors".to_owned(), 0)])).is_err());
        assert!(chosen("nothing", &Weights::new()).is_err());
    }
}
