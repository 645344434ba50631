//! What a load test sends. The scenarios are those of the specifications.

mod generator;
mod mix;
mod template;

pub use {generator::*, mix::*, template::*};

use std::collections::BTreeSet;

use paymaster_engine::load::Scenario;
use paymaster_settings::SPECIFICATIONS;

/// Every scenario of every specification, in the order of the help. Scenarios of two specifications can have the same name.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    SPECIFICATIONS.iter().flat_map(|specification| specification.load.scenarios)
}

/// The name that stands for all scenarios, by their weights.
pub const MIXED: &str = "mixed";

/// Every name that a user may give: those of [`scenarios`] and [`MIXED`].
pub fn names() -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    let names = scenarios().map(|scenario| scenario.id).chain([MIXED]);
    names.filter(|name| seen.insert(*name)).collect()
}

/// The error for a name that is none of the known ones.
pub(crate) fn unknown(name: &str, known: impl IntoIterator<Item = &'static str>) -> String {
    let known: Vec<_> = known.into_iter().chain([MIXED]).collect();
    format!("there is no scenario `{name}`: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use paymaster_engine::{knowledge::Knowledge, specification::Specification};
    use paymaster_reference_server::Config;
    use paymaster_settings::embedded::profile_of;
    use serde_json::Value;

    use super::*;

    #[test]
    fn names_and_labels_of_a_specification_are_unique_and_labels_begin_with_their_scenario() {
        for specification in SPECIFICATIONS {
            let (mut names, mut labels) = (BTreeSet::from([MIXED]), BTreeSet::new());
            for scenario in specification.load.scenarios {
                assert!(names.insert(scenario.id), "{}", scenario.id);
                for label in scenario.labels {
                    assert!(labels.insert(*label), "{label}");
                    assert_eq!(label.split('/').next(), Some(scenario.id));
                }
            }
        }
    }

    fn embedded(specification: &'static Specification) -> Arc<dyn Knowledge> {
        profile_of(specification, &Config::default(), &[])
    }

    #[test]
    fn every_scenario_makes_distinct_requests_by_its_seed() {
        for specification in SPECIFICATIONS {
            let known = embedded(specification);
            for scenario in specification.load.scenarios {
                let made = |seed| RequestGenerator::new(&*known, seed, 20).sequences(scenario).unwrap();
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
    }

    #[test]
    fn the_versions_of_entry_point_that_the_target_serves_take_turns() {
        let specification = SPECIFICATIONS.iter().find(|known| known.name == "erc-7677").unwrap();
        for versions in [&["0.6"][..], &["0.8", "0.9"], &["0.6", "0.7", "0.8", "0.9"]] {
            let profile = format!("service.entry-points = {versions:?}\noperations.accepts = \"any\"\n");
            let known = (specification.read_profile)(&profile).unwrap();
            let mut generator = RequestGenerator::new(&*known, 1, 8);
            for scenario in generator.scenarios().iter().filter(|scenario| scenario.id != "errors") {
                let sequences = generator.sequences(scenario).unwrap();
                assert_eq!(sequences.len(), 8);
                let mut seen = BTreeSet::new();
                for sequence in &sequences {
                    let body = |template: &RequestTemplate| -> Value {
                        serde_json::from_slice(&template.body(0, None)).unwrap()
                    };
                    let entry_points: BTreeSet<String> =
                        sequence.iter().map(|template| body(template)["params"][1].to_string()).collect();
                    assert_eq!(entry_points.len(), 1, "a journey stays at one: {entry_points:?}");
                    seen.extend(entry_points);
                }
                assert_eq!(seen.len(), versions.len(), "{}: {seen:?}", scenario.id);
            }
        }
    }

    #[test]
    fn a_profile_without_tokens_is_an_error_that_names_what_to_add() {
        let unknown = paymaster_fee_quote::SPECIFICATION.unknown();
        let mut generator = RequestGenerator::new(&*unknown, 1, 5);
        let journey = generator.scenarios().iter().find(|scenario| scenario.id == "journey").unwrap();
        let refusal = generator.sequences(journey).unwrap_err();
        assert!(refusal.contains("tokens.supported"), "{refusal}");
    }
}
