//! What a run is made of: rules, cases, observers.

use std::sync::Arc;

use crate::run::on_chain::Chain;
use crate::run::{Shelf, shrink::Simpler};
use paymaster_judge::{
    cases::{case::Relation, discovery::DISCOVERY, generate, plan::Plan, relations::RELATIONS},
    rules::{self, Rule, View, observers::OBSERVERS},
    session::recorded::RECORDED,
    target::context::Context,
    verdict::{known::Known, summary::Observations},
};

/// What a run is made of; a test brings its own.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The rules that judge. Without any, requests are sent and nothing is read of the answers: for measuring.
    pub rules: Vec<&'static Rule>,
    /// The relations that groups are built by.
    pub relations: Vec<&'static Relation>,
    /// Makes every group of the run from context, seed and number of cases.
    pub plan: fn(&Context, u64, u32) -> Plan<'_>,
    /// Where plans that were made before are kept; none for a suite that runs once.
    pub shelf: Option<Arc<Shelf>>,
    /// Makes simpler bases from a base.
    pub simpler: Simpler,
    /// Watches what is not judged.
    pub observe: fn(&[View<'_>], &Context, &mut Observations),
    /// The chain on which returned operations are simulated, where there is one.
    pub chain: Option<Chain>,
    /// Failures that are known, explained and dated.
    pub known: Arc<Known>,
}

impl Suite {
    /// Every rule, every relation and every observer.
    pub fn standard() -> Self {
        Self {
            rules: rules::rules().collect(),
            relations: RELATIONS.iter().copied().chain([&DISCOVERY, &RECORDED]).collect(),
            plan: |context, seed, cases| Plan::new(context, seed, cases),
            shelf: None,
            simpler: generate::shrink::simpler,
            observe: observe_all,
            chain: None,
            known: Arc::default(),
        }
    }
}

fn observe_all(views: &[View<'_>], context: &Context, seen: &mut Observations) {
    let mut values = Vec::new();
    for observer in OBSERVERS {
        (observer.watch)(views, context, &mut values);
        if values.is_empty() {
            continue;
        }
        let counts = seen.entry(observer.clause).or_default();
        for value in values.drain(..) {
            *counts.entry(value).or_default() += 1;
        }
    }
}
