//! Observers record what the specification leaves open, for the dialect and behaviour fingerprint. They break no rule.

use std::collections::BTreeMap;

use crate::{knowledge::Knowledge, rules::View};

/// Observes one point that the specification leaves open.
pub struct Observer {
    /// The clause, of basis *ambiguous* or *not shown*.
    pub clause: &'static str,
    /// Adds the observed values of a group. They are counted over the run.
    pub watch: fn(&[View<'_>], &dyn Knowledge, &mut Vec<String>),
}

/// For each observed clause, every value that occurred and how often.
pub type Observations = BTreeMap<&'static str, BTreeMap<String, u64>>;

/// Adds what the observers of the specification see in the views of one group.
pub fn observe(views: &[View<'_>], knowledge: &dyn Knowledge, seen: &mut Observations) {
    let mut values = Vec::new();
    for observer in knowledge.specification().observers {
        (observer.watch)(views, knowledge, &mut values);
        if values.is_empty() {
            continue;
        }
        let counts = seen.entry(observer.clause).or_default();
        for value in values.drain(..) {
            *counts.entry(value).or_default() += 1;
        }
    }
}
