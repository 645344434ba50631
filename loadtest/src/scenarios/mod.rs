//! What a load test sends. Each kind of scenario has a file; each scenario has an entry in [`SCENARIOS`].

pub(crate) mod answer_cache;
pub mod error;
mod errors;
pub mod generator;
mod journey;
pub mod mix;
pub mod scenario;
mod single;
pub mod template;

use paymaster_schemas::kinds;

use self::{error::ScenarioError, scenario::Scenario};

/// Every scenario, in the order of the help. `mixed` stands for all of them.
pub static SCENARIOS: &[Scenario] = &[
    Scenario {
        id: "quote-sponsored",
        about: "pm_getFeeQuoteOrData in sponsored mode",
        weight: single::WEIGHT,
        labels: &["quote-sponsored"],
        make: |scenario, generator| single::make(scenario, generator, kinds::QUOTE_SPONSORED),
    },
    Scenario {
        id: "quote-erc20",
        about: "pm_getFeeQuoteOrData in token mode",
        weight: single::WEIGHT,
        labels: &["quote-erc20"],
        make: |scenario, generator| single::make(scenario, generator, kinds::QUOTE_ERC20),
    },
    Scenario {
        id: "sponsor-sponsored",
        about: "pm_sponsorUserOperation in sponsored mode",
        weight: single::WEIGHT,
        labels: &["sponsor-sponsored"],
        make: |scenario, generator| single::make(scenario, generator, kinds::SPONSOR_SPONSORED),
    },
    Scenario {
        id: "sponsor-erc20",
        about: "pm_sponsorUserOperation in token mode",
        weight: single::WEIGHT,
        labels: &["sponsor-erc20"],
        make: |scenario, generator| single::make(scenario, generator, kinds::SPONSOR_ERC20),
    },
    Scenario {
        id: "journey",
        about: "what a wallet does: quote in token mode, then sponsor in a token of that quote",
        weight: 3,
        labels: &["journey/quote", "journey/sponsor"],
        make: journey::make,
    },
    Scenario {
        id: "errors",
        about: "requests that must be refused: absent and unsupported tokens, malformed calls",
        weight: 1,
        labels: &["errors"],
        make: errors::make,
    },
];

/// The name that stands for all scenarios, by their weights.
pub const MIXED: &str = "mixed";

/// The scenario of that name.
pub fn find(id: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.id == id)
}

/// The error for a name that is not that of a scenario.
pub(crate) fn unknown_name(name: &str) -> ScenarioError {
    ScenarioError::Unknown { name: name.to_owned(), known: names().join(", ") }
}

/// Every name that a user may give: those of [`SCENARIOS`] and [`MIXED`].
pub fn names() -> Vec<&'static str> {
    let scenarios = SCENARIOS.iter().map(|scenario| scenario.id);
    scenarios.chain([MIXED]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paymaster_fee_quote::target::context::Context;
    use paymaster_reference_server::Config;
    use paymaster_settings::{embedded::profile_of, specifications::DEFAULT_SPECIFICATION};

    use super::{generator::RequestGenerator, scenario::RequestSequence, *};

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
        let context = Context::of(&*profile_of(DEFAULT_SPECIFICATION, &Config::default(), &[])).clone();
        for scenario in SCENARIOS {
            let made = |seed| {
                let mut generator = RequestGenerator::new(&context, seed, 20);
                (scenario.make)(scenario, &mut generator).unwrap()
            };
            let bodies = |sequences: &[RequestSequence]| -> Vec<_> {
                let templates = sequences.iter().flatten();
                templates.map(|template| template.body(0, None)).collect()
            };
            let (first, again, other) = (made(1), made(1), made(2));
            assert!(first.len() >= 10, "{}: {}", scenario.id, first.len());
            assert_eq!(bodies(&first), bodies(&again), "{}", scenario.id);
            assert_ne!(bodies(&first), bodies(&other), "{}", scenario.id);
            for sequence in &first {
                let labels: Vec<_> = sequence.iter().map(|template| template.label).collect();
                assert_eq!(labels, scenario.labels);
            }
            let distinct: BTreeSet<_> = bodies(&first).into_iter().collect();
            assert_eq!(distinct.len(), bodies(&first).len(), "{}", scenario.id);
        }
    }

    #[test]
    fn a_profile_without_tokens_is_an_error_that_names_what_to_add() {
        let unknown = Context::default();
        let mut generator = RequestGenerator::new(&unknown, 1, 5);
        let journey = find("journey").unwrap();
        let refusal = (journey.make)(journey, &mut generator).unwrap_err().to_string();
        assert!(refusal.contains("tokens.supported"), "{refusal}");
    }
}
