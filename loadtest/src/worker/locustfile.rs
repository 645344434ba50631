//! The locustfile of the master.

use crate::scenarios::{error::ScenarioError, is_known, mix::Weights, scenarios, unknown_name};

/// The locustfile, without scenarios.
const TEMPLATE: &str = include_str!("locustfile.py");
const PLACE: &str = "SCENARIOS = {}";

/// The locustfile with a user class for each scenario. If weights are named, scenarios without one have no class.
pub fn render(weights: &Weights) -> Result<String, ScenarioError> {
    if let Some(unknown) = weights.keys().find(|name| !is_known(name)) {
        return Err(unknown_name(unknown));
    }
    let weighted = scenarios().map(|scenario| {
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

    #[test]
    fn every_scenario_is_a_class() {
        let file = render(&Weights::new()).unwrap();
        for scenario in scenarios() {
            assert!(file.contains(&format!("\"{}\": {}", scenario.id, scenario.weight)), "{file}");
        }
        assert!(!file.contains(PLACE));
        let file = render(&Weights::from([("journey".to_owned(), 5)])).unwrap();
        assert!(file.contains("SCENARIOS = {\"journey\": 5}\n"), "{file}");
        assert!(render(&Weights::from([("nothing".to_owned(), 5)])).is_err());
        assert!(render(&Weights::from([("journey".to_owned(), 0)])).is_err());
    }
}
