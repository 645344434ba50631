//! The kill matrix in small: one fault of every clause must be caught by a rule of that clause and by no unrelated one, and no
//! lawful variant may break a stated rule. `paymaster-conformance selftest` runs every fault at full length.

use std::collections::BTreeSet;

use paymaster_client::stop::Stop;
use paymaster_conformance::selftest::{self, Deviation, every_deviation};

/// Fewer than a default run sends, so that the tests stay short; faults that show now and then are left to the selftest.
const CASES: u32 = 40;
const SEED: u64 = 7;

fn holds(deviations: &[Deviation]) {
    let matrix =
        selftest::run(deviations, &[SEED], CASES, &Stop::default(), &|_| {}).expect("the servers start");
    let problems: Vec<String> = matrix
        .problems()
        .into_iter()
        .map(|(trial, problem)| format!("{} {problem}", trial.deviation.name()))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(matrix.trials.len(), deviations.len());
}

#[test]
fn a_fault_of_every_clause_is_caught_by_its_rule_and_by_no_unrelated_one() {
    let mut seen = BTreeSet::new();
    let first_of_each: Vec<Deviation> = every_deviation()
        .into_iter()
        .filter(|deviation| match deviation {
            Deviation::Fault(fault) => !fault.about.contains("1 of") && seen.insert(fault.clause),
            Deviation::Variant(_) => false,
        })
        .collect();
    assert!(
        first_of_each.len() > 70,
        "only {} clauses have a fault",
        first_of_each.len()
    );
    holds(&first_of_each);
}

#[test]
fn no_lawful_variant_breaks_a_stated_rule() {
    let variants: Vec<Deviation> = every_deviation()
        .into_iter()
        .filter(|deviation| matches!(deviation, Deviation::Variant(_)))
        .collect();
    assert!(variants.len() >= 40);
    holds(&variants);
}
