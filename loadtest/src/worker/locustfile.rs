//! The locustfile of the master.

use paymaster_engine::specification::Specification;

use crate::scenarios::{MIXED, Weights, chosen};

/// The locustfile, without scenarios.
const TEMPLATE: &str = include_str!("locustfile.py");
const PLACE: &str = "SCENARIOS = {}";

/// The locustfile with a user class for each scenario of a specification. If weights are named, scenarios without one have no class.
pub fn render(specification: &Specification, weights: &Weights) -> Result<String, String> {
    let chosen = chosen(specification.load.scenarios, MIXED, weights)?;
    let classes: Vec<String> =
        chosen.iter().map(|(scenario, weight)| format!("\"{}\": {weight}", scenario.id)).collect();
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
