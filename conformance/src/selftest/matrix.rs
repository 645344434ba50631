//! The kill matrix: all trials together.

use std::collections::BTreeSet;

use paymaster_schemas::Basis;

use super::trial::{Deviation, Trial};
use crate::rules::{Rule, rules};

/// All trials of a selftest.
#[derive(Debug, Default)]
pub struct Matrix {
    /// In the order of the tables, seed by seed.
    pub trials: Vec<Trial>,
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
}
