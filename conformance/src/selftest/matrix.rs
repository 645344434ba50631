//! The kill matrix: the results of all trials.

use paymaster_engine::{rules::Rule, specification::Specification};
use paymaster_settings::SPECIFICATIONS;
use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::Basis;

use crate::selftest::trial::{Deviation, Trial};

/// All trials of a selftest.
#[derive(Debug, Default)]
pub struct Matrix {
    /// The trials, seed by seed, in the order of the tables of faults and variants.
    pub trials: Vec<Trial>,
}

/// A row of the matrix: a fault or variant, and the rules that its trials broke.
#[derive(Debug)]
pub struct Row {
    /// The fault or variant.
    pub deviation: Deviation,
    /// How many trials it had.
    pub trials: usize,
    /// For a fault, the rules that caught it; for a variant, the rules that it broke wrongly; each with the number of trials.
    pub rules: BTreeMap<&'static str, usize>,
}

impl Matrix {
    /// The trials with a wrong verdict, and what is wrong with each.
    pub fn problems(&self) -> Vec<(&Trial, String)> {
        self.trials.iter().filter_map(|trial| Some((trial, trial.problem()?))).collect()
    }

    /// The rules that no fault of their clause broke, by specification, so that no trial shows that they work. The rules about a chain are
    /// left out: no trial uses a chain, and the test with a chain (`interop/chain`) covers them.
    pub fn unproven(&self) -> Vec<(&'static Specification, &'static Rule)> {
        let proven: BTreeSet<(&str, &str)> = self
            .trials
            .iter()
            .flat_map(|trial| trial.caught_by().map(|rule| (trial.deviation.specification().name, rule.id)))
            .collect();
        let all = SPECIFICATIONS.iter().flat_map(|own| own.rules().map(|rule| (*own, rule)));
        all.filter(|(own, rule)| rule.basis() != Basis::OnChain && !proven.contains(&(own.name, rule.id)))
            .collect()
    }

    /// The number of trials with faults, and the number with variants.
    pub fn counts(&self) -> (usize, usize) {
        let faults = self.trials.iter().filter(|trial| trial.deviation.fault().is_some()).count();
        (faults, self.trials.len() - faults)
    }

    /// A row for each fault and variant, in the order of their first trials.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::<Row>::new();
        let mut places = BTreeMap::new();
        for trial in &self.trials {
            let place = *places
                .entry((trial.deviation.specification().name, trial.deviation.name()))
                .or_insert_with(|| {
                    rows.push(Row { deviation: trial.deviation, trials: 0, rules: BTreeMap::new() });
                    rows.len() - 1
                });
            let row = &mut rows[place];
            row.trials += 1;
            let rules: Vec<&Rule> = match trial.deviation {
                Deviation::Fault(..) => trial.caught_by().collect(),
                Deviation::Variant(..) => trial.wrongly_broken().collect(),
            };
            for rule in rules {
                *row.rules.entry(rule.id).or_default() += 1;
            }
        }
        rows
    }
}
