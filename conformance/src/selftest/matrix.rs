//! The kill matrix: all trials together.

use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::Basis;

use crate::selftest::trial::{Deviation, Trial};
use paymaster_judge::rules::{Rule, rules};

/// All trials of a selftest.
#[derive(Debug, Default)]
pub struct Matrix {
    /// In the order of the tables, seed by seed.
    pub trials: Vec<Trial>,
}

/// One line of the matrix: a fault or variant, and what its trials with every seed broke.
#[derive(Debug)]
pub struct Row {
    /// The fault or variant.
    pub deviation: Deviation,
    /// How many trials it had.
    pub trials: usize,
    /// Rules that caught the fault, or of a variant, rules that should have held; and in how many trials.
    pub rules: BTreeMap<&'static str, usize>,
}

impl Matrix {
    /// The trials whose verdict is not as it must be, with what is wrong.
    pub fn complaints(&self) -> Vec<(&Trial, String)> {
        self.trials
            .iter()
            .filter_map(|trial| Some((trial, trial.complaint()?)))
            .collect()
    }

    /// The rules that no fault of their clause broke: nothing shows that they bite. The one about a chain is left out: no chain
    /// is asked here, and the test with a chain (`interop/chain`) shows that it bites.
    pub fn unproven(&self) -> Vec<&'static Rule> {
        let proven: BTreeSet<&str> = self
            .trials
            .iter()
            .flat_map(Trial::caught_by)
            .map(|rule| rule.id)
            .collect();
        rules()
            .filter(|rule| rule.basis() != Basis::OnChain && !proven.contains(rule.id))
            .collect()
    }

    /// How many trials there were of faults and of variants.
    pub fn counts(&self) -> (usize, usize) {
        let faults = self
            .trials
            .iter()
            .filter(|trial| matches!(trial.deviation, Deviation::Fault(_)))
            .count();
        (faults, self.trials.len() - faults)
    }

    /// A line for each fault and variant, in the order of their first trials.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::<Row>::new();
        let mut places = BTreeMap::new();
        for trial in &self.trials {
            let place = *places.entry(trial.deviation.name()).or_insert_with(|| {
                rows.push(Row {
                    deviation: trial.deviation,
                    trials: 0,
                    rules: BTreeMap::new(),
                });
                rows.len() - 1
            });
            let row = &mut rows[place];
            row.trials += 1;
            let telling: Vec<&Rule> = match trial.deviation {
                Deviation::Fault(_) => trial.caught_by().collect(),
                Deviation::Variant(_) => trial.strays().collect(),
            };
            for rule in telling {
                *row.rules.entry(rule.id).or_default() += 1;
            }
        }
        rows
    }
}
