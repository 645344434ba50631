//! The locustfile of the master.

use paymaster_engine::specification::Specification;

use crate::scenarios::{error::ScenarioError, mix::Weights};

/// The locustfile, without scenarios.
const TEMPLATE: &str = include_str!("locustfile.py");
const PLACE: &str = "SCENARIOS = {}";

/// The locustfile with a user class for each scenario of a specification. If weights are named, scenarios without one have no class.
pub fn render(specification: &Specification, weights: &Weights) -> Result<String, ScenarioError> {
    let scenarios = specification.load.scenarios;
    if let Some(unknown) = weights.keys().find(|name| scenarios.iter().all(|scenario| scenario.id != **name))
    {
        return Err(ScenarioError::unknown(unknown, scenarios.iter().map(|scenario| scenario.id)));
    }
    let weighted = scenarios.iter().map(|scenario| {
        let named = weights.get(scenario.id).copied();
        (scenario.id, named.unwrap_or(if weights.is_empty() { scenario.weight } else { 0 }))
    });
    let classes: Vec<String> = weighted
        .filter(|(_, weight)| *weight > 0)
        .map(|(name, weight)| format!("\"{name}\": {weight}"))
        .collect();
    if classes.is_empty() {
        return Err(ScenarioError::NoWeight);
    }
    Ok(TEMPLATE.replacen(PLACE, &format!("SCENARIOS = {{{}}}", classes.join(", ")), 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_fee_quote::SPECIFICATION;

    #[test]
    fn every_scenario_is_a_class() {
        let file = render(&SPECIFICATION, &Weights::new()).unwrap();
        for scenario in SPECIFICATION.load.scenarios {
            assert!(file.contains(&format!("\"{}\": {}", scenario.id, scenario.weight)), "{file}");
        }
        assert!(!file.contains(PLACE));
        let file = render(&SPECIFICATION, &Weights::from([("journey".to_owned(), 5)])).unwrap();
        assert!(file.contains("SCENARIOS = {\"journey\": 5}\n"), "{file}");
        assert!(render(&SPECIFICATION, &Weights::from([("nothing".to_owned(), 5)])).is_err());
        assert!(render(&SPECIFICATION, &Weights::from([("journey".to_owned(), 0)])).is_err());
    }
}
