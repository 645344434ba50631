//! What is sent: one file a kind of scenario, one line a scenario in [`SCENARIOS`].

mod errors;
mod journey;
mod mix;
mod single;

use paymaster_schemas::Pair;

use crate::corpus::{Draws, Entry};

pub use mix::{Mix, Weights, parse_weight};

/// Requests that are sent one after the other by the same user: a journey has several.
pub type Chain = Vec<Entry>;

/// A scenario.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub id: &'static str,
    /// What it sends, in a line.
    pub about: &'static str,
    /// How often it is part of `mixed`, where the user does not say.
    pub weight: u32,
    /// Its steps, as reports call them.
    pub labels: &'static [&'static str],
    /// Makes its requests; the error says what is missing in the profile.
    pub make: fn(&Scenario, &mut Draws<'_>) -> Result<Vec<Chain>, String>,
}

/// Every scenario, in the order of the help. `mixed` is all of them together.
pub static SCENARIOS: &[Scenario] = &[
    single::scenario(
        "quote-sponsored",
        "pm_getFeeQuoteOrData in sponsored mode",
        &["quote-sponsored"],
    ),
    single::scenario(
        "quote-erc20",
        "pm_getFeeQuoteOrData in token mode",
        &["quote-erc20"],
    ),
    single::scenario(
        "sponsor-sponsored",
        "pm_sponsorUserOperation in sponsored mode",
        &["sponsor-sponsored"],
    ),
    single::scenario(
        "sponsor-erc20",
        "pm_sponsorUserOperation in token mode",
        &["sponsor-erc20"],
    ),
    Scenario {
        id: "journey",
        about: "what a wallet does: quote in token mode, then sponsor in a token of that quote",
        weight: 3,
        labels: &["journey/quote", "journey/sponsor"],
        make: journey::make,
    },
    Scenario {
        id: "errors",
        about: "absent and unsupported tokens, malformed calls: what must be refused",
        weight: 1,
        labels: &["errors"],
        make: errors::make,
    },
];

/// The name of all scenarios together.
pub const MIXED: &str = "mixed";

/// The scenario of that name.
pub fn find(id: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.id == id)
}

/// Every name that can be asked for.
pub fn names() -> Vec<&'static str> {
    let own = SCENARIOS.iter().map(|scenario| scenario.id);
    own.chain([MIXED]).collect()
}

/// The pair whose name a single scenario bears.
fn pair(id: &str) -> Option<Pair> {
    Pair::ALL.into_iter().find(|pair| pair.name() == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paymaster_cli::embedded::profile_of;
    use paymaster_judge::target::context::Context;
    use paymaster_reference_server::Config;

    use super::*;

    #[test]
    fn names_and_labels_are_unique_and_labels_begin_with_their_scenario() {
        let names: BTreeSet<_> = names().into_iter().collect();
        assert_eq!(names.len(), SCENARIOS.len() + 1);
        let mut labels = BTreeSet::new();
        for scenario in SCENARIOS {
            for label in scenario.labels {
                assert!(labels.insert(*label), "{label}");
                assert_eq!(label.split('/').next(), Some(scenario.id));
            }
        }
    }

    #[test]
    fn every_scenario_makes_distinct_requests_by_its_seed() {
        let context = Context::new(profile_of(&Config::default()));
        for scenario in SCENARIOS {
            let made = |seed| {
                let mut draws = Draws::new(&context, seed, 20);
                (scenario.make)(scenario, &mut draws).unwrap()
            };
            let bodies = |chains: &[Chain]| -> Vec<_> {
                let entries = chains.iter().flatten();
                entries.map(|entry| entry.body(0, None)).collect()
            };
            let (first, again, other) = (made(1), made(1), made(2));
            assert!(first.len() >= 10, "{}: {}", scenario.id, first.len());
            assert_eq!(bodies(&first), bodies(&again), "{}", scenario.id);
            assert_ne!(bodies(&first), bodies(&other), "{}", scenario.id);
            for chain in &first {
                let labels: Vec<_> = chain.iter().map(|entry| entry.label).collect();
                assert_eq!(labels, scenario.labels);
            }
            let distinct: BTreeSet<_> = bodies(&first).into_iter().collect();
            assert_eq!(distinct.len(), bodies(&first).len(), "{}", scenario.id);
        }
    }

    #[test]
    fn what_the_profile_does_not_know_is_named() {
        let unknown = Context::default();
        let mut draws = Draws::new(&unknown, 1, 5);
        let journey = find("journey").unwrap();
        let refusal = (journey.make)(journey, &mut draws).unwrap_err();
        assert!(refusal.contains("tokens.supported"), "{refusal}");
    }
}
